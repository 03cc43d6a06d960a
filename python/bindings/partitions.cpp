// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace raydex::python {

namespace {

using optional_column = std::optional<column>;

std::unique_ptr<partition> divided(const std::string& backend_name, const session& from,
                                   address stream, const column& lower,
                                   const optional_column& upper, const column& splitters,
                                   std::uint64_t unit) {
  return divide(parse_backend(backend_name), context_of(from, stream), probes_of(lower, upper),
                splitters, unit);
}

void write(const partition& self, const session& from, address stream, const column& lower,
           const optional_column& upper, address sources, unsigned source_bits, address lowers,
           address uppers) {
  self.write(context_of(from, stream), probes_of(lower, upper),
             {row_ids_at(sources, self.size(), source_bits), pointer<void>(lowers),
              pointer<void>(uppers)});
}

// Of points: the answer of each probe's only piece. `out`: numbers of the answers' format, or with
// `widen` int64.
void put_together(const partition& self, const session& from, address stream, address sources,
                  unsigned source_bits, const column& answers, address out, std::uint64_t size,
                  bool widen) {
  const key_format format = widen ? key_format{key_type::int64} : answers.format;
  self.put_together(context_of(from, stream), row_ids_at(sources, self.size(), source_bits),
                    answers, piece_answer::replace, {format, pointer<void>(out), size});
}

}  // namespace

void bind_partitions(nb::module_& to) {
  using nb::arg;
  nb::class_<partition>(to, "Partition")
      .def("counts", &partition::counts)
      .def("size", &partition::size)
      .def("write", write, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("sources"), arg("source_bits"), arg("lowers"), arg("uppers"), without_gil())
      .def("put_together", put_together, arg("session"), arg("stream"), arg("sources"),
           arg("source_bits"), arg("answers"), arg("out"), arg("size"), arg("widen"),
           without_gil());
  to.attr("most_shards") = most_shards;
  // Its memory is the session's.
  to.def("divide", divided, arg("backend"), arg("session"), arg("stream"), arg("lower"),
         arg("upper").none(), arg("splitters"), arg("unit"), nb::keep_alive<0, 2>(), without_gil());
}

}  // namespace raydex::python
