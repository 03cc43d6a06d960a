// SPDX-License-Identifier: Apache-2.0
// The checks that every call of an aggregate goes through.
#include "raydex/aggregate.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

aggregate::aggregate(const index& over, memory_resource& upstream)
    : over_(&over), edits_(over.changes_), memory_(upstream) {}
aggregate::~aggregate() = default;

void aggregate::measure() noexcept {
  info_.resident_bytes = memory_.current();
  info_.build_peak_bytes = memory_.peak();
}

void aggregate::check(const context& on, const probes& batch, std::uint64_t out_size) const {
  over_->check(on, batch, out_size);
  check_unedited();
}

void aggregate::check_unedited() const {
  if (over_->changes_ != edits_) {
    throw invalid_argument("aggregate: its index was edited after it was built; build another one");
  }
}

void aggregate::check_part(bool built, const char* option) const {
  if (built && (info_.value || option == std::string_view("first_rows"))) return;
  throw unsupported(info_.value ? fmt::format("aggregate: it was built without {}", option)
                                : "aggregate: it was built without values");
}

void aggregate::check_sum(bool fits, const char* legal) const {
  check_part(info_.parts.sums, "sums");
  if (!fits) {
    throw invalid_argument(fmt::format("out: the values are {}; this output takes sums of {}",
                                       to_string(*info_.value), legal));
  }
}

void aggregate::check_extreme(const context& on, const probes& batch, const value_span& out) const {
  check(on, batch, out.size);
  if (out.format != *info_.value) {
    throw invalid_argument(fmt::format("out: its values are {}, but those of the aggregate are {}",
                                       to_string(out.format), to_string(*info_.value)));
  }
  check_array("out", out.data, out.size, out.format.width);
}

void aggregate::count(const context& on, const probes& batch, std::span<std::uint64_t> out) const
    try {
  check(on, batch, out.size());
  over_->count(on, batch, out);
} catch (...) {
  rethrow_as_error();
}

void aggregate::count_values(const context& on, const probes& batch,
                             std::span<std::uint64_t> out) const try {
  if (!info_.value) check_part(false, "values");
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_count_values(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void aggregate::sum(const context& on, const probes& batch, std::span<std::uint64_t> out) const
    try {
  const key_type type = info_.value ? info_.value->type : key_type::bytes;
  check_sum(type == key_type::uint32 || type == key_type::uint64, "uint32 or uint64");
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_sum(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void aggregate::sum(const context& on, const probes& batch, std::span<std::int64_t> out) const try {
  const key_type type = info_.value ? info_.value->type : key_type::bytes;
  check_sum(type == key_type::int32 || type == key_type::int64, "int32 or int64");
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_sum(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void aggregate::sum(const context& on, const probes& batch, std::span<double> out) const try {
  const key_type type = info_.value ? info_.value->type : key_type::bytes;
  check_sum(type == key_type::float32 || type == key_type::float64, "float or double");
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_sum(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void aggregate::mean(const context& on, const probes& batch, std::span<double> out) const try {
  check_part(info_.parts.sums, "sums");
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_mean(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void aggregate::minimum(const context& on, const probes& batch, const value_span& out) const try {
  check_part(info_.parts.minima, "minima");
  check_extreme(on, batch, out);
  if (batch.size() != 0) do_extreme(on, batch, false, out.data);
} catch (...) {
  rethrow_as_error();
}

void aggregate::maximum(const context& on, const probes& batch, const value_span& out) const try {
  check_part(info_.parts.maxima, "maxima");
  check_extreme(on, batch, out);
  if (batch.size() != 0) do_extreme(on, batch, true, out.data);
} catch (...) {
  rethrow_as_error();
}

void aggregate::first(const context& on, const probes& batch, const row_id_span& out) const try {
  check_part(info_.parts.first_rows, "first_rows");
  check(on, batch, out.size);
  const index_info& info = over_->info();
  check_row_ids(out, info.row_ids, "the index");
  if (batch.size() == 0) return;
  write_row_ids(on, info.where, info.row_ids, out, [&](void* rows) { do_first(on, batch, rows); });
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<aggregate> build_aggregate(const context& on, const index& over,
                                           const std::optional<column>& values,
                                           const aggregate_options& options) try {
  const index_info& info = over.info();
  check_space(on, info.where);
  over.check_ranks("aggregate");
  if (values) {
    over.check_values(*values);
    if (values->format.type == key_type::bytes) {
      throw invalid_argument(
          fmt::format("values: they are {}; aggregates are of numbers", to_string(values->format)));
    }
  }
  return operation_on(info.where, &operation_table::build_aggregate)(on, over, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
