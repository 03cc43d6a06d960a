// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_lca.hpp"

#include "raydex/error.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/minima.hpp"

namespace raydex {

std::unique_ptr<rmq> build_rmq_lca(backend where, const context& where_to, const column& values,
                                   const rmq_lca_options& options) try {
  check_rmq_build("rmq_lca", where, where_to, values);
  check(rmq_lca_table, options);
  rmq_info info = describe_rmq("rmq_lca", where, values);
  info.options = describe(rmq_lca_table, options);
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) return cuda::build(info, where_to, values, options);
#endif
  return cpu::build(info, where_to, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
