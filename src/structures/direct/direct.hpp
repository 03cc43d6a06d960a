// SPDX-License-Identifier: Apache-2.0
// What the backends' direct tables have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/direct.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"
#include "src/operations/lookups/repeated_keys.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex {

// Keys whose largest one is so far above the smallest.
[[noreturn]] void refuse_span(std::uint64_t keys, std::uint64_t span, unsigned limit);

template <class Key, class RowId, class Executor>
class built_direct final
    : public built_ordered_index<direct, core::direct_view<Key, RowId>, Executor> {
  using view_type = core::direct_view<Key, RowId>;
  using sorted = sorted_column<Key, RowId>;

 public:
  built_direct(const index_info& info, const context& on, const column& keys,
               const std::optional<column>& row_ids, const direct_options& options)
      : built_direct::built_ordered_index(info, on,
                                          plan_of(options.batch, {.threads = 256, .lookups = 4})),
        limit_(options.limit) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  struct filled {
    typename direct::place_storage storage;
    buffer<RowId> firsts;
    buffer<RowId> ranks;
    buffer<RowId> rows;
  };

  void hold(const context& on, sorted entries) override {
    filled made;
    const std::uint64_t size = entries.keys.size();
    if (size != 0) {
      const auto ends = describe_keys<Executor>(on, entries.keys.data(), size);
      // One less than the places: there may be 2^64.
      const std::uint64_t span = ends.largest - ends.smallest;
      if (span >= saturated_product(size, limit_)) refuse_span(size, span, limit_);
      const bool different = count_repeated<Executor>(on, entries.keys.data(), size) == 0;
      made.storage.smallest = ends.smallest;
      made.storage.size = span + 1;
      made.storage.different = different;
      if (different && span + 1 == size) {  // each key once: a place is a rank
        made.firsts = std::move(entries.row_ids);
      } else {
        made.firsts = {on, span + 1};
        made.ranks = {on, span + 2};
        Executor::clear(on, made.ranks.data(), made.ranks.size());
        Executor::for_each(on,
                           core::count_per_place<Key, RowId>{entries.keys.data(), size,
                                                             ends.smallest, made.ranks.data()},
                           size);
        Executor::inclusive_sum(on, made.ranks.data(), made.ranks.size());
        made.rows = std::move(entries.row_ids);
        Executor::for_each(
            on, core::list_firsts<RowId>{made.ranks.data(), made.rows.data(), made.firsts.data()},
            span + 1);
      }
    }
    made.storage.firsts = made.firsts.data();
    made.storage.ranks = made.ranks.data();
    made.storage.rows = made.rows.data();
    this->wait_before_replacing(on);
    held_ = std::move(made);
    this->places_ = held_.storage;
  }

  core::strided_list<Key, RowId> list(const context& on, sorted& copy) const override {
    const view_type all = queried();
    copy.keys = {on, all.entries};
    Executor::for_each(on, core::list_keys<Key, RowId>{all, copy.keys.data()}, all.entries);
    return {{copy.keys.data()}, {all.rows != nullptr ? all.rows : all.firsts}, all.entries};
  }

  view_type queried() const override { return this->template view<Key, RowId>(); }

  unsigned limit_;
  filled held_;
};

template <class Executor>
std::unique_ptr<direct> make_direct(const index_info& info, const context& on, const column& keys,
                                    const std::optional<column>& row_ids,
                                    const direct_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<direct> {
    return std::make_unique<built_direct<Key, RowId, Executor>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
