// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <vector>

#include "bindings.hpp"

namespace raydex::python {

namespace {

// Two structures over one array, or one of them: asked and changed as one.
struct extremes {
  std::unique_ptr<rmq> minima;
  std::unique_ptr<rmq> maxima;

  const rmq& rmq_of(bool largest) const { return largest ? *maxima : *minima; }
};
using rmq_handle = handle<extremes>;

// `minima`, `maxima`: what it answers.
void build_minima(rmq_handle* self, const std::string& structure, const std::string& backend_name,
                  const session& from, address stream, const column& values,
                  const option_map& options, bool minima, bool maxima) {
  const backend chosen = parse_backend(backend_name);
  auto made = std::make_unique<extremes>();
  if (minima)
    made->minima = build_rmq(structure, chosen, context_of(from, stream), values, options);
  if (maxima) {
    option_map of_maxima = options;
    of_maxima["extreme"] = "maximum";
    made->maxima = build_rmq(structure, chosen, context_of(from, stream), values, of_maxima);
  }
  new (self) rmq_handle(std::move(made), "rmq", chosen);
}

// Of each that there is, minima first.
nb::list info(const rmq_handle& self) {
  std::vector<rmq_info> all;
  {
    const nb::gil_scoped_release unlocked;  // a refresh may be under way
    self.shared([&](const extremes& one) {
      for (const auto* const extreme : {&one.minima, &one.maxima})
        if (*extreme != nullptr) all.push_back((*extreme)->info());
    });
  }
  nb::list found;
  for (const rmq_info& info : all) {
    found.append(nb::make_tuple(info.structure, to_string(info.where), to_string(info.value),
                                info.n, info.options, info.resident_bytes, info.build_peak_bytes));
  }
  return found;
}

// The smallest value of each range, or the largest one.
void value(const rmq_handle& self, const session& from, address stream, const column& lower,
           const column& upper, bool largest, const key_format& format, address out,
           std::uint64_t size) {
  const context on = context_of(from, stream);
  const probes batch = ranges(lower, upper);
  const value_span values(format, pointer<void>(out), size);
  self.shared([&](const extremes& one) {
    largest ? one.rmq_of(true).maximum(on, batch, values)
            : one.rmq_of(false).minimum(on, batch, values);
  });
}

void position(const rmq_handle& self, const session& from, address stream, const column& lower,
              const column& upper, bool largest, address out, std::uint64_t size) {
  self.shared([&](const extremes& one) {
    one.rmq_of(largest).position(context_of(from, stream), ranges(lower, upper),
                                 span_at<std::uint64_t>(out, size));
  });
}

void refresh(rmq_handle& self, address stream, const column& positions, nb::handle before) {
  self.alone([&](extremes& one) {
    before_change(before);
    for (auto* const extreme : {&one.minima, &one.maxima})
      if (*extreme != nullptr) (*extreme)->refresh(pointer<CUstream_st>(stream), positions);
  });
}

}  // namespace

void bind_minima(nb::module_& to) {
  using nb::arg;
  nb::class_<rmq_handle>(to, "Rmq")
      .def("__init__", build_minima, arg("structure"), arg("backend"), arg("session"),
           arg("stream"), arg("values"), arg("options"), arg("minima"), arg("maxima"),
           without_gil())
      .def("info", info,
           nb::sig("def info(self) -> list[tuple[str, str, str, int, str, int, int]]"))
      .def("value", value, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("largest"), arg("format"), arg("out"), arg("size"), without_gil())
      .def("position", position, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("largest"), arg("out"), arg("size"), without_gil())
      .def("refresh", refresh, arg("stream"), arg("positions"), arg("before").none(), without_gil())
      .def("close", &rmq_handle::close, arg("before") = nb::none(), without_gil());
}

}  // namespace raydex::python
