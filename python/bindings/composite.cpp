// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "bindings.hpp"

namespace raydex::python {

namespace {

using columns = key_parts;
using optional_column = std::optional<key_part>;

missing_cells missing_of(const std::string& name) {
  return name == "first"  ? missing_cells::first
         : name == "last" ? missing_cells::last
                          : missing_cells::unmatched;
}

std::unique_ptr<packed_keys> on_heap(packed_keys&& made) {
  return std::make_unique<packed_keys>(std::move(made));
}

// With the keys of rows. `descending` and `missing`: one for each column.
std::pair<std::unique_ptr<composite_keys>, std::unique_ptr<packed_keys>> keys_of(
    const std::string& backend_name, const session& from, address stream, const columns& cells,
    const std::vector<bool>& descending, const std::vector<std::string>& missing) {
  std::vector<composite_column> all;
  for (std::size_t p = 0; p < cells.size(); ++p)
    all.emplace_back(cells[p], descending.at(p), missing_of(missing.at(p)));
  auto rows = std::make_unique<packed_keys>();
  auto keys = std::make_unique<composite_keys>(parse_backend(backend_name),
                                               context_of(from, stream), all, rows.get());
  return {std::move(keys), std::move(rows)};
}

// First and last code, step and bits of each column.
using span_numbers = std::vector<std::array<std::uint64_t, 4>>;

span_numbers spans_of(const composite_keys& self) {
  span_numbers all;
  for (const composite_part& one : self.parts())
    all.push_back({one.first, one.last, one.step, one.bits});
  return all;
}

// That of such numbers; as many as formats, `descending` and `missing`.
std::unique_ptr<composite_keys> keys_of_spans(const std::string& backend_name,
                                              const std::vector<key_format>& formats,
                                              const std::vector<bool>& descending,
                                              const std::vector<std::string>& missing,
                                              const span_numbers& spans) {
  std::vector<composite_part> parts;
  for (std::size_t p = 0; p < formats.size(); ++p) {
    const auto& [first, last, step, bits] = spans.at(p);
    parts.push_back({.format = formats[p],
                     .descending = descending.at(p),
                     .missing = missing_of(missing.at(p)),
                     .first = first,
                     .last = last,
                     .step = step,
                     .bits = static_cast<unsigned>(std::min<std::uint64_t>(bits, 65))});
  }
  return std::make_unique<composite_keys>(parse_backend(backend_name), std::move(parts));
}

nb::bytes kept_bytes(const composite_keys& self, const session& from) {
  std::vector<std::byte> all;
  {
    const nb::gil_scoped_release release;
    all = self.to_bytes(from);
  }
  return nb::bytes(all.data(), all.size());
}

std::unique_ptr<composite_keys> keys_of_bytes(const std::string& backend_name, const session& to,
                                              address stream, const nb::bytes& bytes) {
  const std::span all(static_cast<const std::byte*>(bytes.data()), bytes.size());
  const nb::gil_scoped_release release;
  return std::make_unique<composite_keys>(
      composite_keys::from_bytes(parse_backend(backend_name), context_of(to, stream), all));
}

// Format, None of strings, whether it descends, and what missing cells are, of each column.
std::vector<std::tuple<std::optional<std::string>, bool, std::string>> columns_of(
    const composite_keys& self) {
  std::vector<std::tuple<std::optional<std::string>, bool, std::string>> all;
  for (const composite_part& one : self.parts())
    all.emplace_back(one.format ? std::optional(to_string(*one.format)) : std::nullopt,
                     one.descending,
                     one.missing == missing_cells::unmatched ? "unmatched"
                     : one.missing == missing_cells::first   ? "first"
                                                             : "last");
  return all;
}

key_numbering numbering_of(bool by_row) {
  return by_row ? key_numbering::by_row : key_numbering::by_order;
}

// With the numbers of the column's rows, and, if they are to be in order, these rows; not those of
// a column that may miss some, since an index is to count them.
std::tuple<std::unique_ptr<key_dictionary>, std::unique_ptr<packed_keys>,
           std::optional<std::unique_ptr<packed_keys>>>
dictionary_of(const std::string& backend_name, const session& from, address stream,
              const key_part& keys, bool in_order, bool by_row) {
  auto numbers = std::make_unique<packed_keys>();
  std::optional<std::unique_ptr<packed_keys>> rows;
  const bool are_all_there =
      std::visit([](const auto& cells) { return cells.validity == nullptr; }, keys);
  if (in_order && are_all_there) rows = std::make_unique<packed_keys>();
  auto words = std::make_unique<key_dictionary>(parse_backend(backend_name),
                                                context_of(from, stream), keys, numbers.get(),
                                                rows ? rows->get() : nullptr, numbering_of(by_row));
  return {std::move(words), std::move(numbers), std::move(rows)};
}

std::unique_ptr<packed_keys> numbers_of(const key_dictionary& self, const session& from,
                                        address stream, const key_part& keys) {
  return on_heap(self.numbers(context_of(from, stream), keys));
}

std::pair<std::unique_ptr<packed_keys>, std::unique_ptr<packed_keys>> ranges_of_prefixes(
    const key_dictionary& self, const session& from, address stream,
    const string_column& prefixes) {
  packed_ranges made = self.ranges_of_prefixes(context_of(from, stream), prefixes);
  return {on_heap(std::move(made.lower)), on_heap(std::move(made.upper))};
}

std::unique_ptr<packed_keys> pack_rows(const composite_keys& self, const session& from,
                                       address stream, const columns& cells) {
  return on_heap(self.pack_rows(context_of(from, stream), cells));
}

std::unique_ptr<packed_keys> pack_points(const composite_keys& self, const session& from,
                                         address stream, const columns& cells) {
  return on_heap(self.pack_points(context_of(from, stream), cells));
}

// `side`: at_most, below, at_least or above.
std::unique_ptr<packed_keys> pack_closest(const composite_keys& self, const session& from,
                                          address stream, const columns& cells,
                                          const std::string& side) {
  const closest_number which = side == "at_most" ? closest_number::at_most
                               : side == "below" ? closest_number::below
                               : side == "above" ? closest_number::above
                                                 : closest_number::at_least;
  return on_heap(self.pack_closest(context_of(from, stream), cells, which));
}

std::pair<std::unique_ptr<packed_keys>, std::unique_ptr<packed_keys>> pack_ranges(
    const composite_keys& self, const session& from, address stream, const columns& equal,
    const optional_column& lower, const optional_column& upper) {
  packed_ranges made = self.pack_ranges(context_of(from, stream), equal, lower, upper);
  return {on_heap(std::move(made.lower)), on_heap(std::move(made.upper))};
}

std::pair<std::unique_ptr<packed_keys>, std::unique_ptr<packed_keys>> pack_prefixes(
    const composite_keys& self, const session& from, address stream, const columns& equal,
    const string_column& prefixes) {
  packed_ranges made = self.pack_prefixes(context_of(from, stream), equal, prefixes);
  return {on_heap(std::move(made.lower)), on_heap(std::move(made.upper))};
}

// In host memory.
std::unique_ptr<owned_strings> keys_in_order(const key_dictionary& self, const session& from) {
  owned_strings own = self.keys(from);
  if (from.where() == backend::cpu) return std::make_unique<owned_strings>(std::move(own));
  const session host(backend::cpu);
  owned_strings made{{host, own.bytes.size()}, {host, own.offsets.size()}};
  from.copy_out(made.bytes.data(), own.bytes.data(), own.bytes.bytes());
  from.copy_out(made.offsets.data(), own.offsets.data(), own.offsets.bytes());
  return std::make_unique<owned_strings>(std::move(made));
}

// That of strings in host memory, which have no missing ones and offsets of 64 bits that begin at
// 0.
std::unique_ptr<key_dictionary> dictionary_of_host(const std::string& backend_name,
                                                   const session& to, address stream,
                                                   const string_column& keys, bool by_row) {
  const backend where = parse_backend(backend_name);
  const context on = context_of(to, stream);
  const auto made_of = [&](const string_column& own) {
    return std::make_unique<key_dictionary>(where, on, own, nullptr, nullptr, numbering_of(by_row));
  };
  if (where == backend::cpu) return made_of(keys);
  const auto* const offsets = static_cast<const std::uint64_t*>(keys.offsets);
  const auto own_offsets = to.upload(std::span(offsets, keys.size + 1));
  const auto own_bytes = to.upload(std::span(keys.bytes, offsets[keys.size]));
  return made_of({own_bytes.data(), own_offsets.data(), true, keys.size, {}});
}

bool holds_all(const key_dictionary& self, const session& from, address stream,
               const key_part& keys) {
  return self.holds(context_of(from, stream), keys);
}

bool holds(const composite_keys& self, const session& from, address stream, const columns& cells) {
  return self.holds(context_of(from, stream), cells);
}

// Keys, and an index over their numbers.
template <class Keys>
using keys_and_index = std::pair<std::unique_ptr<Keys>, std::unique_ptr<index_handle>>;

template <class Keys>
keys_and_index<Keys> handed_over(Keys keys, std::unique_ptr<index> over) {
  const backend where = over->info().where;
  return {std::make_unique<Keys>(std::move(keys)),
          std::make_unique<index_handle>(std::move(over), "index", where)};
}

keys_and_index<composite_keys> grown(const composite_keys& self, const session& from,
                                     address stream, const index_handle& over, const columns& cells,
                                     const column& rows) {
  grown_index made = over.shared(
      [&](const index& one) { return self.grown(context_of(from, stream), one, cells, rows); });
  return handed_over(std::move(made.keys), std::move(made.over));
}

keys_and_index<key_dictionary> dictionary_grown(const key_dictionary& self, const session& from,
                                                address stream, const index_handle& over,
                                                const key_part& cells, const column& rows) {
  grown_dictionary made = over.shared(
      [&](const index& one) { return self.grown(context_of(from, stream), one, cells, rows); });
  return handed_over(std::move(made.words), std::move(made.over));
}

}  // namespace

void bind_composite_keys(nb::module_& to) {
  using nb::arg;
  // Its memory is the session's.
  nb::class_<packed_keys>(to, "PackedKeys")
      .def_prop_ro("column", &packed_keys::view)
      .def_prop_ro(
          "data",
          [](const packed_keys& self) { return reinterpret_cast<address>(self.view().data); })
      .def_prop_ro("validity", [](const packed_keys& self) {
        return reinterpret_cast<address>(self.validity.data());
      });
  nb::class_<composite_keys>(to, "CompositeKeys")
      .def_static("of", keys_of, arg("backend"), arg("session"), arg("stream"), arg("columns"),
                  arg("descending"), arg("missing"), without_gil())
      .def_static("of_spans", keys_of_spans, arg("backend"), arg("formats"), arg("descending"),
                  arg("missing"), arg("spans"))
      .def("spans", spans_of)
      .def("to_bytes", kept_bytes, arg("session"))
      .def_static("of_bytes", keys_of_bytes, arg("backend"), arg("session"), arg("stream"),
                  arg("kept"))
      .def("columns", columns_of)
      .def_prop_ro("format", [](const composite_keys& self) { return to_string(self.format()); })
      .def_prop_ro("resident_bytes", &composite_keys::resident_bytes)
      .def_prop_ro("is_numbered",
                   [](const composite_keys& self) {
                     return std::any_of(self.parts().begin(), self.parts().end(),
                                        [](const composite_part& one) { return one.numbered; });
                   })
      .def_prop_ro("is_narrow", [](const composite_keys& self) { return self.format().width == 4; })
      .def("pack_rows", pack_rows, arg("session"), arg("stream"), arg("columns"),
           nb::keep_alive<0, 2>(), without_gil())
      .def("pack_points", pack_points, arg("session"), arg("stream"), arg("columns"),
           nb::keep_alive<0, 2>(), without_gil())
      .def("pack_ranges", pack_ranges, arg("session"), arg("stream"), arg("equal"),
           arg("lower").none(), arg("upper").none(), without_gil())
      .def("pack_prefixes", pack_prefixes, arg("session"), arg("stream"), arg("equal"),
           arg("prefixes"), without_gil())
      .def("pack_closest", pack_closest, arg("session"), arg("stream"), arg("columns"), arg("side"),
           nb::keep_alive<0, 2>(), without_gil())
      .def("is_full", &composite_keys::is_full)
      .def("holds", holds, arg("session"), arg("stream"), arg("columns"), without_gil())
      .def("grown", grown, arg("session"), arg("stream"), arg("over"), arg("columns"), arg("rows"),
           without_gil());
  // Its memory is the session's, too.
  nb::class_<owned_strings>(to, "OwnedStrings")
      .def_prop_ro(
          "bytes",
          [](const owned_strings& self) { return reinterpret_cast<address>(self.bytes.data()); })
      .def_prop_ro("offsets", [](const owned_strings& self) {
        return reinterpret_cast<address>(self.offsets.data());
      });
  nb::class_<key_dictionary>(to, "KeyDictionary")
      .def_static("of", dictionary_of, arg("backend"), arg("session"), arg("stream"), arg("keys"),
                  arg("in_order"), arg("by_row"), without_gil())
      .def_static("of_host", dictionary_of_host, arg("backend"), arg("session"), arg("stream"),
                  arg("keys"), arg("by_row"), without_gil())
      .def("numbers", numbers_of, arg("session"), arg("stream"), arg("keys"),
           nb::keep_alive<0, 2>(), without_gil())
      .def("holds", holds_all, arg("session"), arg("stream"), arg("keys"), without_gil())
      .def("grown", dictionary_grown, arg("session"), arg("stream"), arg("over"), arg("keys"),
           arg("rows"), without_gil())
      .def("keys", keys_in_order, arg("session"), nb::keep_alive<0, 2>(), without_gil())
      .def("ranges_of_prefixes", ranges_of_prefixes, arg("session"), arg("stream"), arg("prefixes"),
           without_gil())
      .def_prop_ro("size", &key_dictionary::size)
      .def_prop_ro(
          "by_row",
          [](const key_dictionary& self) { return self.numbering() == key_numbering::by_row; })
      .def_prop_ro("resident_bytes", &key_dictionary::resident_bytes);
}

}  // namespace raydex::python
