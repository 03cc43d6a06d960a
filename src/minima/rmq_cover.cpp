// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_cover.hpp"

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/options/checked.hpp"
#include "src/options/minima.hpp"

namespace raydex {

rmq_cover::~rmq_cover() = default;

std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& on, const column& values,
                                           const rmq_cover_options& options) try {
  const auto info = checked(rmq_cover_table, options, where, on, values);
  return builder_on(where, &backend_table::build_rmq_cover)(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
