// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "bindings.hpp"

namespace raydex::python {

namespace {

// The value at the name's place among the names of an enumeration.
template <class Enum, std::size_t N>
Enum named(const char* argument, const std::string& name, const std::array<const char*, N>& names) {
  std::string legal;
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
    legal += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw invalid_argument(std::string(argument) + ": '" + name + "' is none of " + legal);
}

// What was found of a batch. It keeps no lock of what it was made from, which Python keeps as it
// is.
using found = std::unique_ptr<joined_handle>;

// Calls `ask` with the build side beside other threads that do.
template <class Side, class Ask>
found match(const handle<Side>& self, const Ask& ask) {
  return self.shared([&](const Side& one) {
    return std::make_unique<joined_handle>(ask(one), "join", one.info().where);
  });
}

void build_keys(join_handle* self, const std::string& backend_name, const session& from,
                address stream, const key_parts& keys, const std::string& structure,
                const option_map& options, bool missing_equal, std::optional<std::uint32_t> seed) {
  const backend chosen = parse_backend(backend_name);
  new (self) join_handle(build_join(chosen, context_of(from, stream), keys,
                                    {.structure = structure,
                                     .options = options,
                                     .missing_equal = missing_equal,
                                     .seed = seed}),
                         "join", chosen);
}

found match_once(const std::string& backend_name, const session& from, address stream,
                 const key_parts& build, const std::string& structure, const option_map& options,
                 bool missing_equal, std::optional<std::uint32_t> seed, const key_parts& probe,
                 const std::string& how, bool any_order) {
  const backend chosen = parse_backend(backend_name);
  return std::make_unique<joined_handle>(
      match_tables(chosen, context_of(from, stream), build, probe, kind_of(how),
                   {structure, options, missing_equal, seed,
                    any_order ? join_order::any : join_order::probe_rows}),
      "join", chosen);
}

std::unique_ptr<join_handle> over_index(const session& from, address stream,
                                        const index_handle& over) {
  return over.shared([&](const index& one) {
    return std::make_unique<join_handle>(build_join(context_of(from, stream), one), "join",
                                         one.info().where);
  });
}

found match_keys(const join_handle& self, const session& from, address stream,
                 const key_parts& probe, const std::string& how) {
  return match(self, [&](const join& one) {
    return one.match(context_of(from, stream), probe, kind_of(how));
  });
}

found match_ranges(const join_handle& self, const session& from, address stream,
                   const column& lower, const column& upper, const std::string& how) {
  return match(self, [&](const join& one) {
    return one.match(context_of(from, stream), ranges(lower, upper), kind_of(how));
  });
}

// A whole number, or a floating one.
using any_distance = std::variant<std::uint64_t, double>;

key_distance distance_of(const any_distance& distance) {
  return std::visit([](auto number) { return key_distance(number); }, distance);
}

found match_band(const join_handle& self, const session& from, address stream, const column& probe,
                 const any_distance& distance, const std::string& how) {
  return match(self, [&](const join& one) {
    return one.match_band(context_of(from, stream), probe, distance_of(distance), kind_of(how));
  });
}

comparison comparison_of(const std::string& name) {
  return named<comparison>("comparison", name,
                           std::array{"less", "less_equal", "greater", "greater_equal"});
}

found match_compared(const join_handle& self, const session& from, address stream,
                     const column& probe, const std::string& comparison_name,
                     const std::string& how) {
  const comparison compared = comparison_of(comparison_name);
  return match(self, [&](const join& one) {
    return one.match_compared(context_of(from, stream), probe, compared, kind_of(how));
  });
}

using range_handle = handle<range_join>;

void build_ranges(range_handle* self, const std::string& backend_name, const session& from,
                  address stream, const column& values, const key_parts& by) {
  const backend chosen = parse_backend(backend_name);
  new (self)
      range_handle(build_range_join(chosen, context_of(from, stream), values, by), "join", chosen);
}

found match_ranges_by(const range_handle& self, const session& from, address stream,
                      const column& lower, const column& upper, const key_parts& by,
                      const std::string& how) {
  return match(self, [&](const range_join& one) {
    return one.match(context_of(from, stream), ranges(lower, upper), by, kind_of(how));
  });
}

found match_band_by(const range_handle& self, const session& from, address stream,
                    const column& probe, const any_distance& distance, const key_parts& by,
                    const std::string& how) {
  return match(self, [&](const range_join& one) {
    return one.match_band(context_of(from, stream), probe, distance_of(distance), by, kind_of(how));
  });
}

found match_compared_by(const range_handle& self, const session& from, address stream,
                        const column& probe, const std::string& comparison_name,
                        const key_parts& by, const std::string& how) {
  const comparison compared = comparison_of(comparison_name);
  return match(self, [&](const range_join& one) {
    return one.match_compared(context_of(from, stream), probe, compared, by, kind_of(how));
  });
}

using interval_handle = handle<interval_join>;

void build_intervals(interval_handle* self, const std::string& backend_name, const session& from,
                     address stream, const column& lower, const column& upper, const key_parts& by,
                     const std::string& closed) {
  const backend chosen = parse_backend(backend_name);
  const auto ends =
      named<closed_ends>("closed", closed, std::array{"both", "left", "right", "neither"});
  new (self)
      interval_handle(build_interval_join(chosen, context_of(from, stream), lower, upper, by, ends),
                      "join", chosen);
}

matches_taken taken(bool first) {
  return first ? matches_taken::first : matches_taken::all;
}

found match_points(const interval_handle& self, const session& from, address stream,
                   const column& points, const key_parts& by, const std::string& how, bool first) {
  return match(self, [&](const interval_join& one) {
    return one.match(context_of(from, stream), points, by, kind_of(how), taken(first));
  });
}

found match_intervals(const interval_handle& self, const session& from, address stream,
                      const column& lower, const column& upper, const key_parts& by,
                      const std::string& relation, const std::string& how, bool first) {
  const auto lie =
      named<interval_relation>("relation", relation, std::array{"overlaps", "within", "encloses"});
  return match(self, [&](const interval_join& one) {
    return one.match(context_of(from, stream), lower, upper, by, lie, kind_of(how), taken(first));
  });
}

using inequality_handle = handle<inequality_join>;

void build_inequalities(inequality_handle* self, const std::string& backend_name,
                        const session& from, address stream, const column& first,
                        const std::string& first_compared, const column& second,
                        const std::string& second_compared, const key_parts& by) {
  const backend chosen = parse_backend(backend_name);
  new (self) inequality_handle(build_inequality_join(chosen, context_of(from, stream),
                                                     {first, comparison_of(first_compared)},
                                                     {second, comparison_of(second_compared)}, by),
                               "join", chosen);
}

found match_inequalities(const inequality_handle& self, const session& from, address stream,
                         const column& first, const column& second, const key_parts& by,
                         const std::string& how) {
  return match(self, [&](const inequality_join& one) {
    return one.match(context_of(from, stream), first, second, by, kind_of(how));
  });
}

void write_rows(const joined_handle& self, const session& from, address stream, std::uint64_t first,
                unsigned bits, address probe_rows, address build_rows, std::uint64_t size) {
  const row_id_type type = row_ids_at(probe_rows, size, bits).type;
  self.shared([&](const joined& one) {
    one.rows(context_of(from, stream), first,
             gather_maps(type, pointer<void>(probe_rows), pointer<void>(build_rows), size));
  });
}

void write_counts(const joined_handle& self, const session& from, address stream, address out,
                  std::uint64_t size) {
  self.shared([&](const joined& one) {
    one.counts(context_of(from, stream), span_at<std::uint64_t>(out, size));
  });
}

// With the columns that it reads, if it was loaded.
using asof_handle = handle<loaded_asof_join>;

void build_asof(asof_handle* self, const std::string& backend_name, const session& from,
                address stream, const column& times, const key_parts& by, bool missing_equal) {
  const backend chosen = parse_backend(backend_name);
  auto made = std::make_unique<loaded_asof_join>();
  made->held = build_asof_join(chosen, context_of(from, stream), times, by, missing_equal);
  new (self) asof_handle(std::move(made), "join", chosen);
}

asof_options asof_of(const std::string& direction, bool strict,
                     const std::optional<any_distance>& tolerance,
                     const std::optional<double>& relative_tolerance,
                     const std::optional<column>& tolerances, std::uint64_t neighbours) {
  asof_options how{.direction = named<asof_direction>("direction", direction,
                                                      std::array{"backward", "forward", "nearest"}),
                   .which = strict ? closeness::strict : closeness::or_equal,
                   .relative_tolerance = relative_tolerance,
                   .tolerances = tolerances,
                   .neighbours = neighbours};
  if (tolerance) how.tolerance = distance_of(*tolerance);
  return how;
}

void match_asof(const asof_handle& self, const session& from, address stream, const column& times,
                const key_parts& by, const std::string& direction, bool strict,
                const std::optional<any_distance>& tolerance,
                const std::optional<double>& relative_tolerance,
                const std::optional<column>& tolerances, std::uint64_t neighbours, address out,
                std::uint64_t size) {
  const asof_options how =
      asof_of(direction, strict, tolerance, relative_tolerance, tolerances, neighbours);
  self.shared([&](const loaded_asof_join& one) {
    one.held->match(context_of(from, stream), times, by, how, row_ids_at(out, size));
  });
}

found match_asof_rows(const asof_handle& self, const session& from, address stream,
                      const column& times, const key_parts& by, const std::string& direction,
                      bool strict, const std::optional<any_distance>& tolerance,
                      const std::optional<double>& relative_tolerance,
                      const std::optional<column>& tolerances, std::uint64_t neighbours,
                      const std::string& how) {
  const asof_options options =
      asof_of(direction, strict, tolerance, relative_tolerance, tolerances, neighbours);
  return self.shared([&](const loaded_asof_join& one) {
    return std::make_unique<joined_handle>(
        one.held->match(context_of(from, stream), times, by, options, kind_of(how)), "join",
        one.held->info().where);
  });
}

void append_asof(asof_handle& self, address stream, const column& times, const key_parts& by,
                 nb::handle before) {
  self.alone([&](loaded_asof_join& one) {
    before_change(before);
    one.held->append(pointer<CUstream_st>(stream), times, by);
  });
}

// Of one that was loaded: the types of its times and keys, and its rows.
nb::tuple asof_types(const asof_handle& self) {
  return self.shared([](const loaded_asof_join& one) {
    std::vector<std::optional<std::string>> key;
    for (const std::optional<key_format>& part : one.key)
      key.push_back(part ? std::optional(to_string(*part)) : std::nullopt);
    return nb::make_tuple(to_string(one.times), key, one.rows);
  });
}

void save_asof(const asof_handle& self, const session& from, address stream, const nb::bytes& path,
               const nb::bytes& note) {
  self.shared([&](const loaded_asof_join& one) {
    save(context_of(from, stream), *one.held, std::string(text_of(path)), text_of(note));
  });
}

nb::bytes asof_bytes(const asof_handle& self, const session& from, address stream,
                     const nb::bytes& note) {
  return bytes_of(unlocked([&] {
    return self.shared([&](const loaded_asof_join& one) {
      return to_bytes(context_of(from, stream), *one.held, text_of(note));
    });
  }));
}

nb::tuple asof_of_bytes(const std::string& backend_name, const session& from, address stream,
                        const nb::bytes& kept) {
  const backend where = parse_backend(backend_name);
  return handle_and_note(
      unlocked(
          [&] { return asof_join_from_bytes(where, context_of(from, stream), span_of(kept)); }),
      where);
}

}  // namespace

nb::tuple handle_and_note(loaded_asof_join made, backend where) {
  const nb::bytes note(made.note.data(), made.note.size());
  auto held = std::make_unique<loaded_asof_join>(std::move(made));
  return nb::make_tuple(std::make_unique<asof_handle>(std::move(held), "join", where), note);
}

join_kind kind_of(const std::string& how) {
  if (how == "outer") return join_kind::full;  // as pandas calls it
  return named<join_kind>("how", how, std::array{"inner", "left", "semi", "anti", "right", "full"});
}

void bind_joins(nb::module_& to) {
  using nb::arg;
  nb::class_<joined_handle>(to, "Joined")
      .def_prop_ro("size",
                   [](const joined_handle& self) {
                     return self.shared([](const joined& one) { return one.size(); });
                   })
      .def_prop_ro("probes",
                   [](const joined_handle& self) {
                     return self.shared([](const joined& one) { return one.probes(); });
                   })
      .def("rows", write_rows, arg("session"), arg("stream"), arg("first"), arg("bits"),
           arg("probe_rows"), arg("build_rows"), arg("size"), without_gil())
      .def("counts", write_counts, arg("session"), arg("stream"), arg("out"), arg("size"),
           without_gil())
      .def("close", &joined_handle::close, arg("before") = nb::none(), without_gil());
  to.def("match_tables", match_once, arg("backend"), arg("session"), arg("stream"), arg("build"),
         arg("structure"), arg("options"), arg("missing_equal"), arg("seed").none(), arg("probe"),
         arg("how"), arg("any_order"), without_gil());
  nb::class_<join_handle>(to, "Join")
      .def("__init__", build_keys, arg("backend"), arg("session"), arg("stream"), arg("keys"),
           arg("structure"), arg("options"), arg("missing_equal"), arg("seed") = nb::none(),
           without_gil())
      // A join refers to its index; a batch that was found, to its join.
      .def_static("over", over_index, arg("session"), arg("stream"), arg("index"),
                  nb::keep_alive<0, 3>(), without_gil())
      .def("match", match_keys, arg("session"), arg("stream"), arg("probe"), arg("how"),
           nb::keep_alive<0, 1>(), without_gil())
      .def("match_ranges", match_ranges, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("how"), nb::keep_alive<0, 1>(), without_gil())
      .def("match_band", match_band, arg("session"), arg("stream"), arg("probe"), arg("distance"),
           arg("how"), nb::keep_alive<0, 1>(), without_gil())
      .def("match_compared", match_compared, arg("session"), arg("stream"), arg("probe"),
           arg("comparison"), arg("how"), nb::keep_alive<0, 1>(), without_gil());
  nb::class_<range_handle>(to, "RangeJoin")
      .def("__init__", build_ranges, arg("backend"), arg("session"), arg("stream"), arg("values"),
           arg("by"), without_gil())
      .def("match_ranges", match_ranges_by, arg("session"), arg("stream"), arg("lower"),
           arg("upper"), arg("by"), arg("how"), nb::keep_alive<0, 1>(), without_gil())
      .def("match_band", match_band_by, arg("session"), arg("stream"), arg("probe"),
           arg("distance"), arg("by"), arg("how"), nb::keep_alive<0, 1>(), without_gil())
      .def("match_compared", match_compared_by, arg("session"), arg("stream"), arg("probe"),
           arg("comparison"), arg("by"), arg("how"), nb::keep_alive<0, 1>(), without_gil());
  nb::class_<interval_handle>(to, "IntervalJoin")
      .def("__init__", build_intervals, arg("backend"), arg("session"), arg("stream"), arg("lower"),
           arg("upper"), arg("by"), arg("closed"), without_gil())
      .def("match_points", match_points, arg("session"), arg("stream"), arg("points"), arg("by"),
           arg("how"), arg("first"), nb::keep_alive<0, 1>(), without_gil())
      .def("match", match_intervals, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("by"), arg("relation"), arg("how"), arg("first"), nb::keep_alive<0, 1>(),
           without_gil());
  nb::class_<inequality_handle>(to, "InequalityJoin")
      .def("__init__", build_inequalities, arg("backend"), arg("session"), arg("stream"),
           arg("first"), arg("first_compared"), arg("second"), arg("second_compared"), arg("by"),
           without_gil())
      .def("match", match_inequalities, arg("session"), arg("stream"), arg("first"), arg("second"),
           arg("by"), arg("how"), nb::keep_alive<0, 1>(), without_gil());
  nb::class_<asof_handle>(to, "AsofJoin")
      .def("__init__", build_asof, arg("backend"), arg("session"), arg("stream"), arg("times"),
           arg("by"), arg("missing_equal"), without_gil())
      .def_prop_ro("info",
                   [](const asof_handle& self) {
                     return self.shared([](const loaded_asof_join& one) {
                       const join_info& info = one.held->info();
                       return std::pair(info.entries, info.resident_bytes);
                     });
                   })
      .def_prop_ro("types", asof_types,
                   nb::sig("def types(self) -> tuple[str, list[str | None], int]"))
      .def("match", match_asof, arg("session"), arg("stream"), arg("times"), arg("by"),
           arg("direction"), arg("strict"), arg("tolerance").none(),
           arg("relative_tolerance").none(), arg("tolerances").none(), arg("neighbours"),
           arg("out"), arg("size"), without_gil())
      .def("match_rows", match_asof_rows, arg("session"), arg("stream"), arg("times"), arg("by"),
           arg("direction"), arg("strict"), arg("tolerance").none(),
           arg("relative_tolerance").none(), arg("tolerances").none(), arg("neighbours"),
           arg("how"), nb::keep_alive<0, 1>(), without_gil())
      .def("append", append_asof, arg("stream"), arg("times"), arg("by"),
           arg("before") = nb::none(), without_gil())
      .def("save", save_asof, arg("session"), arg("stream"), arg("path"), arg("note"),
           without_gil())
      .def("to_bytes", asof_bytes, arg("session"), arg("stream"), arg("note"))
      .def_static("from_bytes", asof_of_bytes, arg("backend"), arg("session"), arg("stream"),
                  arg("kept"),
                  nb::sig("def from_bytes(backend: str, session: Session, stream: int, kept: "
                          "bytes) -> tuple[AsofJoin, bytes]"))
      .def("close", &asof_handle::close, arg("before") = nb::none(), without_gil());
}

}  // namespace raydex::python
