// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_lca.hpp"

#include "src/cpu/minima/rmq_executor.hpp"

namespace raydex::cpu {

std::unique_ptr<rmq> build(const rmq_info& info, const context& where_to, const column& values,
                           const rmq_lca_options& options) {
  return make_rmq_lca<rmq_executor>(info, where_to, values, options);
}

}  // namespace raydex::cpu
