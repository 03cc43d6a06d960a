// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace raydex::python {

namespace {

using optional_column = std::optional<column>;

std::unique_ptr<partition> divided(const std::string& where, const session& from, address stream,
                                   const column& lower, const optional_column& upper,
                                   const column& splitters) {
  return divide(context_of(from, stream), parse_backend(where), probes_of(lower, upper), splitters);
}

row_id_span sources_at(const partition& of, address first) {
  return {row_id_type::uint64, pointer<void>(first), of.size()};
}

void write(const partition& self, const session& from, address stream, const column& lower,
           const optional_column& upper, address sources, address lowers, address uppers) {
  self.write(context_of(from, stream), probes_of(lower, upper),
             {sources_at(self, sources), pointer<void>(lowers), pointer<void>(uppers)});
}

// Of points: the answer of each probe's only piece.
void put_together(const partition& self, const session& from, address stream, address sources,
                  const column& answers, address out, std::uint64_t size) {
  self.put_together(context_of(from, stream), sources_at(self, sources), answers,
                    piece_answer::replace, {answers.format, pointer<void>(out), size});
}

}  // namespace

void bind_partitions(nb::module_& to) {
  using nb::arg;
  nb::class_<partition>(to, "Partition")
      .def("counts", &partition::counts)
      .def("size", &partition::size)
      .def("write", write, arg("session"), arg("stream"), arg("lower"), arg("upper").none(),
           arg("sources"), arg("lowers"), arg("uppers"), without_gil())
      .def("put_together", put_together, arg("session"), arg("stream"), arg("sources"),
           arg("answers"), arg("out"), arg("size"), without_gil());
  to.attr("most_shards") = most_shards;
  // Its memory is the session's.
  to.def("divide", divided, arg("backend"), arg("session"), arg("stream"), arg("lower"),
         arg("upper").none(), arg("splitters"), nb::keep_alive<0, 2>(), without_gil());
}

}  // namespace raydex::python
