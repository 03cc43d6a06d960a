// SPDX-License-Identifier: Apache-2.0
// Fills a backend's memory with a workload on minima.
#include "lab/workloads/minima/rmq_generated.hpp"

#include <span>
#include <vector>

namespace raydex::bench {
namespace {

// Refuses what cannot be made before any work.
const rmq_workload& checked(const rmq_workload& spec) {
  check(spec);
  return spec;
}

}  // namespace

rmq_generated::rmq_generated(const rmq_workload& spec, machine& target) : workload_(checked(spec)) {
  const session& on = target.on();
  values_ = buffer<std::byte>(on, spec.keys * spec.value.width);
  if (spec.file) {
    on.copy_in(values_.data(), spec.file->cells.get(), values_.bytes());
  } else {
    target.fill_values(make_value_set(spec), spec.value.type, values_.data());
  }

  reference_ = {.values = values_.data(), .type = spec.value.type, .n = spec.keys};
  minima_ = buffer<std::uint64_t>(on, reference_.blocks());
  rows_ = buffer<std::uint32_t>(on, reference_.rows() * reference_.blocks());
  reference_.minima = minima_.data();
  reference_.row_above = rows_.data();
  target.fill_reference(reference_, minima_.data(), rows_.data());

  const int bits = spec.position_bits;
  ends_ = buffer<std::byte>(on, 2 * spec.probes * static_cast<std::uint64_t>(bits / 8));
  if (spec.probes != 0) {
    const auto quantiles = [&](range_kind kind) {
      return on.upload(length_quantiles(kind, spec.keys));
    };
    const buffer<std::uint64_t> medium = quantiles(range_kind::medium);
    const buffer<std::uint64_t> small = quantiles(range_kind::small);
    const range_set set{spec.ranges, spec.keys, spec.seed, medium.data(), small.data()};
    target.fill_ranges(set, {ends_.data(), 2 * spec.probes, bits});
  }
  on.synchronize();
}

column rmq_generated::array() const {
  return {workload_.value, values_.data(), workload_.keys};
}

probes rmq_generated::ranges() const {
  const key_format format =
      workload_.position_bits == 32 ? format_of<std::uint32_t> : format_of<std::uint64_t>;
  column lower(format, ends_.data(), workload_.probes);
  lower.stride = 2 * std::uint64_t{format.width};
  column upper = lower;
  if (ends_.data() != nullptr) upper.data = ends_.data() + format.width;
  return raydex::ranges(lower, upper);
}

}  // namespace raydex::bench
