// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"

namespace raydex::python {

namespace {

using optional_column = std::optional<column>;

void build_index(index_handle* self, const std::string& structure, const std::string& backend_name,
                 const session& from, address stream, const column& keys,
                 const optional_column& row_ids, const option_map& options) {
  const backend chosen = parse_backend(backend_name);
  new (self) index_handle(
      build(structure, chosen, context_of(from, stream), keys, row_ids, options), "index", chosen);
}

nb::tuple info(const index_handle& self) {
  const index_info info = [&] {
    const nb::gil_scoped_release unlocked;  // an edit may be under way
    return self.shared([](const index& one) { return one.info(); });
  }();
  return nb::make_tuple(info.structure, to_string(info.where), to_string(info.key),
                        info.row_ids == row_id_type::uint32 ? 32 : 64, info.n, info.entries,
                        info.max_row_id, info.options, info.resident_bytes, info.build_peak_bytes);
}

void first(const index_handle& self, const session& from, address stream, const column& lower,
           const optional_column& upper, address out, std::uint64_t size) {
  self.shared([&](const index& one) {
    one.first(context_of(from, stream), probes_of(lower, upper), row_ids_at(out, size));
  });
}

// The same in 32 bits, of an index whose row ids have so many.
void first32(const index_handle& self, const session& from, address stream, const column& lower,
             const optional_column& upper, address out, std::uint64_t size) {
  self.shared([&](const index& one) {
    one.first(context_of(from, stream), probes_of(lower, upper), row_ids_at(out, size, 32));
  });
}

void contains(const index_handle& self, const session& from, address stream, const column& lower,
              const optional_column& upper, address out, std::uint64_t size) {
  self.shared([&](const index& one) {
    one.contains(context_of(from, stream), probes_of(lower, upper), span_at<bool>(out, size));
  });
}

void count(const index_handle& self, const session& from, address stream, const column& lower,
           const optional_column& upper, address out, std::uint64_t size) {
  self.shared([&](const index& one) {
    one.count(context_of(from, stream), probes_of(lower, upper), span_at<std::uint64_t>(out, size));
  });
}

// `kind`: of the sums, as NumPy has it: u, i or f.
void sum(const index_handle& self, const session& from, address stream, const column& lower,
         const optional_column& upper, const column& values, const std::string& kind, address out,
         std::uint64_t size) {
  const context on = context_of(from, stream);
  const probes batch = probes_of(lower, upper);
  self.shared([&](const index& one) {
    if (kind == "u") {
      one.sum(on, batch, values, span_at<std::uint64_t>(out, size));
    } else if (kind == "i") {
      one.sum(on, batch, values, span_at<std::int64_t>(out, size));
    } else {
      one.sum(on, batch, values, span_at<double>(out, size));
    }
  });
}

// `begins`: where offsets are written, `count` of them. `room`: is then called for where the rows
// go, an address and how many there are. No edit is between the two.
void rows(const index_handle& self, const session& from, address stream, const column& lower,
          const optional_column& upper, address begins, std::uint64_t count, nb::handle room) {
  const context on = context_of(from, stream);
  const probes batch = probes_of(lower, upper);
  const auto offsets = span_at<std::uint64_t>(begins, count);
  self.shared([&](const index& one) {
    one.offsets(on, batch, offsets);
    const auto [out, size] = ask_python<std::pair<address, std::uint64_t>>(room);
    one.rows(on, batch, offsets, row_ids_at(out, size));
  });
}

// `rows`: how many have a bit; by default all that the index ever had. No edit is between that and
// the answer.
void bitset(const index_handle& self, const session& from, address stream, const column& lower,
            const optional_column& upper, std::optional<std::uint64_t> rows, nb::handle room) {
  const context on = context_of(from, stream);
  const probes batch = probes_of(lower, upper);
  self.shared([&](const index& one) {
    const index_info& info = one.info();
    const bool had_any = info.n != 0 || info.entries != 0 || info.max_row_id != 0;
    const std::uint64_t size = rows ? *rows : had_any ? info.max_row_id + 1 : 0;
    one.bitset(on, batch, size, words_of_bits(size, room));
  });
}

void rank(const index_handle& self, const session& from, address stream, const column& points_of,
          bool right, address out, std::uint64_t size) {
  const context on = context_of(from, stream);
  const auto ranks = span_at<std::uint64_t>(out, size);
  self.shared([&](const index& one) {
    right ? one.rank_right(on, points(points_of), ranks) : one.rank(on, points(points_of), ranks);
  });
}

void closest(const index_handle& self, const session& from, address stream, const column& points_of,
             bool before, bool strict, address out, std::uint64_t size) {
  const context on = context_of(from, stream);
  const closeness which = strict ? closeness::strict : closeness::or_equal;
  const row_id_span to = row_ids_at(out, size);
  self.shared([&](const index& one) {
    before ? one.predecessor(on, points(points_of), to, which)
           : one.successor(on, points(points_of), to, which);
  });
}

// `codes` and `rows`: where so many are written, of 64 bits each.
void entries(const index_handle& self, const session& from, address stream, address codes,
             address rows, std::uint64_t size) {
  self.shared([&](const index& one) {
    one.entries(context_of(from, stream), span_at<std::uint64_t>(codes, size),
                row_ids_at(rows, size));
  });
}

// On the stream of the context, by the bytes of a file.
std::unique_ptr<index> copy_of(const context& on, const index& one) {
  return from_bytes(one.info().where, on, to_bytes(on, one), {.verify = false}).held;
}

// `copies`: the stream of a copy, if snapshots have the index, too.
void edit(index_handle& self, const session& from, address copies, address stream,
          const column& insert, const column& insert_rows, const column& erase,
          const optional_column& erase_rows, nb::handle before) {
  self.alone(
      [&](index& one) {
        before_change(before);
        one.edit(pointer<CUstream_st>(stream), {.insert = insert,
                                                .insert_rows = insert_rows,
                                                .erase = erase,
                                                .erase_rows = erase_rows});
      },
      [&](const index& one) { return copy_of(context_of(from, copies), one); });
}

std::unique_ptr<index_handle> copy(const index_handle& self, const session& from, address stream) {
  return self.shared([&](const index& one) {
    return std::make_unique<index_handle>(copy_of(context_of(from, stream), one), "index",
                                          one.info().where);
  });
}

// ---- files

void save_index(const index_handle& self, const session& from, address stream,
                const nb::bytes& path, const nb::bytes& note) {
  self.shared([&](const index& one) {
    save(context_of(from, stream), one, std::string(text_of(path)), text_of(note));
  });
}

nb::bytes index_bytes(const index_handle& self, const session& from, address stream,
                      const nb::bytes& note) {
  return bytes_of(unlocked([&] {
    return self.shared(
        [&](const index& one) { return to_bytes(context_of(from, stream), one, text_of(note)); });
  }));
}

// What a file has.
nb::tuple load_file(const std::string& backend_name, const session& from, address stream,
                    const nb::bytes& path, bool verify) {
  const backend where = parse_backend(backend_name);
  const std::string name(text_of(path));
  auto made =
      unlocked([&]() -> std::variant<loaded_index, loaded_rmq, loaded_aggregate, loaded_asof_join> {
        const context on = context_of(from, stream);
        const index_file_info found = inspect(name);
        if (found.is_minima) return load_rmq(where, on, name, {.verify = verify});
        if (found.is_aggregate) return load_aggregate(where, on, name, {.verify = verify});
        if (found.is_asof_join) return load_asof_join(where, on, name, {.verify = verify});
        return load(where, on, name, {.verify = verify});
      });
  return std::visit([&](auto& one) { return handle_and_note(std::move(one), where); }, made);
}

nb::tuple index_of_bytes(const std::string& backend_name, const session& from, address stream,
                         const nb::bytes& kept, bool verify) {
  const backend where = parse_backend(backend_name);
  return handle_and_note(unlocked([&] {
                           return from_bytes(where, context_of(from, stream), span_of(kept),
                                             {.verify = verify});
                         }),
                         where);
}

using builder_handle = handle<index_file_builder>;

void begin_file(builder_handle* self, const session& from, const nb::bytes& path,
                const key_format& key, std::uint64_t memory, const nb::bytes& spill) {
  const std::string name(text_of(path));
  const std::string folder(text_of(spill));
  const nb::gil_scoped_release released;
  new (self) builder_handle(
      std::make_unique<index_file_builder>(context_of(from, 0), name, key,
                                           index_file_options{.memory = memory, .spill = folder}),
      "builder", backend::cpu);
}

void append_chunk(builder_handle& self, const column& keys) {
  self.alone([&](index_file_builder& one) { one.append(keys); });
}

void finish_file(builder_handle& self, const nb::bytes& note) {
  self.alone([&](index_file_builder& one) { one.finish(text_of(note)); });
}

void search_sorted_on(const std::string& backend_name, const session& from, address stream,
                      const column& sorted, const column& wanted, bool right, address out,
                      std::uint64_t size) {
  search_sorted(parse_backend(backend_name), context_of(from, stream), sorted, wanted,
                right ? search_side::right : search_side::left, span_at<std::uint64_t>(out, size));
}

void is_in_on(const std::string& backend_name, const session& from, address stream,
              const column& tests, const column& elements, address out, std::uint64_t size) {
  is_in(parse_backend(backend_name), context_of(from, stream), tests, elements,
        span_at<bool>(out, size));
}

}  // namespace

nb::tuple handle_and_note(loaded_index made, backend where) {
  return nb::make_tuple(std::make_unique<index_handle>(std::move(made.held), "index", where),
                        nb::bytes(made.note.data(), made.note.size()));
}

void bind_index(nb::module_& to) {
  using nb::arg;
  nb::class_<index_handle>(to, "Index")
      .def("__init__", build_index, arg("structure"), arg("backend"), arg("session"), arg("stream"),
           arg("keys"), arg("row_ids").none(), arg("options"), without_gil())
      .def("info", info,
           nb::sig("def info(self) -> tuple[str, str, str, int, int, int, int, str, int, int]"))
      .def("first", first, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("first32", first32, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("contains", contains, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("count", count, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("sum", sum, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("values"), arg("kind"), arg("out"), arg("size"), without_gil())
      .def("rows", rows, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("begins"), arg("count"), arg("room"), without_gil())
      .def("bitset", bitset, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("rows").none(), arg("room"), without_gil())
      .def("rank", rank, arg("session"), arg("stream"), arg("points"), arg("right"), arg("out"),
           arg("size"), without_gil())
      .def("closest", closest, arg("session"), arg("stream"), arg("points"), arg("before"),
           arg("strict"), arg("out"), arg("size"), without_gil())
      .def("entries", entries, arg("session"), arg("stream"), arg("codes"), arg("rows"),
           arg("size"), without_gil())
      .def("edit", edit, arg("session"), arg("copies"), arg("stream"), arg("insert"),
           arg("insert_rows"), arg("erase"), arg("erase_rows").none(), arg("before").none(),
           without_gil())
      .def("snapshot", &index_handle::snapshot, without_gil())
      .def("copy", copy, arg("session"), arg("stream"), without_gil())
      .def("save", save_index, arg("session"), arg("stream"), arg("path"), arg("note"),
           without_gil())
      .def("to_bytes", index_bytes, arg("session"), arg("stream"), arg("note"))
      .def_static("from_bytes", index_of_bytes, arg("backend"), arg("session"), arg("stream"),
                  arg("kept"), arg("verify"),
                  nb::sig("def from_bytes(backend: str, session: Session, stream: int, kept: "
                          "bytes, verify: bool) -> tuple[Index, bytes]"))
      .def("close", &index_handle::close, arg("before") = nb::none(), without_gil());
  nb::class_<builder_handle>(to, "IndexFileBuilder")
      .def("__init__", begin_file, arg("session"), arg("path"), arg("key"), arg("memory"),
           arg("spill"), nb::keep_alive<1, 2>())
      .def("append", append_chunk, arg("keys"), without_gil())
      .def("finish", finish_file, arg("note"), without_gil())
      .def("close", &builder_handle::close, arg("before") = nb::none(), without_gil());
  to.def("load", load_file, arg("backend"), arg("session"), arg("stream"), arg("path"),
         arg("verify"),
         nb::sig("def load(backend: str, session: Session, stream: int, path: bytes, verify: bool) "
                 "-> tuple[Index | Rmq | AsofJoin, bytes] | tuple[Index, bytes, Aggregate]"));
  to.def("search_sorted", search_sorted_on, arg("backend"), arg("session"), arg("stream"),
         arg("sorted"), arg("wanted"), arg("right"), arg("out"), arg("size"), without_gil());
  to.def("is_in", is_in_on, arg("backend"), arg("session"), arg("stream"), arg("tests"),
         arg("elements"), arg("out"), arg("size"), without_gil());
}

}  // namespace raydex::python
