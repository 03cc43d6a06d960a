// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_rx.hpp"

#include "raydex/error.hpp"
#include "src/interface/checked.hpp"
#include "src/structures/papers/rmq_rx/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

std::unique_ptr<rmq> build_rmq_rx(backend where, const context& on, const column& values,
                                  const rmq_rx_options& options) try {
  const auto info = checked(rmq_rx_table, options, where, on, values);
  return builder_on(where, &paper_builders::build_rmq_rx, "rmq_rx")(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
