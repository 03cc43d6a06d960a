// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_rx.hpp"

#include <fmt/format.h>

#include <bit>

#include "raydex/error.hpp"
#include "src/interface/rmq_checks.hpp"

namespace raydex {

namespace {

void check_options(const rmq_rx_options& options) {
  constexpr unsigned least = 1U << core::rmq_ray_scene::least_block_bits;
  constexpr unsigned most = 1U << core::rmq_ray_scene::most_block_bits;
  if (options.block >= least && options.block <= most && std::has_single_bit(options.block)) return;
  throw invalid_argument(fmt::format("option block: {} is not a power of 2 from {} to {}",
                                     options.block, least, most));
}

std::string describe(const rmq_rx_options& options) {
  return fmt::format("{} block={} compact={} build={}", raydex::describe(options.ties),
                     options.block,
                     !options.compact   ? "auto"
                     : *options.compact ? "on"
                                        : "off",
                     options.fast_build ? "fast" : "trace");
}

}  // namespace

std::unique_ptr<rmq> build_rmq_rx(backend where, const context& where_to, const column& values,
                                  const rmq_rx_options& options) try {
  check_rmq_build("rmq_rx", where, where_to, values);
  check_options(options);
  rmq_info info = describe_rmq("rmq_rx", where, values);
  info.options = describe(options);
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::build(info, where_to, values, options);
#endif
  return cpu::build(info, where_to, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
