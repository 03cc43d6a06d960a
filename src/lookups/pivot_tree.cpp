// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/pivot_tree.hpp"

#include <fmt/format.h>

#include <array>

#include "raydex/error.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

const char* name(tree_search search) {
  return choice_name("search", search, std::array{"lines", "groups"});
}

std::string describe(const pivot_tree_options& options) {
  const std::string common =
      fmt::format("{} search={}", raydex::describe(options.entries), name(options.search));
  if (options.search == tree_search::lines) {
    return fmt::format(
        "{} nodes={}", common,
        choice_name("nodes", options.nodes, std::array{"auto", "exact", "quantised"}));
  }
  return fmt::format("{} k={} levels={}", common, options.fan_out,
                     options.levels ? std::to_string(*options.levels) : "all");
}

}  // namespace

pivot_tree::pivot_tree(memory_resource& upstream) : index(upstream) {}
pivot_tree::~pivot_tree() = default;

void pivot_tree::check_view(std::size_t key_bits, row_id_type row_ids, layout entries,
                            tree_search search) const {
  check_entries(*this, key_bits, row_ids, entries, storage_.entries);
  if (search != tree_.search) {
    throw invalid_argument(
        fmt::format("view: this index was built for search={}", name(tree_.search)));
  }
}

std::unique_ptr<pivot_tree> build_pivot_tree(backend where, const context& where_to,
                                             const column& keys,
                                             const std::optional<column>& row_ids,
                                             const pivot_tree_options& options) try {
  check_build("pivot_tree", where, where_to, keys, row_ids);
  check_fan_out(options.fan_out);
  if (options.levels && (*options.levels < 1 || *options.levels > core::pivot_levels::most)) {
    throw invalid_argument(fmt::format("option levels: {} is not from 1 to {}", *options.levels,
                                       core::pivot_levels::most));
  }
  index_info info = raydex::describe("pivot_tree", where, keys, row_ids);
  info.options = describe(options) + raydex::describe(options.schedule);
  const bool lines = options.search == tree_search::lines;
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) {
    return lines ? cuda::build_line_tree(info, where_to, keys, row_ids, options)
                 : cuda::build_group_tree(info, where_to, keys, row_ids, options);
  }
#endif
  return lines ? cpu::build_line_tree(info, where_to, keys, row_ids, options)
               : cpu::build_group_tree(info, where_to, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
