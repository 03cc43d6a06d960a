// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_cover.hpp"

#include "raydex/error.hpp"
#include "src/interface/checked.hpp"
#include "src/structures/rmq_cover/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

rmq_cover::~rmq_cover() = default;

std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& on, const column& values,
                                           const rmq_cover_options& options) try {
  const auto info = checked(rmq_cover_table, options, where, on, values);
  return builder_on(where, &structure_builders::build_rmq_cover)(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
