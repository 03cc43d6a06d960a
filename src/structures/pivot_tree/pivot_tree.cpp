// SPDX-License-Identifier: Apache-2.0
#include "raydex/pivot_tree.hpp"

#include "raydex/error.hpp"
#include "src/interface/checked.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/structures/pivot_tree/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

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
  }
  keys_builder<pivot_tree, pivot_tree_options>& builder =
      options.search == tree_search::lines
          ? builder_on(where, &structure_builders::build_pivot_tree)
          : builder_on(where, &paper_builders::build_group_tree, "pivot_tree with search=groups");
  return builder(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
