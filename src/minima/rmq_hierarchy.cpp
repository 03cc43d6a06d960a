// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_hierarchy.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/minima.hpp"

namespace raydex {

namespace {

// The options with nothing left open.
rmq_hierarchy_options decided(backend where, rmq_hierarchy_options options) {
  if (options.top == hierarchy_top::automatic)
    options.top = where == backend::optix ? hierarchy_top::rays : hierarchy_top::scan;
  const bool rays = options.top == hierarchy_top::rays;
  if (where == backend::cuda && rays)
    throw unsupported("option top: on cuda it is scan; take backend optix for rays");
  if (where == backend::optix && !rays)
    throw unsupported("option top: on optix it is rays; take backend cuda for scan");
  if (options.load == hierarchy_load::automatic) {
    options.load =
        options.group.value_or(1) > 1 ? hierarchy_load::coalesced : hierarchy_load::vector;
  }
  const bool coalesced = options.load == hierarchy_load::coalesced;
  if (!options.chunk) options.chunk = coalesced ? 32 : 16;
  if (!options.cutoff) options.cutoff = rays ? 65'536 : 2 * *options.chunk;
  if (!options.group) options.group = coalesced ? 16 : 1;
  if (!coalesced && options.group != 1U) {
    throw invalid_argument(fmt::format(
        "option group: {}, but with load=vector a thread answers a range by itself; give 1, or "
        "load=coalesced",
        *options.group));
  }
  return options;
}

}  // namespace

rmq_hierarchy::~rmq_hierarchy() = default;

std::unique_ptr<rmq_hierarchy> build_rmq_hierarchy(backend where, const context& where_to,
                                                   const column& values,
                                                   const rmq_hierarchy_options& options) try {
  check_rmq_build("rmq_hierarchy", where, where_to, values);
  check(rmq_hierarchy_table, options);
  const rmq_hierarchy_options all = decided(where, options);
  rmq_info info = describe_rmq("rmq_hierarchy", where, values);
  info.options = describe(rmq_hierarchy_table, all);
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) return cuda::build(info, where_to, values, all);
#endif
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::build(info, where_to, values, all);
#endif
  return cpu::build(info, where_to, values, all);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
