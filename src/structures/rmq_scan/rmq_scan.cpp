// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_scan.hpp"

#include "raydex/error.hpp"
#include "src/interface/checked.hpp"
#include "src/structures/rmq_scan/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

std::unique_ptr<rmq> build_rmq_scan(backend where, const context& on, const column& values,
                                    const rmq_scan_options& options) try {
  const auto info = checked(rmq_scan_table, options, where, on, values);
  return builder_on(where, &structure_builders::build_rmq_scan)(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
