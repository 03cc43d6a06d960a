// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_cover.hpp"

#include "raydex/error.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/minima.hpp"

namespace raydex {

rmq_cover::~rmq_cover() = default;

std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& where_to,
                                           const column& values,
                                           const rmq_cover_options& options) try {
  check_rmq_build("rmq_cover", where, where_to, values);
  check(rmq_cover_table, options);
  rmq_info info = describe_rmq("rmq_cover", where, values);
  info.options = describe(rmq_cover_table, options);
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) return cuda::build(info, where_to, values, options);
#endif
  return cpu::build(info, where_to, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
