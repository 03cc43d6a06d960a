// SPDX-License-Identifier: Apache-2.0
/// @file
/// `eytzinger`: a complete K-ary search tree in an array.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/eytzinger.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// Options of `eytzinger`; by name as `options_of` and `raydex structures eytzinger` list them.
struct eytzinger_options {
  raydex::layout layout = raydex::layout::row;  ///< a node's keys and row ids lie together
  unsigned k = 9;                               ///< children of a node, which has K - 1 keys
  batch_schedule batch = {};                    ///< how batches run on `cuda`
};

/// Keys in Eytzinger order, level by level of a complete K-ary search tree (lightweight paper,
/// sections 3.2 and 3.4: EO + BS for K = 2, EO + KS above). In libraydex_papers.
///
/// *Cost*: build: the sort of `sorted_array`, then a read and a write an entry. A point: a node of
/// K - 1 keys for each of log_K n levels, read by as many threads at once on `cuda`. A range: two
/// such searches; then its h matches lie in a run on each level. *Memory*: resident: key bytes +
/// row-id bytes per entry, nothing more. Peak of the build: that of `sorted_array`, or twice the
/// resident bytes. *Stream*: the build synchronises.
///
/// *Edits*: the sort of the batch, one pass that merges it with the entries into a new copy of
/// them, one before that if it erases any, and two more that bring them into order and back. Memory
/// beside the index: three times the entries.
class RAYDEX_EXPORT eytzinger : public index {
 public:
  ~eytzinger() override;

  /// A view to search from the user's own code, inside a kernel on `cuda`. It stays valid as long
  /// as the index. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  /// @tparam Layout the layout that the index was built with
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId, layout Layout = layout::row>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64,
               Layout);
    using entries = entries_of<Key, RowId, Layout>;
    return core::eytzinger_view<entries>(
        entries::at(storage_.keys, storage_.row_ids),
        core::eytzinger_order<RowId>(static_cast<RowId>(info().entries), fan_out_));
  }

 protected:
  /// For implementations.
  explicit eytzinger(memory_resource& upstream);

  /// Where the entries are. Set by the build.
  entry_storage storage_;
  /// Children of a node. Set by the build.
  unsigned fan_out_ = 2;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids, layout entries) const;
};

/// Builds an `eytzinger`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<eytzinger> build_eytzinger(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const eytzinger_options& options = {});

}  // namespace raydex
