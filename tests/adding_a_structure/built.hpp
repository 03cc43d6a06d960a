// SPDX-License-Identifier: Apache-2.0
// How sorted entries are held, and `make_sampled_array`, for any machine.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"
#include "tests/adding_a_structure/sampled_array.hpp"

namespace raydex {

template <class Key, class RowId, class Executor>
class built_sampled_array final
    : public built_ordered_index<
          sampled_array, core::sampled_array_view<core::column_entries<Key, RowId>>, Executor> {
 public:
  built_sampled_array(const index_info& info, const context& on, const column& keys,
                      const std::optional<column>& row_ids, const sampled_array_options& options)
      : built_sampled_array::built_ordered_index(info, on, batch_plan{}) {
    this->sample_ = options.sample;
    this->fill(on.stream, keys, row_ids);
  }

 private:
  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    buffer<Key> last_keys(on, ordered.keys.size() / this->sample_);
    Executor::for_each(
        on, core::fill_directory<Key>{ordered.keys.data(), this->sample_, last_keys.data()},
        last_keys.size());
    auto entries = lay_out<layout::column, Executor>(on, std::move(ordered), 1);
    this->wait_before_replacing(on);
    entries_ = std::move(entries);
    last_keys_ = std::move(last_keys);
    this->storage_ = entries_.storage();
    this->directory_ = last_keys_.data();
  }

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> core::sampled_array_view<core::column_entries<Key, RowId>> override {
    return this->template view<Key, RowId>();
  }
  entry_buffer<Key, RowId, layout::column> entries_;
  buffer<Key> last_keys_;
};

template <class Executor>
std::unique_ptr<sampled_array> make_sampled_array(const index_info& info, const context& on,
                                                  const column& keys,
                                                  const std::optional<column>& row_ids,
                                                  const sampled_array_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<sampled_array> {
    return std::make_unique<built_sampled_array<Key, RowId, Executor>>(info, on, keys, row_ids,
                                                                       options);
  });
}

}  // namespace raydex
