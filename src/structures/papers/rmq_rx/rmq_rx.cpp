// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_rx.hpp"

#include <array>

#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/papers/rmq_rx/ray_levels.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/shared/scene_options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto rmq_rx_table = table_of<rmq_rx_options>(
    {"rmq_rx", tracing_backends}, minima_options<rmq_rx_options>,
    std::array{number<&rmq_rx_options::block>(
        "block", {32, 4096, true}, "values, or minima of blocks, that a ray chooses from")},
    scene_build_options<rmq_rx_options>);

std::unique_ptr<rmq> build_rmq_rx(backend where, const context& on, const column& values,
                                  const rmq_rx_options& options) try {
  const auto info = checked(rmq_rx_table, options, where, on, values);
  return builder_on(where, &paper_builders::build_rmq_rx, "rmq_rx")(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

rmq_estimate estimate_rmq_rx(backend where, std::uint64_t n, key_format /*value*/,
                             const rmq_rx_options& options) {
  return estimate_minima_by_rays(where, n, options);
}

extern constinit const structure_entry rmq_rx_entry =
    for_minima<rmq_rx_table, build_rmq_rx, estimate_rmq_rx>;

}  // namespace raydex
