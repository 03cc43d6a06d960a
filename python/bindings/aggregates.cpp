// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings.hpp"

namespace raydex::python {

namespace {

// With what it is over.
class aggregate_handle : public handle<aggregate> {
 public:
  aggregate_handle(std::unique_ptr<aggregate> made, const index_handle& over, backend where)
      : handle(std::move(made), "aggregate", where), over_(over.identity()) {}

  void check(const index_handle& over) const {
    if (over.identity() != over_)
      throw invalid_argument(
          "aggregate: its index was edited after it was built; build another one");
  }

 private:
  std::shared_ptr<const void> over_;
};
using optional_column = std::optional<column>;

void build(aggregate_handle* self, const index_handle& over, const session& from, address stream,
           const optional_column& values, bool sums, bool minima, bool maxima, bool first_rows) {
  const aggregate_options options{
      .sums = sums, .minima = minima, .maxima = maxima, .first_rows = first_rows};
  over.shared([&](const index& one) {
    new (self) aggregate_handle(build_aggregate(context_of(from, stream), one, values, options),
                                over, one.info().where);
  });
}

nb::tuple info(const aggregate_handle& self) {
  const aggregate_info info = [&] {
    const nb::gil_scoped_release unlocked;  // an end may be under way
    return self.shared([](const aggregate& one) { return one.info(); });
  }();
  return nb::make_tuple(info.structure, to_string(info.where), to_string(info.key), info.entries,
                        info.resident_bytes, info.build_peak_bytes, info.parts.sums,
                        info.parts.minima, info.parts.maxima, info.parts.first_rows);
}

// Calls `ask` with the aggregate while nobody edits or closes its index, which each call is given:
// of one that is closed by then, that is an error.
template <class Ask>
void ask_with(const aggregate_handle& self, const index_handle& over, const Ask& ask) {
  over.shared([&](const index&) {
    self.check(over);
    self.shared(ask);
  });
}

void count(const aggregate_handle& self, const index_handle& over, const session& from,
           address stream, const column& lower, const optional_column& upper, bool values,
           address out, std::uint64_t size) {
  const context on = context_of(from, stream);
  const probes batch = probes_of(lower, upper);
  const auto counts = span_at<std::uint64_t>(out, size);
  ask_with(self, over, [&](const aggregate& one) {
    values ? one.count_values(on, batch, counts) : one.count(on, batch, counts);
  });
}

void sum(const aggregate_handle& self, const index_handle& over, const session& from,
         address stream, const column& lower, const optional_column& upper, address out,
         std::uint64_t size) {
  const context on = context_of(from, stream);
  const probes batch = probes_of(lower, upper);
  ask_with(self, over, [&](const aggregate& one) {
    switch (one.info().value.value_or(key_format(key_type::uint64)).type) {
      case key_type::int32:
      case key_type::int64:
        one.sum(on, batch, span_at<std::int64_t>(out, size));
        break;
      case key_type::float32:
      case key_type::float64:
        one.sum(on, batch, span_at<double>(out, size));
        break;
      default:
        one.sum(on, batch, span_at<std::uint64_t>(out, size));
    }
  });
}

void mean(const aggregate_handle& self, const index_handle& over, const session& from,
          address stream, const column& lower, const optional_column& upper, address out,
          std::uint64_t size) {
  ask_with(self, over, [&](const aggregate& one) {
    one.mean(context_of(from, stream), probes_of(lower, upper), span_at<double>(out, size));
  });
}

// `counts`: where it is also written how many values each probe has; 0: nowhere.
void extreme(const aggregate_handle& self, const index_handle& over, const session& from,
             address stream, const column& lower, const optional_column& upper, bool largest,
             const key_format& format, address counts, address out, std::uint64_t size) {
  const context on = context_of(from, stream);
  const probes batch = probes_of(lower, upper);
  const value_span values(format, pointer<void>(out), size);
  ask_with(self, over, [&](const aggregate& one) {
    largest ? one.maximum(on, batch, values) : one.minimum(on, batch, values);
    if (counts != 0) one.count_values(on, batch, span_at<std::uint64_t>(counts, size));
  });
}

void first(const aggregate_handle& self, const index_handle& over, const session& from,
           address stream, const column& lower, const optional_column& upper, address out,
           std::uint64_t size) {
  ask_with(self, over, [&](const aggregate& one) {
    one.first(context_of(from, stream), probes_of(lower, upper), row_ids_at(out, size));
  });
}

// ---- files

std::optional<std::string> value_format(const aggregate_handle& self) {
  const nb::gil_scoped_release unlocked;  // an end may be under way
  return self.shared([](const aggregate& one) -> std::optional<std::string> {
    if (!one.info().value) return std::nullopt;
    return to_string(*one.info().value);
  });
}

void save_aggregate(const aggregate_handle& self, const index_handle& over, const session& from,
                    address stream, const nb::bytes& path, const nb::bytes& note) {
  ask_with(self, over, [&](const aggregate& one) {
    save(context_of(from, stream), one, std::string(text_of(path)), text_of(note));
  });
}

nb::bytes aggregate_bytes(const aggregate_handle& self, const index_handle& over,
                          const session& from, address stream, const nb::bytes& note) {
  std::vector<std::byte> all;
  {
    const nb::gil_scoped_release unlocked;
    ask_with(self, over, [&](const aggregate& one) {
      all = to_bytes(context_of(from, stream), one, text_of(note));
    });
  }
  return bytes_of(all);
}

nb::tuple aggregate_of_bytes(const std::string& backend_name, const session& from, address stream,
                             const nb::bytes& kept) {
  const backend where = parse_backend(backend_name);
  return handle_and_note(
      unlocked(
          [&] { return aggregate_from_bytes(where, context_of(from, stream), span_of(kept)); }),
      where);
}

}  // namespace

nb::tuple handle_and_note(loaded_aggregate made, backend where) {
  auto over = std::make_unique<index_handle>(std::move(made.over), "index", where);
  auto held = std::make_unique<aggregate_handle>(std::move(made.held), *over, where);
  return nb::make_tuple(std::move(over), nb::bytes(made.note.data(), made.note.size()),
                        std::move(held));
}

void bind_aggregates(nb::module_& to) {
  using nb::arg;
  nb::class_<aggregate_handle>(to, "Aggregate")
      .def("__init__", build, arg("index"), arg("session"), arg("stream"), arg("values").none(),
           arg("sums"), arg("minima"), arg("maxima"), arg("first_rows"), without_gil())
      .def("info", info,
           nb::sig("def info(self) -> tuple[str, str, str, int, int, int, bool, bool, bool, bool]"))
      .def("value_format", value_format, nb::sig("def value_format(self) -> str | None"))
      .def("count", count, arg("index"), arg("session"), arg("stream"), arg("lower"),
           arg("upper").none(), arg("values"), arg("out"), arg("size"), without_gil())
      .def("sum", sum, arg("index"), arg("session"), arg("stream"), arg("lower"),
           arg("upper").none(), arg("out"), arg("size"), without_gil())
      .def("mean", mean, arg("index"), arg("session"), arg("stream"), arg("lower"),
           arg("upper").none(), arg("out"), arg("size"), without_gil())
      .def("extreme", extreme, arg("index"), arg("session"), arg("stream"), arg("lower"),
           arg("upper").none(), arg("largest"), arg("format"), arg("counts"), arg("out"),
           arg("size"), without_gil())
      .def("first", first, arg("index"), arg("session"), arg("stream"), arg("lower"),
           arg("upper").none(), arg("out"), arg("size"), without_gil())
      .def("save", save_aggregate, arg("index"), arg("session"), arg("stream"), arg("path"),
           arg("note"), without_gil())
      .def("to_bytes", aggregate_bytes, arg("index"), arg("session"), arg("stream"), arg("note"))
      .def_static("from_bytes", aggregate_of_bytes, arg("backend"), arg("session"), arg("stream"),
                  arg("kept"),
                  nb::sig("def from_bytes(backend: str, session: Session, stream: int, kept: "
                          "bytes) -> tuple[Index, bytes, Aggregate]"))
      .def("close", &aggregate_handle::close, arg("before") = nb::none(), without_gil());
}

}  // namespace raydex::python
