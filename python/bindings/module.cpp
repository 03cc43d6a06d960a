// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "bindings.hpp"
#include "raydex/estimate.hpp"

namespace raydex::python {

namespace {

// The exceptions of raydex._errors. They stay for good: errors may arrive until the process ends.
struct error_classes {
  nb::object error, invalid_argument, unsupported, unavailable, out_of_memory, cuda, optix;
};

void raise(const nb::object& type, const std::exception& error) {
  PyErr_SetString(type.ptr(), error.what());
}

void translate(const std::exception_ptr& thrown, void* payload) {
  const auto& to = *static_cast<const error_classes*>(payload);
  const auto raise_with = [](const nb::object& type, const std::exception& error, auto... numbers) {
    try {
      PyErr_SetObject(type.ptr(), type(error.what(), numbers...).ptr());
    } catch (nb::python_error& failed) {
      failed.restore();
    }
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const interrupted&) {
    // What ended the call has set it.
  } catch (const invalid_argument& error) {
    raise(to.invalid_argument, error);
  } catch (const unsupported& error) {
    raise(to.unsupported, error);
  } catch (const unavailable& error) {
    raise(to.unavailable, error);
  } catch (const out_of_memory& error) {
    raise_with(to.out_of_memory, error, error.asked(), error.free());
  } catch (const cuda_error& error) {
    raise_with(to.cuda, error, error.code());
  } catch (const optix_error& error) {
    raise_with(to.optix, error, error.code());
  } catch (const error& error) {
    raise(to.error, error);
  }
}

std::vector<std::string> names_of(const std::vector<key_type>& keys) {
  std::vector<std::string> names;
  for (const key_type key : keys)
    names.push_back(key == key_type::bytes ? "bytes" : to_string(key_format(key)));
  return names;
}

nb::list structures() {
  nb::list all;
  for (const capability& one : capabilities()) {
    all.append(nb::make_tuple(one.structure, to_string(one.where), one.available, one.reason,
                              one.points, one.ranges, false, one.duplicates, one.updates,
                              names_of(one.keys)));
  }
  for (const rmq_capability& one : rmq_capabilities()) {
    all.append(nb::make_tuple(one.structure, to_string(one.where), one.available, one.reason, false,
                              false, true, true, one.updates, names_of(one.values)));
  }
  return all;
}

nb::list options(const std::string& structure) {
  nb::list all;
  for (const option_info& one : options_of(structure)) {
    all.append(
        nb::make_tuple(one.name, one.values, one.usual, one.meaning, one.with, one.of_a_paper));
  }
  return all;
}

// `different` and `span`: 0 if nobody knows.
nb::tuple estimate_index(const std::string& structure, const std::string& backend_name,
                         const key_format& key, std::uint64_t n, bool wide_rows, bool ascending,
                         std::uint64_t different, std::uint64_t span, const option_map& options) {
  const memory_estimate found =
      estimate(structure, parse_backend(backend_name),
               {.n = n,
                .key = key,
                .row_ids = wide_rows ? row_id_type::uint64 : row_id_type::uint32,
                .ascending = ascending,
                .different = different,
                .span = span},
               options);
  const probe_bytes& each = found.per_probe;
  nb::dict calls;
  calls["first"] = each.first;
  calls["contains"] = each.contains;
  calls["count"] = each.count;
  calls["sum"] = each.sum;
  calls["rank"] = each.rank;
  calls["closest"] = each.closest;
  calls["rows"] = each.rows;
  calls["match"] = each.match;
  return nb::make_tuple(found.structure, found.resident_bytes, found.build_peak_bytes, calls);
}

// Its last two numbers: what calls take for each range, of a value and of a position.
nb::tuple estimate_minima(const std::string& structure, const std::string& backend_name,
                          const key_format& value, std::uint64_t n, const option_map& options) {
  const rmq_estimate found =
      estimate_rmq(structure, parse_backend(backend_name), n, value, options);
  return nb::make_tuple(found.structure, found.resident_bytes, found.build_peak_bytes,
                        found.per_probe.extreme, found.per_probe.position);
}

// Bytes held and at the peak of a build; then what calls take for each probe.
nb::tuple estimate_values(const std::string& backend_name, std::uint64_t n, bool wide_rows,
                          const std::optional<key_format>& value, bool missing, bool finite,
                          bool sums, bool minima, bool maxima, bool first_rows) {
  std::optional<value_facts> values;
  if (value) values = {.format = *value, .missing = missing, .finite = finite};
  const aggregate_estimate found = estimate_aggregate(
      parse_backend(backend_name),
      {.n = n, .row_ids = wide_rows ? row_id_type::uint64 : row_id_type::uint32}, values,
      {.sums = sums, .minima = minima, .maxima = maxima, .first_rows = first_rows});
  const aggregate_probe_bytes& each = found.per_probe;
  return nb::make_tuple(found.resident_bytes, found.build_peak_bytes, each.count_values, each.sum,
                        each.extreme, each.first);
}

// What shows how far calls of a thread are.
thread_local nb::handle shown;

}  // namespace

bool answering_python::is_to_raise(const progress& at) {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) return true;
  if (!shown) return false;
  try {
    shown(at.stage, at.step, at.steps);
    return false;
  } catch (nb::python_error& failed) {
    failed.restore();
    return true;
  }
}

void bind_errors(nb::module_& to) {
  const nb::module_ errors = nb::module_::import_("raydex._errors");
  auto* const classes = new error_classes{
      errors.attr("Error"),       errors.attr("InvalidArgument"), errors.attr("Unsupported"),
      errors.attr("Unavailable"), errors.attr("OutOfMemory"),     errors.attr("CudaError"),
      errors.attr("OptixError")};
  nb::register_exception_translator(translate, classes);

  // The caller keeps it until it is replaced.
  to.def(
      "show_progress", [](nb::handle show) { shown = show.is_none() ? nb::handle() : show; },
      nb::arg("show").none(), nb::sig("def show_progress(show: object | None) -> None"));
  to.def("version", [] { return RAYDEX_VERSION; });
  to.def("why_unavailable", [](const std::string& backend_name) {
    return why_unavailable(parse_backend(backend_name));
  });
  to.def(
      "structures", structures,
      nb::sig("def structures() -> list[tuple[str, str, bool, str, bool, bool, bool, bool, bool, "
              "list[str]]]"));
  to.def("options", options, nb::arg("structure"),
         nb::sig("def options(structure: str) -> list[tuple[str, str, str, str, str, bool]]"));
  to.def(
      "estimate", estimate_index, nb::arg("structure"), nb::arg("backend"), nb::arg("key"),
      nb::arg("n"), nb::arg("wide_rows"), nb::arg("ascending"), nb::arg("different"),
      nb::arg("span"), nb::arg("options"),
      nb::sig("def estimate(structure: str, backend: str, key: Format, n: int, wide_rows: bool, "
              "ascending: bool, different: int, span: int, options: dict[str, str]) -> tuple[str, "
              "int, int, dict[str, int]]"));
  to.def("estimate_rmq", estimate_minima, nb::arg("structure"), nb::arg("backend"),
         nb::arg("value"), nb::arg("n"), nb::arg("options"),
         nb::sig("def estimate_rmq(structure: str, backend: str, value: Format, n: int, options: "
                 "dict[str, str]) -> tuple[str, int, int, int, int]"));
  to.def("estimate_aggregate", estimate_values, nb::arg("backend"), nb::arg("n"),
         nb::arg("wide_rows"), nb::arg("value").none(), nb::arg("missing"), nb::arg("finite"),
         nb::arg("sums"), nb::arg("minima"), nb::arg("maxima"), nb::arg("first_rows"),
         nb::sig("def estimate_aggregate(backend: str, n: int, wide_rows: bool, value: Format | "
                 "None, missing: bool, finite: bool, sums: bool, minima: bool, maxima: bool, "
                 "first_rows: bool) -> tuple[int, int, int, int, int, int]"));

  nb::class_<session>(to, "Session")
      .def(
          "__init__",
          [](session* self, const std::string& backend_name) {
            new (self) session(parse_backend(backend_name));
          },
          nb::arg("backend"), without_gil());
}

}  // namespace raydex::python

NB_MODULE(_raydex, module) {
  using namespace raydex::python;
  // Processes of a cluster end with objects alive, and would each say so.
  nanobind::set_leak_warnings(false);
  bind_errors(module);
  bind_columns(module);
  bind_arrow(module);
  bind_arrow_stream(module);
  bind_index(module);
  bind_aggregates(module);
  bind_joins(module);
  bind_minima(module);
  bind_partitions(module);
  bind_windows(module);
  bind_nearest(module);
  bind_composite_keys(module);
  bind_jax(module);
}
