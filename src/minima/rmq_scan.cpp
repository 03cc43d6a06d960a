// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_scan.hpp"

#include "raydex/error.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/minima.hpp"

namespace raydex {

std::unique_ptr<rmq> build_rmq_scan(backend where, const context& where_to, const column& values,
                                    const rmq_scan_options& options) try {
  check_rmq_build("rmq_scan", where, where_to, values);
  check(rmq_scan_table, options);
  rmq_info info = describe_rmq("rmq_scan", where, values);
  info.options = describe(rmq_scan_table, options);
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) return cuda::build(info, where_to, values, options);
#endif
  return cpu::build(info, where_to, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
