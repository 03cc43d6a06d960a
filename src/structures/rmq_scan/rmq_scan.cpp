// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_scan.hpp"

#include <array>

#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto rmq_scan_table = table_of<rmq_scan_options>({"rmq_scan", searching_backends, true},
                                                           minima_options<rmq_scan_options>);

std::unique_ptr<rmq> build_rmq_scan(backend where, const context& on, const column& values,
                                    const rmq_scan_options& options) try {
  const auto info = checked(rmq_scan_table, options, where, on, values);
  return builder_on(where, &structure_builders::build_rmq_scan)(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

rmq_estimate estimate_rmq_scan(backend /*where*/, std::uint64_t /*n*/, key_format /*value*/,
                               const rmq_scan_options& /*options*/) {
  return {};
}

extern constinit const structure_entry rmq_scan_entry =
    for_minima<rmq_scan_table, build_rmq_scan, estimate_rmq_scan>;

}  // namespace raydex
