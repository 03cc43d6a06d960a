// SPDX-License-Identifier: Apache-2.0
// What the backends' direct tables have in common.
#pragma once

#include <cstdint>
#include <limits>
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

// Counts places of a file whose entries do not follow those of the place before.
template <class RowId>
struct count_wrong_places {
  const RowId* ranks;
  std::uint64_t places;
  RowId entries;
  core::spread_count wrong;
  RAYDEX_HD void operator()(std::uint64_t place) const {
    const RowId begin = ranks[place];
    const RowId end = ranks[place + 1];
    const bool right = begin <= end && end <= entries && (place != 0 || begin == 0) &&
                       (place + 1 != places || end == entries);
    wrong.add(place, right ? 0 : 1);
  }
};

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
      const bool is_wider = span >= held_.firsts.size();  // than before an edit
      if (span >= saturated_product(size, limit_) && is_wider) refuse_span(size, span, limit_);
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
    made.storage.are_rows = are_rows(on, made);
    made.storage.firsts = made.firsts.data();
    made.storage.ranks = made.ranks.data();
    made.storage.rows = made.rows.data();
    this->wait_before_replacing(on);
    held_ = std::move(made);
    this->places_ = held_.storage;
  }

  // Whether places are ranks, and the row id of each is its number.
  static bool are_rows(const context& on, const filled& made) {
    if (made.firsts.size() == 0 || made.ranks.size() != 0) return false;
    spread_counts<1, Executor> others(on);
    Executor::for_each(on, core::count_other_rows<RowId>{made.firsts.data(), others[0]},
                       made.firsts.size());
    return others.sums(on)[0] == 0;
  }

  void do_keep(const context& own, kept_memory& file) override {
    const std::uint64_t size = this->info_.entries;
    auto& to = held_.storage;
    bool is_dense = held_.ranks.size() == 0;  // a place is a rank
    file.number("smallest key", to.smallest, std::numeric_limits<Key>::max());
    file.number("places", to.size);
    file.number("keys are different", to.different);
    file.number("places are ranks", is_dense);
    if (file.loads()) {
      const std::uint64_t above = std::numeric_limits<Key>::max() - to.smallest;
      const bool fits = size == 0 ? to.size == 0 : to.size != 0 && to.size - 1 <= above;
      file.check("firsts", fits && (!is_dense || (to.size == size && to.different)));
    }
    file.array<Executor>("firsts", own, held_.firsts, to.size);
    file.array<Executor>("ranks", own, held_.ranks, is_dense ? 0 : to.size + 1);
    file.array<Executor>("rows", own, held_.rows, is_dense ? 0 : size);
    if (!file.loads()) return;
    to.firsts = held_.firsts.data();
    to.ranks = held_.ranks.data();
    to.rows = held_.rows.data();
    // Pages of a file are not read before somebody asks for them.
    to.are_rows = own.memory.space() != memory_space::host && are_rows(own, held_);
    this->places_ = to;
    if (file.verifies()) load_again(own, file, is_dense);
  }
  // Makes all places anew, with the entries of a file's.
  void load_again(const context& own, const kept_memory& file, bool is_dense) {
    const std::uint64_t size = this->info_.entries;
    const std::uint64_t places = held_.firsts.size();
    if (!is_dense && places != 0) {
      spread_counts<1, Executor> wrong(own);
      Executor::for_each(
          own,
          count_wrong_places<RowId>{held_.ranks.data(), places, static_cast<RowId>(size), wrong[0]},
          places);
      file.check("ranks", wrong.sums(own)[0] == 0);
    }
    sorted all;
    list(own, all);
    hold(own,
         checked_entries<Executor>(file, "rows", own, all.keys,
                                   is_dense ? held_.firsts : held_.rows, this->info_.max_row_id));
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
