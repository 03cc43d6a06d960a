// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include <vector>

#include "bindings.hpp"

namespace raydex::python {

namespace {

std::unique_ptr<rmq> build_maxima(const std::string& structure, backend where, const context& on,
                                  const column& values, option_map options) {
  options["extreme"] = "maximum";
  return build_rmq(structure, where, on, values, options);
}

// `minima`, `maxima`: what it answers.
void build_minima(rmq_handle* self, const std::string& structure, const std::string& backend_name,
                  const session& from, address stream, const column& values,
                  const option_map& options, bool minima, bool maxima) {
  const backend chosen = parse_backend(backend_name);
  auto made = std::make_unique<extremes>();
  if (minima)
    made->minima = build_rmq(structure, chosen, context_of(from, stream), values, options);
  if (maxima)
    made->maxima = build_maxima(structure, chosen, context_of(from, stream), values, options);
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

// What a file has: of both, minima.
const rmq& kept(const extremes& one) {
  return one.minima != nullptr ? *one.minima : *one.maxima;
}

void save_minima(const rmq_handle& self, const session& from, address stream, const nb::bytes& path,
                 const nb::bytes& note) {
  self.shared([&](const extremes& one) {
    save(context_of(from, stream), kept(one), std::string(text_of(path)), text_of(note));
  });
}

nb::bytes minima_bytes(const rmq_handle& self, const session& from, address stream,
                       const nb::bytes& note) {
  return bytes_of(unlocked([&] {
    return self.shared([&](const extremes& one) {
      return to_bytes(context_of(from, stream), kept(one), text_of(note));
    });
  }));
}

nb::tuple minima_of_bytes(const std::string& backend_name, const session& from, address stream,
                          const nb::bytes& kept, bool verify) {
  const backend where = parse_backend(backend_name);
  return handle_and_note(unlocked([&] {
                           return rmq_from_bytes(where, context_of(from, stream), span_of(kept),
                                                 {.verify = verify});
                         }),
                         where);
}

// Beside minima that were loaded, over their array.
void add_maxima(rmq_handle& self, const session& from, address stream, const option_map& options) {
  self.alone([&](extremes& one) {
    const rmq_info& info = one.minima->info();
    one.maxima = build_maxima(info.structure, info.where, context_of(from, stream),
                              {info.value, info.array, info.n}, options);
  });
}

}  // namespace

nb::tuple handle_and_note(loaded_rmq made, backend where) {
  const bool is_of_minima = made.held->info().extreme == rmq_extreme::minimum;
  auto both = std::make_unique<extremes>();
  (is_of_minima ? both->minima : both->maxima) = std::move(made.held);
  return nb::make_tuple(std::make_unique<rmq_handle>(std::move(both), "rmq", where),
                        nb::bytes(made.note.data(), made.note.size()));
}

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
      .def("save", save_minima, arg("session"), arg("stream"), arg("path"), arg("note"),
           without_gil())
      .def("to_bytes", minima_bytes, arg("session"), arg("stream"), arg("note"))
      .def_static("from_bytes", minima_of_bytes, arg("backend"), arg("session"), arg("stream"),
                  arg("kept"), arg("verify"),
                  nb::sig("def from_bytes(backend: str, session: Session, stream: int, kept: "
                          "bytes, verify: bool) -> tuple[Rmq, bytes]"))
      .def("add_maxima", add_maxima, arg("session"), arg("stream"), arg("options"), without_gil())
      .def("refresh", refresh, arg("stream"), arg("positions"), arg("before").none(), without_gil())
      .def("close", &rmq_handle::close, arg("before") = nb::none(), without_gil());
}

}  // namespace raydex::python
