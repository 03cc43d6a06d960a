// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_rx.hpp"

#include "src/optix/engine/ray_engine.cuh"

namespace raydex::optix {

std::unique_ptr<rmq> build(const rmq_info& info, const context& on, const column& values,
                           const rmq_rx_options& options) {
  return std::make_unique<built_rmq_rx<ray_engine>>(info, on, values, options);
}

}  // namespace raydex::optix
