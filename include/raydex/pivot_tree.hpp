// SPDX-License-Identifier: Apache-2.0
/// @file
/// `pivot_tree`: ascending entries below a small tree of pivots.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/pivot_tree.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// How a `pivot_tree` is laid out and searched.
enum class tree_search : std::uint8_t {
  lines,  ///< nodes and leaves are cache lines; on `cuda` four threads read a line together
  groups  ///< the lightweight paper's: nodes of K - 1 pivots, each compared by a thread of a group;
          ///< in libraydex_papers
};

/// How the nodes of a tree searched by `lines` hold their pivots.
enum class tree_nodes : std::uint8_t {
  automatic,  ///< quantised, from the leaves up, as far as the keys allow it; narrow if the lowest
              ///< level outgrows the L2 cache of a GPU; by name `auto`
  exact,      ///< as they are
  quantised,  ///< in 15 bits, relative to their node
  narrow      ///< likewise, but in 8 bits in the lowest level
};

/// Options of `pivot_tree`; by name as `options_of` and `raydex structures pivot_tree` list them.
struct pivot_tree_options {
  /// A leaf's keys and row ids lie together; `column` goes with groups. `keys` goes with lines and
  /// stores no row ids: it takes columns in ascending order, whose row ids are ranks.
  raydex::layout layout = raydex::layout::row;
  tree_search search = tree_search::lines;   ///< which of the two trees
  tree_nodes nodes = tree_nodes::automatic;  ///< the nodes below the root, for lines
  unsigned k = 9;                            ///< children of a node, for groups
  std::optional<unsigned> levels = {};       ///< most levels of pivots, for groups; not set: all
  batch_schedule batch = {};                 ///< how batches run on `cuda`
};

/// Keys in ascending order below a tree of pivots (lightweight paper, section 3.3: AO + PB + BS and
/// AO + PB + KS; sections 4.5 for fewer levels), or, by default, below a tree made of cache lines.
///
/// *Cost*: build: the sort of `sorted_array`, a pass that packs entries (`cuda` sorts entries of 32
/// and 32 bits packed), and a read and a write a pivot. A point in a tree of lines: a search in
/// shared memory, a line of separators per level, which stays in the L2 cache if the tree fits, and
/// one line of entries. Ascending points are merged with the entries instead on `cuda`. A range:
/// one such search if it ends in the leaf where it begins, else two, then its h matches in a row.
/// *Memory*: resident: key bytes + row-id bytes per entry, and a tree of 2 to 10 % of that for
/// lines, beside 16 KiB, or for K = 9; up to 100 % for K = 2 with all levels. Peak of the build:
/// that of `sorted_array`; of groups 3 times what is resident. *Stream*: the build synchronises.
///
/// With `layout=keys`: the build copies the column and makes the tree. Resident, and at its peak,
/// key bytes per entry and the tree: 4.3 bytes per row for 32-bit keys, 8.3 for 64-bit ones. Ranks
/// are row ids, so it takes no row ids, no validity bitmap, and only edits after which row ids are
/// ranks: insertions behind the last row, erasures at the end. For others the build, or the edit,
/// throws `unsupported`.
///
/// *Edits*: the sort of the batch, one pass that merges it with the entries into a new copy of
/// them, one before that if it erases any, and the tree, made anew. Memory beside the index: twice
/// the entries, with their row ids, and a tree.
class RAYDEX_EXPORT pivot_tree : public index {
 public:
  ~pivot_tree() override;

  /// A view to search from the user's own code, inside a kernel on `cuda`. It stays valid as long
  /// as the index. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  /// @tparam Layout the layout that the index was built with
  /// @tparam Search the search that the index was built for
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId, layout Layout = layout::row,
            tree_search Search = tree_search::lines>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64,
               Layout, Search);
    using entries = entries_of<Key, RowId, Layout>;
    const auto size = static_cast<RowId>(info().entries);
    const auto* pivots = static_cast<const Key*>(tree_.pivots);
    const entries leaves = entries::at(storage_.keys, storage_.row_ids);
    if constexpr (Search == tree_search::lines) {
      using view = core::line_tree_view<entries>;
      return view(leaves, size,
                  {.root = core::root_node<Key>(tree_.root, tree_.root_pivots),
                   .exact = tree_.levels,
                   .pivots = pivots,
                   .rounded = tree_.rounded,
                   .nodes = static_cast<const typename view::quantised*>(tree_.nodes),
                   .lowest = static_cast<const typename view::narrow*>(tree_.lowest)});
    } else {
      return core::pivot_tree_view<entries>(leaves, size, tree_.levels, pivots);
    }
  }

 protected:
  /// For implementations.
  explicit pivot_tree(memory_resource& upstream);

  /// Where the tree is.
  struct tree_storage {
    tree_search search = tree_search::lines;  ///< which tree
    core::pivot_levels levels;                ///< levels of pivots
    const void* pivots = nullptr;             ///< the pivots of the levels
    const void* root = nullptr;               ///< the root node, for lines
    std::uint32_t root_pivots = 0;            ///< pivots of the root
    core::pivot_levels rounded;               ///< levels of quantised nodes below, for lines
    const void* nodes = nullptr;              ///< the quantised nodes
    const void* lowest = nullptr;             ///< the narrow nodes below these, if there are any
  };
  /// Where the entries are. Set by the build.
  entry_storage storage_;
  /// Set by the build.
  tree_storage tree_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids, layout entries,
                  tree_search search) const;
};

/// Builds a `pivot_tree`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<pivot_tree> build_pivot_tree(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const pivot_tree_options& options = {});

}  // namespace raydex
