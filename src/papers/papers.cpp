// SPDX-License-Identifier: Apache-2.0
// What libraydex_papers has, and how libraydex learns of it.
#include <array>

#include "raydex/version.hpp"
#include "src/choice/paper_library.hpp"
#include "src/options/lookups.hpp"
#include "src/options/minima.hpp"

namespace raydex {

namespace {

constexpr std::array structures{for_keys<eytzinger_table, build_eytzinger>,
                                for_minima<rmq_hierarchy_table, build_rmq_hierarchy>,
                                for_minima<rmq_lca_table, build_rmq_lca>,
                                for_minima<rmq_rx_table, build_rmq_rx>};

constexpr paper_library papers{
    .version = RAYDEX_VERSION, .structures = structures, .find_backend = find_own_paper_table};

// Whether the library was linked or is being loaded.
[[maybe_unused]] const bool told = (add_papers(papers), true);

}  // namespace

const paper_library& described_papers() noexcept {
  return papers;
}

}  // namespace raydex
