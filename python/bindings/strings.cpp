// SPDX-License-Identifier: Apache-2.0
// Strings of any length in host memory, as an index: the build side of a join, asked for points.
// Its calls are those of an index; row ids are always of 64 bits.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "bindings.hpp"

namespace raydex::python {

namespace {

// Rows of a join that are at hand at a time.
constexpr std::uint64_t slice = 1 << 16;

struct string_index {
  join_handle join;
  std::uint64_t size;

  template <class Use>
  void with(const session& from, address stream, const string_column& points, join_kind kind,
            const Use& use) const {
    const context on = context_of(from, stream);
    join.shared([&](const raydex::join& one) { use(on, *one.match(on, {points}, kind)); });
  }
};

using no_column = std::optional<column>;

void build(string_index* self, const session& from, address stream, const string_column& keys,
           const std::string& structure, const option_map& options) {
  new (self) string_index{{build_join(backend::cpu, context_of(from, stream), {keys},
                                      {.structure = structure, .options = options}),
                           "index", backend::cpu},
                          keys.size};
}

nb::tuple info(const string_index& self) {
  const join_info info = [&] {
    const nb::gil_scoped_release unlocked;  // an end may be under way
    return self.join.shared([](const join& one) { return one.info(); });
  }();
  const std::uint64_t unknown = 0;  // the most bytes of its build
  return nb::make_tuple(info.structure, to_string(info.where), "strings", 64, self.size,
                        info.entries, std::max<std::uint64_t>(self.size, 1) - 1, info.options,
                        info.resident_bytes, unknown);
}

// Calls use(probes, builds) for slices of the pairs that were found, one after the other.
template <class Use>
void for_each_slice(const context& on, const joined& found, const Use& use) {
  std::vector<std::uint64_t> probes;
  std::vector<std::uint64_t> builds;
  for (std::uint64_t begin = 0; begin < found.size(); begin += slice) {
    probes.resize(std::min(slice, found.size() - begin));
    builds.resize(probes.size());
    found.rows(on, begin, gather_maps(probes, builds));
    use(probes, builds);
  }
}

// The first of the rows that a left join gives of each point.
void first(const string_index& self, const session& from, address stream,
           const string_column& points, const no_column&, address out, std::uint64_t size) {
  self.with(from, stream, points, join_kind::left, [&](const context& on, const joined& found) {
    const auto rows = span_at<std::uint64_t>(out, size);
    std::uint64_t next = 0;
    for_each_slice(on, found, [&](const auto& probes, const auto& builds) {
      for (std::size_t i = 0; i < probes.size(); ++i) {
        if (probes[i] == next) rows[next++] = builds[i];
      }
    });
  });
}

void count(const string_index& self, const session& from, address stream,
           const string_column& points, const no_column&, address out, std::uint64_t size) {
  self.with(from, stream, points, join_kind::inner, [&](const context& on, const joined& found) {
    found.counts(on, span_at<std::uint64_t>(out, size));
  });
}

void contains(const string_index& self, const session& from, address stream,
              const string_column& points, const no_column&, address out, std::uint64_t size) {
  std::vector<std::uint64_t> counts(size);
  count(self, from, stream, points, {}, reinterpret_cast<address>(counts.data()), size);
  std::transform(counts.begin(), counts.end(), pointer<bool>(out),
                 [](std::uint64_t rows) { return rows != 0; });
}

// As of an index.
void rows(const string_index& self, const session& from, address stream,
          const string_column& points, const no_column&, address begins, std::uint64_t count,
          nb::handle room) {
  self.with(from, stream, points, join_kind::inner, [&](const context& on, const joined& found) {
    const auto ends = span_at<std::uint64_t>(begins, count);
    ends[0] = 0;
    found.counts(on, ends.subspan(1));
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    const auto [out, size] = ask_python<std::pair<address, std::uint64_t>>(room);
    std::vector<std::uint64_t> probes(std::min(slice, size));
    for (std::uint64_t begin = 0; begin < size; begin += slice) {
      const std::uint64_t length = std::min(slice, size - begin);
      found.rows(on, begin,
                 gather_maps(row_id_type::uint64, probes.data(),
                             pointer<std::uint64_t>(out) + begin, length));
    }
  });
}

// As of an index.
void bitset(const string_index& self, const session& from, address stream,
            const string_column& points, const no_column&, std::optional<std::uint64_t> rows,
            nb::handle room) {
  const std::uint64_t size = rows.value_or(self.size);
  const auto words = words_of_bits(size, room);
  std::fill(words.begin(), words.end(), 0);
  self.with(from, stream, points, join_kind::inner, [&](const context& on, const joined& found) {
    for_each_slice(on, found, [&](const auto& /*probes*/, const auto& builds) {
      for (const std::uint64_t row : builds) {
        if (row >= size)
          throw invalid_argument("size: " + std::to_string(size) +
                                 ", but the index has rows up to " + std::to_string(self.size - 1));
        words[row / 32] |= std::uint32_t{1} << row % 32;
      }
    });
  });
}

std::unique_ptr<joined_handle> match(const string_index& self, const session& from, address stream,
                                     const string_column& points, const std::string& how) {
  return self.join.shared([&](const join& one) {
    return std::make_unique<joined_handle>(
        one.match(context_of(from, stream), {points}, kind_of(how)), "join", one.info().where);
  });
}

}  // namespace

void bind_strings(nb::module_& to) {
  using nb::arg;
  nb::class_<string_index>(to, "StringIndex")
      .def("__init__", build, arg("session"), arg("stream"), arg("keys"), arg("structure"),
           arg("options"), without_gil())
      .def("info", info,
           nb::sig("def info(self) -> tuple[str, str, str, int, int, int, int, str, int, int]"))
      .def("first", first, arg("session"), arg("stream"), arg("points"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("count", count, arg("session"), arg("stream"), arg("points"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("contains", contains, arg("session"), arg("stream"), arg("points"), arg("upper").none(),
           arg("out"), arg("size"), without_gil())
      .def("rows", rows, arg("session"), arg("stream"), arg("points"), arg("upper").none(),
           arg("begins"), arg("count"), arg("room"), without_gil())
      .def("bitset", bitset, arg("session"), arg("stream"), arg("points"), arg("upper").none(),
           arg("rows").none(), arg("room"), without_gil())
      .def("match", match, arg("session"), arg("stream"), arg("points"), arg("how"),
           nb::keep_alive<0, 1>(), without_gil())
      .def(
          "close", [](string_index& self, nb::handle before) { self.join.close(before); },
          arg("before") = nb::none(), without_gil());
}

}  // namespace raydex::python
