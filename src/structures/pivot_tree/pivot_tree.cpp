// SPDX-License-Identifier: Apache-2.0
#include "raydex/pivot_tree.hpp"

#include <algorithm>
#include <array>

#include "raydex/core/lookups/tree_nodes.hpp"
#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/operations/lookups/line_tree.hpp"
#include "src/structures/pivot_tree/group_levels.hpp"
#include "src/structures/shared/bytes.hpp"
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

namespace {

void check_options(const pivot_tree_options& options) {
  if (options.search == tree_search::lines) {
    check_plain_schedule(options.batch, "pivot_tree with search=lines");
    if (options.layout == layout::column) {
      throw unsupported(
          "option layout: leaves of search=lines are entries; column goes with search=groups");
    }
  } else if (options.layout == layout::keys) {
    throw unsupported("option layout: keys goes with search=lines");
  }
}

// What leads to the leaves. Whether levels round if they may is seen in the keys: at worst none
// does.
template <class Key>
std::uint64_t bytes_of_lines(std::uint64_t entries, tree_nodes nodes) {
  if (entries == 0) return 0;
  const bool exact = nodes == tree_nodes::automatic || nodes == tree_nodes::exact;
  line_tree<Key> tree;
  plan_line_tree(tree, entries, most_roots<Key>,
                 {nodes == tree_nodes::narrow, exact ? 0 : core::pivot_levels::most});
  return tree.lowest.nodes() * sizeof(typename line_tree<Key>::narrow) +
         tree.rounded.nodes() * sizeof(typename line_tree<Key>::quantised) +
         bytes_of<Key>(tree.exact);
}

// Leaves are copied from a sorted column, but on `cuda` those of entries of 32 and 32 bits are
// sorted as they lie, and with layout=keys nothing is sorted.
memory_estimate estimate_lines(backend where, const column_facts& keys,
                               const pivot_tree_options& options) {
  const std::uint64_t padded =
      (keys.n + core::line_entries - 1) / core::line_entries * core::line_entries;
  const std::uint64_t tree =
      with_code(keys, [&]<class Key>() { return bytes_of_lines<Key>(keys.n, options.nodes); });
  const std::uint64_t key = key_bytes(keys);
  const bool keys_alone = options.layout == layout::keys;
  const std::uint64_t leaves = padded * (keys_alone ? key : key + row_bytes);
  const bool sorted_in_place = where == backend::cuda && key == row_bytes;
  std::uint64_t before = 0;  // the tree is there
  if (sorted_in_place) {
    before = keys.ascending ? leaves : sort_bytes(where, keys.n, leaves);
  } else {
    before = std::max(sort_bytes(where, keys), entry_bytes(keys) + leaves);
  }
  return {.structure = "pivot_tree",
          .resident_bytes = leaves + tree,
          .build_peak_bytes = std::max(keys_alone ? 0 : before, leaves + tree)};
}

// Pivots lie beside the sorted column.
memory_estimate estimate_groups(backend where, const column_facts& keys,
                                const pivot_tree_options& options) {
  const std::uint64_t entries = entry_bytes(keys);
  const std::uint64_t pivots = group_levels(keys.n, options).size() * key_bytes(keys);
  const std::uint64_t laid_out = options.layout == layout::column ? entries : 2 * entries;
  return {.structure = "pivot_tree",
          .resident_bytes = entries + pivots,
          .build_peak_bytes = std::max(sort_bytes(where, keys), laid_out + pivots)};
}

memory_estimate estimate_pivot_tree(backend where, const column_facts& keys,
                                    const pivot_tree_options& options) {
  check_options(options);
  return (options.search == tree_search::lines ? estimate_lines : estimate_groups)(where, keys,
                                                                                   options);
}

}  // namespace

std::unique_ptr<pivot_tree> build_pivot_tree(backend where, const context& on, const column& keys,
                                             const std::optional<column>& row_ids,
                                             const pivot_tree_options& options) try {
  const auto info = checked(pivot_tree_table, options, where, on, keys, row_ids);
  check_options(options);
  keys_builder<pivot_tree, pivot_tree_options>& builder =
      options.search == tree_search::lines
          ? builder_on(where, &structure_builders::build_pivot_tree)
          : builder_on(where, &paper_builders::build_group_tree, "pivot_tree with search=groups");
  return builder(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

extern constinit const structure_entry pivot_tree_entry =
    for_keys<pivot_tree_table, build_pivot_tree, estimate_pivot_tree>;

}  // namespace raydex
