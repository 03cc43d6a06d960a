// SPDX-License-Identifier: Apache-2.0
/// @file
/// `btree`: a B+-tree that takes insertions and deletions page by page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/btree.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// Options of `btree`; by name as `options_of` and `raydex structures btree` list them.
struct btree_options {
  unsigned fill = 80;         ///< share of a page, in percent, that a build or a split fills
  batch_schedule batch = {};  ///< how batches run on `cuda`
};

/// Keys in ascending order in leaves of 8 entries, below nodes of a 64-byte line: 16 pivots of 32
/// bits, 8 of 64 bits. A node of the lowest level and its 17 (9) leaves, which lie side by side (as
/// in CSB+-trees), are a page; pages lie anywhere. Above them are an implicit tree and a root for
/// fast memory, both made anew by every edit.
///
/// *Cost*: build: the sort of `sorted_array`, and a write of every page. A point: a search in
/// shared memory, a line of pivots per level and one of a page, and a leaf; after edits also a look
/// at where the page is. A range: one such search if it ends in the leaf where it begins, else two,
/// then its h matches page by page. An edit: the sort of the batch, a write of every two
/// neighbouring pages that it changes, about 1 KiB each, and of what is above all pages, 1 to 2 %
/// of their bytes. Where free pages are too few, all of them are written anew, and a quarter more
/// set aside unless the batch changes more than that; and where there are more than twice the pages
/// of a build, all of these are filled as by a build. *Memory*: resident: key bytes + row-id bytes
/// per entry, divided by the share that is filled, and 5 to 10 % of that; after edits, free pages
/// as well. Peak of the build: that of `sorted_array`, or three times the resident bytes; of an
/// edit, what it has before and after, and the sort of the batch. *Stream*: the build synchronises.
/// With 32-bit row ids it holds about 2^32 times `fill` percent entries; builds and edits that need
/// more throw `unsupported`.
class RAYDEX_EXPORT btree : public index {
 public:
  ~btree() override;

  /// A view to search from the user's own code, inside a kernel on `cuda`. It stays valid until the
  /// next edit, as long as the index. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64);
    using view = core::btree_view<Key, RowId>;
    return view({.root = core::root_node<Key>(tree_.root, tree_.root_pivots),
                 .levels = tree_.levels,
                 .pivots = static_cast<const Key*>(tree_.pivots),
                 .pages = {static_cast<const Key*>(tree_.page_pivots),
                           {static_cast<const std::uint32_t*>(tree_.entries)},
                           static_cast<const RowId*>(tree_.order),
                           static_cast<const RowId*>(tree_.first_ranks),
                           static_cast<RowId>(tree_.pages)}},
                static_cast<RowId>(info().entries));
  }

 protected:
  /// For implementations.
  explicit btree(memory_resource& upstream);

  /// Where the tree is.
  struct tree_storage {
    const void* root = nullptr;         ///< the root node
    std::uint32_t root_pivots = 0;      ///< pivots of the root
    core::pivot_levels levels;          ///< levels of pivots below it
    const void* pivots = nullptr;       ///< the pivots of the levels
    const void* page_pivots = nullptr;  ///< the pivots of the pages
    const void* entries = nullptr;      ///< their entries
    const void* order = nullptr;        ///< where the pages are; null: in their order
    const void* first_ranks = nullptr;  ///< the rank of each page's first entry
    std::uint64_t pages = 0;            ///< how many are in use
  };
  /// Set by the build and by edits.
  tree_storage tree_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids) const;
};

/// Builds a `btree`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<btree> build_btree(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const btree_options& options = {});

}  // namespace raydex
