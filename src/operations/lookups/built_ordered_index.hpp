// SPDX-License-Identifier: Apache-2.0
// An index made of sorted entries: `built_index`, and edits. A batch is merged with the entries,
// and what finds them is made anew, unless the structure has a shorter way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/ordered_entries.hpp"

namespace raydex {

template <class Base, class View, executor Executor>
class built_ordered_index : public built_index<Base, View, Executor> {
 protected:
  using typename built_index<Base, View, Executor>::key;
  using typename built_index<Base, View, Executor>::row_id;
  using sorted = sorted_column<key, row_id>;
  using sorted_batch = sorted_edits<key, row_id>;

  built_ordered_index(const index_info& info, const context& on, const batch_plan& plan,
                      const entry_order& order = {})
      : built_ordered_index::built_index(on.memory, plan), order_(order) {
    this->info_ = info;
  }

  // Sorts a column and holds it: the last step of a build.
  void fill(stream_t stream, const column& keys, const std::optional<column>& row_ids) {
    const context own{this->memory(), stream};
    take(own, Executor::template sort_column<key, row_id>(own, keys, row_ids, order_));
    finish();
  }
  // The last step of a build that has made and holds its entries by itself.
  void filled(std::uint64_t entries, std::uint64_t max_row_id) {
    describe(entries, max_row_id);
    finish();
  }

  // Holds these entries in place of those that it had: makes what it needs, calls
  // `wait_before_replacing`, and then replaces, without fail. Where the first two fail, it has the
  // old ones still.
  virtual void hold(const context& on, sorted entries) = 0;

  // An edit waits for all that it has queued; a build need not.
  void wait_before_replacing(const context& on) const {
    if (built_) Executor::synchronise(on);
  }

  // What entries and batches are sorted by from now on.
  void sort_by(const entry_order& order) { order_ = order; }
  const entry_order& sorted_by() const { return order_; }

  // The entries; `copy` may keep them.
  virtual core::strided_list<key, row_id> list(const context& on, sorted& copy) const = 0;

  // Takes a batch without a merge, and returns how many entries there are then; or changes nothing,
  // and returns nothing.
  virtual std::optional<std::uint64_t> edit_without_build(const context& /*on*/,
                                                          const sorted_batch& /*batch*/) {
    return std::nullopt;
  }

 private:
  void take(const context& on, sorted&& entries) {
    const std::uint64_t size = entries.keys.size();
    const std::uint64_t max_row_id = entries.max_row_id;
    hold(on, std::move(entries));
    describe(size, max_row_id);
  }

  void finish() {
    this->measure();
    built_ = true;
  }

  void do_edit(stream_t stream, const edits& batch) final {
    const context own{this->memory(), stream};
    const std::uint64_t missing = this->info_.n - this->info_.entries;
    auto changed = edit(own, batch);
    if (changed) take(own, std::move(*changed));
    this->info_.n = missing + this->info_.entries;
    this->measure();
  }

  // The entries with a batch applied; nothing if it changes nothing, or was taken without a merge.
  std::optional<sorted> edit(const context& on, const edits& batch) {
    const auto changes = Executor::template sort_edits<key, row_id>(on, batch, order_);
    const std::uint64_t max_row_id = std::max(this->info_.max_row_id, changes.insert.max_row_id);
    if (const auto entries = edit_without_build(on, changes)) {
      describe(*entries, max_row_id);
      return std::nullopt;
    }
    sorted copy;
    auto changed = Executor::edited(on, list(on, copy), changes);
    if (changed) changed->max_row_id = max_row_id;
    return changed;
  }

  void describe(std::uint64_t entries, std::uint64_t max_row_id) {
    this->info_.entries = entries;
    this->info_.max_row_id = max_row_id;
  }

  entry_order order_;
  bool built_ = false;
};

}  // namespace raydex
