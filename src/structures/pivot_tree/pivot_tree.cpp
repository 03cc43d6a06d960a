// SPDX-License-Identifier: Apache-2.0
#include "raydex/pivot_tree.hpp"

#include <array>

#include "raydex/core/lookups/tree_nodes.hpp"
#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto pivot_tree_table = table_of<pivot_tree_options>(
    {"pivot_tree", searching_backends, true},
    std::array{
        choice<&pivot_tree_options::layout>(
            "layout", {{"column", layout::column}, {"row", layout::row}, {"keys", layout::keys}},
            "keys and row ids as entries, or keys alone if they ascend"),
        of_a_paper(choice<&pivot_tree_options::search>(
            "search", {{"lines", tree_search::lines}, {"groups", tree_search::groups}},
            "nodes of a cache line, or of K - 1 pivots")),
        only_with("search=lines",
                  choice<&pivot_tree_options::nodes>(
                      "nodes",
                      {{"auto", tree_nodes::automatic},
                       {"exact", tree_nodes::exact},
                       {"quantised", tree_nodes::quantised},
                       {"narrow", tree_nodes::narrow}},
                      "pivots as they are, or as separators of 15 bits, or of "
                      "8 in the lowest level")),
        of_a_paper(only_with("search=groups", k_option<pivot_tree_options>)),
        of_a_paper(only_with("search=groups", option<&pivot_tree_options::levels>(
                                                  "levels", {{"all", not_given}},
                                                  {1, core::pivot_levels::most},
                                                  "levels of pivots above the leaves")))},
    schedule_options<&pivot_tree_options::batch>,
    all_only_with("search=groups", paper_schedule_options<&pivot_tree_options::batch>));

pivot_tree::pivot_tree(memory_resource& upstream) : index(upstream) {}
pivot_tree::~pivot_tree() = default;

void pivot_tree::check_view(std::size_t key_bits, row_id_type row_ids, layout entries,
                            tree_search search) const {
  check_entries(*this, key_bits, row_ids, entries, storage_.entries);
  if (search != tree_.search) {
    throw invalid_argument(tree_.search == tree_search::lines
                               ? "view: this index was built for search=lines"
                               : "view: this index was built for search=groups");
  }
}

std::unique_ptr<pivot_tree> build_pivot_tree(backend where, const context& on, const column& keys,
                                             const std::optional<column>& row_ids,
                                             const pivot_tree_options& options) try {
  const auto info = checked(pivot_tree_table, options, where, on, keys, row_ids);
  if (options.search == tree_search::lines) {
    check_plain_schedule(options.batch, "pivot_tree with search=lines");
    if (options.layout == layout::column) {
      throw unsupported(
          "option layout: leaves of search=lines are entries; column goes with search=groups");
    }
  } else if (options.layout == layout::keys) {
    throw unsupported("option layout: keys goes with search=lines");
  }
  keys_builder<pivot_tree, pivot_tree_options>& builder =
      options.search == tree_search::lines
          ? builder_on(where, &structure_builders::build_pivot_tree)
          : builder_on(where, &paper_builders::build_group_tree, "pivot_tree with search=groups");
  return builder(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

extern constinit const structure_entry pivot_tree_entry =
    for_keys<pivot_tree_table, build_pivot_tree>;

}  // namespace raydex
