// SPDX-License-Identifier: Apache-2.0
// What the backends' lowest common ancestors have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "raydex/core/minima/rmq_lca.hpp"
#include "raydex/rmq_lca.hpp"
#include "src/operations/minima/built_rmq.hpp"

namespace raydex {

enum class lca_step : std::uint8_t { minima, labels, heads, ascendants };

// A step of the build, for the numbers `first + i * stride`.
template <lca_step Step, class Value, class Place>
struct run_lca_step {
  core::lca_build<Value, Place> build;
  std::uint64_t first;
  std::uint64_t stride;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto number = static_cast<Place>(first + i * stride);
    if constexpr (Step == lca_step::minima) build.take_minimum(number);
    if constexpr (Step == lca_step::labels) build.find_label(number);
    if constexpr (Step == lca_step::heads) build.find_head(number);
    if constexpr (Step == lca_step::ascendants) build.take_ascendants(number);
  }
};

// Does all steps; the labels of one height at a time, which are the odd multiples of `bit`.
template <class Executor, class Value, class Place>
void run_lca_steps(const context& on, const core::lca_build<Value, Place>& build) {
  const auto run = [&]<lca_step Step>(std::uint64_t first, std::uint64_t stride,
                                      std::uint64_t count) {
    Executor::for_each_alone(on, run_lca_step<Step, Value, Place>{build, first, stride}, count);
  };
  const std::uint64_t n = build.size();
  std::uint64_t bit = 2;
  for (; (n + 1) / (2 * bit) != 0; bit *= 2)
    run.template operator()<lca_step::minima>(bit, 2 * bit, (n + 1) / (2 * bit));
  run.template operator()<lca_step::labels>(1, 1, n);
  for (; bit != 0; bit /= 2)
    run.template operator()<lca_step::heads>(bit, 2 * bit, (n / bit + 1) / 2);
  run.template operator()<lca_step::ascendants>(1, 1, n);
}

template <class Value, class Place, class Executor>
class built_rmq_lca final : public built_rmq<core::rmq_lca_view<Value, Place>, Executor> {
 public:
  built_rmq_lca(const rmq_info& info, const context& on, const column& values,
                const rmq_lca_options& options)
      : built_rmq_lca::built_rmq(info, on.memory),
        ascendants_({this->memory(), on.stream}, values.size),
        head_parents_({this->memory(), on.stream}, values.size) {
    const core::value_array<Value> array = array_of<Value>(values, options.extreme);
    const bool rightmost = options.ties == rmq_ties::rightmost;
    run_lca_steps<Executor>(on, core::lca_build<Value, Place>{array, rightmost, ascendants_.data(),
                                                              head_parents_.data()});
    this->set_view({array, rightmost, ascendants_.data(), head_parents_.data()});
    this->measure();
  }

 private:
  buffer<Place> ascendants_;
  buffer<core::lca_node<Value, Place>> head_parents_;
};

template <class Executor>
std::unique_ptr<rmq> make_rmq_lca(const rmq_info& info, const context& on, const column& values,
                                  const rmq_lca_options& options) {
  return dispatch_values(
      values, options.extreme, [&]<class Value, class Place>() -> std::unique_ptr<rmq> {
        return std::make_unique<built_rmq_lca<Value, Place, Executor>>(info, on, values, options);
      });
}

}  // namespace raydex
