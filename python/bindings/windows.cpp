// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace raydex::python {

namespace {

using window_handle = handle<window_join>;
using any_distance = std::variant<std::uint64_t, double>;

key_distance distance_of(const any_distance& distance) {
  return std::visit([](auto number) { return key_distance(number); }, distance);
}

closed_ends closed_of(const std::string& name) {
  if (name == "left") return closed_ends::left;
  if (name == "right") return closed_ends::right;
  return name == "both" ? closed_ends::both : closed_ends::neither;
}

void build(window_handle* self, const std::string& backend_name, const session& from,
           address stream, const column& times, const key_parts& by,
           const std::optional<column>& values, bool sums, bool minima, bool maxima) {
  const backend chosen = parse_backend(backend_name);
  new (self) window_handle(build_window_join(chosen, context_of(from, stream), times, by, values,
                                             {.sums = sums, .minima = minima, .maxima = maxima}),
                           "join", chosen);
}

std::unique_ptr<windowed> match(const window_handle& self, const session& from, address stream,
                                const column& times, const key_parts& by,
                                const any_distance& before, const any_distance& after,
                                const std::string& closed, bool own) {
  const context on = context_of(from, stream);
  const time_window window{distance_of(before), distance_of(after), closed_of(closed)};
  return self.shared([&](const window_join& one) {
    return own ? one.match_own(on, times, by, window) : one.match(on, times, by, window);
  });
}

std::unique_ptr<windowed> match_ranges(const window_handle& self, const session& from,
                                       address stream, const column& lower, const column& upper,
                                       const key_parts& by) {
  return self.shared([&](const window_join& one) {
    return one.match(context_of(from, stream), ranges(lower, upper), by);
  });
}

void count(const windowed& self, const session& from, address stream, address out) {
  self.count(context_of(from, stream), span_at<std::uint64_t>(out, self.size()));
}

void sum(const windowed& self, const session& from, address stream, const key_format& format,
         address out) {
  const context on = context_of(from, stream);
  switch (format.type) {
    case key_type::int32:
    case key_type::int64:
      return self.sum(on, span_at<std::int64_t>(out, self.size()));
    case key_type::float32:
    case key_type::float64:
      return self.sum(on, span_at<double>(out, self.size()));
    default:
      self.sum(on, span_at<std::uint64_t>(out, self.size()));
  }
}

void mean(const windowed& self, const session& from, address stream, address out) {
  self.mean(context_of(from, stream), span_at<double>(out, self.size()));
}

template <auto Ask>
void value(const windowed& self, const session& from, address stream, const key_format& format,
           address out) {
  (self.*Ask)(context_of(from, stream), value_span(format, pointer<void>(out), self.size()));
}

template <auto Ask>
void row(const windowed& self, const session& from, address stream, address out) {
  (self.*Ask)(context_of(from, stream), row_ids_at(out, self.size()));
}

}  // namespace

void bind_windows(nb::module_& to) {
  using nb::arg;
  nb::class_<windowed> windows(to, "Windowed");
  const auto counted = [&](const char* name, auto call) {
    windows.def(name, call, arg("session"), arg("stream"), arg("out"), without_gil());
  };
  const auto valued = [&](const char* name, auto call) {
    windows.def(name, call, arg("session"), arg("stream"), arg("format"), arg("out"),
                without_gil());
  };
  counted("count", count);
  valued("sum", sum);
  counted("mean", mean);
  valued("min", value<&windowed::minimum>);
  valued("max", value<&windowed::maximum>);
  valued("first", value<&windowed::first>);
  valued("last", value<&windowed::last>);
  counted("argmin", row<&windowed::argmin>);
  counted("argmax", row<&windowed::argmax>);
  nb::class_<window_handle>(to, "WindowJoin")
      .def("__init__", build, arg("backend"), arg("session"), arg("stream"), arg("times"),
           arg("by"), arg("values").none(), arg("sums"), arg("minima"), arg("maxima"),
           without_gil())
      .def("match", match, arg("session"), arg("stream"), arg("times"), arg("by"), arg("before"),
           arg("after"), arg("closed"), arg("own"), nb::keep_alive<0, 1>(), without_gil())
      .def("match_ranges", match_ranges, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("by"), nb::keep_alive<0, 1>(), without_gil());
}

}  // namespace raydex::python
