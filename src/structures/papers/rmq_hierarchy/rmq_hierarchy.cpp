// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_hierarchy.hpp"

#include <array>
#include <bit>

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/papers/rmq_rx/ray_levels.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto rmq_hierarchy_table = table_of<rmq_hierarchy_options>(
    {"rmq_hierarchy", all_backends, true},
    std::array{
        option<&rmq_hierarchy_options::chunk>("chunk", {{"auto", not_given}}, {2, 1024, true},
                                              "values under a minimum"),
        option<&rmq_hierarchy_options::cutoff>("cutoff", {{"auto", not_given}},
                                               {2, std::numeric_limits<unsigned>::max()},
                                               "most entries of the last level"),
        choice<&rmq_hierarchy_options::top>("top",
                                            {{"auto", hierarchy_top::automatic},
                                             {"scan", hierarchy_top::scan},
                                             {"rays", hierarchy_top::rays}},
                                            "how the last level is asked"),
        choice<&rmq_hierarchy_options::load>("load",
                                             {{"auto", hierarchy_load::automatic},
                                              {"vector", hierarchy_load::vector},
                                              {"coalesced", hierarchy_load::coalesced}},
                                             "how threads read"),
        of_a_paper(option<&rmq_hierarchy_options::group>(
            "group", {{"auto", not_given}}, {1, 32, true}, "threads that answer a range together")),
        of_a_paper(choice<&rmq_hierarchy_options::assign>(
            "assign", {{"queue", hierarchy_assign::queue}, {"multi", hierarchy_assign::multi}},
            "how groups come by ranges")),
        former_option("kernel", {"own"})},
    minima_options<rmq_hierarchy_options>);

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

std::unique_ptr<rmq_hierarchy> build_rmq_hierarchy(backend where, const context& on,
                                                   const column& values,
                                                   const rmq_hierarchy_options& options) try {
  auto info = checked(rmq_hierarchy_table, options, where, on, values);
  const rmq_hierarchy_options all = decided(where, options);
  info.options = describe(rmq_hierarchy_table, all);
  return builder_on(where, &paper_builders::build_rmq_hierarchy, "rmq_hierarchy")(info, on, values,
                                                                                  all);
} catch (...) {
  rethrow_as_error();
}

rmq_estimate estimate_rmq_hierarchy(backend where, std::uint64_t n, key_format value,
                                    const rmq_hierarchy_options& options) {
  const rmq_hierarchy_options all = decided(where, options);
  std::uint64_t bytes = 0;
  std::uint64_t top = 0;  // entries of the last level
  dispatch_coded({value, nullptr, n}, [&]<class Value, class Place>() {
    const core::hierarchy_levels<Place> levels(
        n, static_cast<unsigned>(std::countr_zero(*all.chunk)), *all.cutoff);
    bytes = levels.entries() * (sizeof(Value) + sizeof(Place));
    if (n != 0) top = levels.size(levels.count);
  });
  if (all.top != hierarchy_top::rays)
    return {.structure = {}, .resident_bytes = bytes, .build_peak_bytes = bytes};
  rmq_estimate made = estimate_minima_by_rays(where, top, {});
  made.resident_bytes += bytes;
  made.build_peak_bytes += bytes;
  made.per_probe.position = made.per_probe.extreme;
  return made;
}

extern constinit const structure_entry rmq_hierarchy_entry =
    for_minima<rmq_hierarchy_table, build_rmq_hierarchy, estimate_rmq_hierarchy>;

}  // namespace raydex
