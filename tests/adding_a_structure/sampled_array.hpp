// SPDX-License-Identifier: Apache-2.0
/// @file
/// `sampled_array`: ascending keys, and a directory of every 64th of them.
#pragma once

#include <memory>
#include <optional>

#include "raydex/index.hpp"
#include "raydex/options.hpp"
#include "tests/adding_a_structure/view.hpp"

namespace raydex {

/// Options of `sampled_array`.
struct sampled_array_options {
  unsigned sample = 64;  ///< entries for each key of the directory
};

/// Keys in ascending order with their row ids, in blocks; a search goes to the directory of the
/// blocks' last keys, then to a block.
///
/// *Cost*: build: the sort of `sorted_array`; a point: log2 n reads of a key and one of a row id; a
/// range: two such searches. *Memory*: resident: that of `sorted_array`, and a key a block.
/// *Stream*: the build synchronises only if the column has a validity mask or explicit row ids.
class RAYDEX_EXPORT sampled_array : public index {
 public:
  ~sampled_array() override;

  /// A view to search from the user's own code; see `sorted_array`.
  template <class Key, class RowId>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64);
    using entries = core::column_entries<Key, RowId>;
    return core::sampled_array_view<entries>(entries::at(storage_.keys, storage_.row_ids),
                                             static_cast<RowId>(info().entries),
                                             static_cast<const Key*>(directory_), sample_);
  }

 protected:
  /// For implementations, which set what follows.
  explicit sampled_array(memory_resource& upstream);

  entry_storage storage_;            ///< where the entries are
  const void* directory_ = nullptr;  ///< where the directory is
  unsigned sample_ = 1;              ///< entries of a block

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids) const;
};

/// Builds a `sampled_array`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<sampled_array> build_sampled_array(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const sampled_array_options& options = {});

}  // namespace raydex
