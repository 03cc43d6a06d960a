// SPDX-License-Identifier: Apache-2.0
// What the backends' hash tables with open addressing have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/core/lookups/hash_open_build.hpp"
#include "raydex/hash_open.hpp"
#include "src/lookups/hashed.hpp"
#include "src/lookups/prime.hpp"

namespace raydex {

template <class Key, class RowId, unsigned Bytes, class Executor>
class built_hash_open final
    : public built_hash<hash_open, core::hash_open_view<Key, RowId, Bytes>, Executor> {
  using base = typename built_hash_open::built_hash;
  using view_type = core::hash_open_view<Key, RowId, Bytes>;
  using buckets = typename view_type::buckets;
  using typename base::filled;
  using typename base::placed;

 public:
  built_hash_open(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const hash_open_options& options)
      : base(info, on, options.reading, options.repeats), options_(options) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  filled place(const context& on, const placed& from) const override {
    const std::uint64_t slots = (from.size * 100 + options_.load - 1) / options_.load;
    const std::uint64_t homes =
        std::max<std::uint64_t>(1, (slots + buckets::slots - 1) / buckets::slots);
    return options_.placement == core::hash_placement::linear ? place_ascending(on, from, homes)
                                                              : place_anywhere(on, from, homes);
  }

  static filled place_ascending(const context& on, const placed& from, std::uint64_t homes) {
    core::bucket_sequence sequence{core::hash_placement::linear, base::checked(homes), 0};
    buffer<std::uint64_t> numbers(on, homes + 1);
    Executor::for_each(
        on, core::put_home_begins<Key, RowId>{from, sequence, buckets::slots, numbers.data()},
        from.size + 1);
    Executor::inclusive_minimum(on, numbers.data(), numbers.size());
    // What the last home has too much, and one bucket that is never full.
    const std::uint64_t more = from.size - Executor::read(on, numbers.data() + homes);
    sequence.count = base::checked(homes + (more + buckets::slots - 1) / buckets::slots + 1);
    filled made = reserve(on, sequence, from);
    Executor::for_each(on,
                       core::fill_slots<Key, RowId, Bytes>{
                           from, {made.words.data()}, made.runs.data(), numbers.data(), homes},
                       std::uint64_t{sequence.count} * buckets::slots);
    return made;
  }

  filled place_anywhere(const context& on, const placed& from, std::uint64_t homes) const {
    const std::uint32_t count = base::checked(prime_from(homes));
    filled made = reserve(on, {options_.placement, count, count}, from);
    made.storage.ascending = false;
    // Buckets without entries.
    buffer<std::uint64_t> numbers(on, 1);
    Executor::clear(on, numbers.data());
    Executor::for_each(
        on,
        core::fill_slots<Key, RowId, Bytes>{{}, {made.words.data()}, nullptr, numbers.data(), 0},
        std::uint64_t{count} * buckets::slots);
    insert(on, from, made);
    return made;
  }

  static filled reserve(const context& on, const core::bucket_sequence& sequence,
                        const placed& from) {
    filled made(on, {.bytes = Bytes, .sequence = sequence}, sequence.count);
    made.hold_runs(on, from);
    made.used = from.size;
    return made;
  }

  static void insert(const context& on, const placed& from, filled& to) {
    Executor::for_each(on,
                       core::insert_entries<Key, RowId, Bytes>{
                           from, {to.words.data()}, to.runs.data(), to.storage.sequence},
                       from.size);
  }

  std::optional<std::uint64_t> edit_without_build(const context& on,
                                                  const sorted_edits<Key, RowId>& batch) override {
    const std::uint64_t inserted = batch.insert.keys.size();
    const std::uint64_t named = batch.erase.keys.size();
    const std::uint64_t slots = std::uint64_t{this->table_.sequence.count} * buckets::slots;
    const std::uint64_t most = slots * (100 + options_.load) / 200;
    if (this->keys_repeat() || this->held().used + inserted > most) return std::nullopt;
    if (inserted == 0 && named == 0) return this->info_.entries;
    spread_counts<2, Executor> counts(on);
    buffer<std::uint64_t> erased_slots(on, named);
    Executor::for_each(
        on,
        core::count_edits<Key, RowId, Bytes>{queried(), list_of(batch.insert), names_of(batch),
                                             counts[0], counts[1], erased_slots.data()},
        std::max(inserted, named));
    const auto [conflicts, erased] = counts.sums(on);
    if (conflicts != 0) return std::nullopt;
    // In a copy, so that a device that fails on the way leaves what was there.
    filled next(on, this->table_, this->table_.sequence.count);
    this->copy_table(on, this->held(), next);
    Executor::for_each(
        on, core::erase_entries<Key, RowId, Bytes>{{next.words.data()}, erased_slots.data()},
        named);
    insert(on, {batch.insert.keys.data(), batch.insert.row_ids.data(), inserted}, next);
    Executor::synchronise(on);
    next.used = this->held().used + inserted;
    next.storage.ascending = next.storage.ascending && inserted == 0;
    this->replace(std::move(next));
    return this->info_.entries + inserted - erased;
  }

  view_type queried() const override { return this->template view<Key, RowId, Bytes>(); }

  hash_open_options options_;
};

template <unsigned Bytes, class Key, class RowId, class Executor>
std::unique_ptr<hash_open> make_hash_open(const index_info& info, const context& on,
                                          const column& keys, const std::optional<column>& row_ids,
                                          const hash_open_options& options) {
  return std::make_unique<built_hash_open<Key, RowId, Bytes, Executor>>(info, on, keys, row_ids,
                                                                        options);
}

}  // namespace raydex
