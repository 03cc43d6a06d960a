// SPDX-License-Identifier: Apache-2.0
// What the backends' sampled arrays have in common: all but the sort.
#pragma once

#include <memory>
#include <utility>

#include "src/lookups/answering.hpp"
#include "src/lookups/ordered_entries.hpp"
#include "tests/adding_a_structure/sampled_array.hpp"

namespace raydex {

template <class Key, class RowId, class Executor>
class built_sampled_array final
    : public answering<sampled_array, core::sampled_array_view<core::column_entries<Key, RowId>>,
                       Executor> {
 public:
  template <class Sort>
  built_sampled_array(const index_info& info, const context& on,
                      const sampled_array_options& options, Sort&& sort)
      : built_sampled_array::answering(on.memory, batch_plan{}) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    sorted_column<Key, RowId> sorted = sort(own);
    this->info_.entries = sorted.keys.size();
    this->info_.max_row_id = sorted.max_row_id;
    last_keys_ = {own, sorted.keys.size() / options.sample};
    Executor::for_each(
        own, core::fill_directory<Key>{sorted.keys.data(), options.sample, last_keys_.data()},
        last_keys_.size());
    entries_ = lay_out<layout::column, Executor>(own, std::move(sorted), 1);
    this->storage_ = entries_.storage();
    this->directory_ = last_keys_.data();
    this->sample_ = options.sample;
    this->measure();
  }

 private:
  auto queried() const -> core::sampled_array_view<core::column_entries<Key, RowId>> override {
    return this->template view<Key, RowId>();
  }
  entry_buffer<Key, RowId, layout::column> entries_;
  buffer<Key> last_keys_;
};

// Builds with a backend's `sort(own)` and executor.
template <class Key, class RowId, class Executor, class Sort>
std::unique_ptr<sampled_array> make_sampled_array(const index_info& info, const context& on,
                                                  const sampled_array_options& options,
                                                  Sort&& sort) {
  return std::make_unique<built_sampled_array<Key, RowId, Executor>>(info, on, options, sort);
}

}  // namespace raydex
