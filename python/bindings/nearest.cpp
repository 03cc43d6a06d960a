// SPDX-License-Identifier: Apache-2.0
// Nearest intervals and coverage.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "raydex/interval_coverage.hpp"
#include "raydex/nearest_join.hpp"

namespace raydex::python {

namespace {

using nearest_handle = handle<nearest_join>;
using coverage_handle = handle<interval_coverage>;

void build_nearest(nearest_handle* self, const std::string& backend_name, const session& from,
                   address stream, const column& lower, const column& upper, const key_parts& by) {
  const backend chosen = parse_backend(backend_name);
  new (self) nearest_handle(build_nearest_join(chosen, context_of(from, stream), lower, upper, by),
                            "join", chosen);
}

nearest_options options_of(std::uint64_t count, bool overlaps, const std::string& direction) {
  return {.count = count,
          .overlaps = overlaps,
          .before = direction != "forward",
          .after = direction != "backward"};
}

void match(const nearest_handle& self, const session& from, address stream, const column& lower,
           const column& upper, const key_parts& by, std::uint64_t count, bool overlaps,
           const std::string& direction, address rows, address distances, bool is_floating,
           std::uint64_t size) {
  const context on = context_of(from, stream);
  const nearest_options how = options_of(count, overlaps, direction);
  self.shared([&](const nearest_join& one) {
    if (is_floating) {
      one.match(on, lower, upper, by, how, row_ids_at(rows, size),
                span_at<double>(distances, size));
    } else {
      one.match(on, lower, upper, by, how, row_ids_at(rows, size),
                span_at<std::uint64_t>(distances, size));
    }
  });
}

std::unique_ptr<joined_handle> match_ties(const nearest_handle& self, const session& from,
                                          address stream, const column& lower, const column& upper,
                                          const key_parts& by, std::uint64_t count, bool overlaps,
                                          const std::string& direction, const std::string& how) {
  return self.shared([&](const nearest_join& one) {
    return std::make_unique<joined_handle>(
        one.match_ties(context_of(from, stream), lower, upper, by,
                       options_of(count, overlaps, direction), kind_of(how)),
        "join", one.info().where);
  });
}

void build_coverage(coverage_handle* self, const std::string& backend_name, const session& from,
                    address stream, const column& lower, const column& upper, const key_parts& by) {
  const backend chosen = parse_backend(backend_name);
  new (self) coverage_handle(
      build_interval_coverage(chosen, context_of(from, stream), lower, upper, by), "join", chosen);
}

void cover(const coverage_handle& self, const session& from, address stream, const column& lower,
           const column& upper, const key_parts& by, address out, std::uint64_t size) {
  self.shared([&](const interval_coverage& one) {
    one.match(context_of(from, stream), lower, upper, by, span_at<std::uint64_t>(out, size));
  });
}

}  // namespace

void bind_nearest(nb::module_& to) {
  using nb::arg;
  nb::class_<nearest_handle>(to, "NearestJoin")
      .def("__init__", build_nearest, arg("backend"), arg("session"), arg("stream"), arg("lower"),
           arg("upper"), arg("by"), without_gil())
      .def("match", match, arg("session"), arg("stream"), arg("lower"), arg("upper"), arg("by"),
           arg("count"), arg("overlaps"), arg("direction"), arg("rows"), arg("distances"),
           arg("is_floating"), arg("size"), without_gil())
      .def("match_ties", match_ties, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("by"), arg("count"), arg("overlaps"), arg("direction"), arg("how"),
           nb::keep_alive<0, 1>(), without_gil());
  nb::class_<coverage_handle>(to, "IntervalCoverage")
      .def("__init__", build_coverage, arg("backend"), arg("session"), arg("stream"), arg("lower"),
           arg("upper"), arg("by"), without_gil())
      .def("match", cover, arg("session"), arg("stream"), arg("lower"), arg("upper"), arg("by"),
           arg("out"), arg("size"), without_gil());
}

}  // namespace raydex::python
