// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.hpp"

namespace raydex::python {

namespace {

using rmq_handle = handle<rmq>;

void build_minima(rmq_handle* self, const std::string& structure, const std::string& where,
                  const session& from, address stream, const column& values,
                  const option_map& options) {
  const backend on = parse_backend(where);
  new (self)
      rmq_handle(build_rmq(structure, on, context_of(from, stream), values, options), "rmq", on);
}

nb::tuple info(const rmq_handle& self) {
  const rmq_info of = [&] {
    const nb::gil_scoped_release unlocked;  // a refresh may be under way
    return self.shared([](const rmq& one) { return one.info(); });
  }();
  return nb::make_tuple(of.structure, to_string(of.where), to_string(of.value), of.n, of.options,
                        of.resident_bytes, of.build_peak_bytes);
}

void minimum(const rmq_handle& self, const session& from, address stream, const column& lower,
             const column& upper, const key_format& format, address out, std::uint64_t size) {
  self.shared([&](const rmq& one) {
    one.minimum(context_of(from, stream), ranges(lower, upper),
                value_span(format, pointer<void>(out), size));
  });
}

void maximum(const rmq_handle& self, const session& from, address stream, const column& lower,
             const column& upper, const key_format& format, address out, std::uint64_t size) {
  self.shared([&](const rmq& one) {
    one.maximum(context_of(from, stream), ranges(lower, upper),
                value_span(format, pointer<void>(out), size));
  });
}

void position(const rmq_handle& self, const session& from, address stream, const column& lower,
              const column& upper, address out, std::uint64_t size) {
  self.shared([&](const rmq& one) {
    one.position(context_of(from, stream), ranges(lower, upper), span_at<std::uint64_t>(out, size));
  });
}

void check(const rmq_handle& self, const session& from, address stream, const column& lower,
           const column& upper) {
  self.shared([&](const rmq& one) { one.check(context_of(from, stream), ranges(lower, upper)); });
}

void refresh(rmq_handle& self, address stream, const column& positions) {
  self.alone([&](rmq& one) { one.refresh(pointer<CUstream_st>(stream), positions); });
}

}  // namespace

void bind_minima(nb::module_& to) {
  using nb::arg;
  nb::class_<rmq_handle>(to, "Rmq")
      .def("__init__", build_minima, arg("structure"), arg("backend"), arg("session"),
           arg("stream"), arg("values"), arg("options"), without_gil())
      .def("info", info, nb::sig("def info(self) -> tuple[str, str, str, int, str, int, int]"))
      .def("minimum", minimum, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("format"), arg("out"), arg("size"), without_gil())
      .def("maximum", maximum, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("format"), arg("out"), arg("size"), without_gil())
      .def("position", position, arg("session"), arg("stream"), arg("lower"), arg("upper"),
           arg("out"), arg("size"), without_gil())
      .def("check", check, arg("session"), arg("stream"), arg("lower"), arg("upper"), without_gil())
      .def("refresh", refresh, arg("stream"), arg("positions"), without_gil())
      .def("close", &rmq_handle::close, without_gil());
}

}  // namespace raydex::python
