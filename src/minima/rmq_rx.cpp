// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_rx.hpp"

#include "raydex/error.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/minima.hpp"

namespace raydex {

std::unique_ptr<rmq> build_rmq_rx(backend where, const context& where_to, const column& values,
                                  const rmq_rx_options& options) try {
  check_rmq_build("rmq_rx", where, where_to, values);
  check(rmq_rx_table, options);
  rmq_info info = describe_rmq("rmq_rx", where, values);
  info.options = describe(rmq_rx_table, options);
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::build(info, where_to, values, options);
#endif
  return cpu::build(info, where_to, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
