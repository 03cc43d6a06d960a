// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_rx.hpp"

#include "src/cpu/minima/rmq_executor.hpp"
#include "src/cpu/rays/ray_engine.hpp"

namespace raydex::cpu {

namespace {

struct rmq_engine : ray_engine {
  using executor = rmq_executor;
};

}  // namespace

std::unique_ptr<rmq> build(const rmq_info& info, const context& where_to, const column& values,
                           const rmq_rx_options& options) {
  return std::make_unique<built_rmq_rx<rmq_engine>>(info, where_to, values, options);
}

}  // namespace raydex::cpu
