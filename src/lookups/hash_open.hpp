// SPDX-License-Identifier: Apache-2.0
// What the backends' hash tables with open addressing have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/core/lookups/hash_build.hpp"
#include "raydex/hash_open.hpp"
#include "src/lookups/answering_in_order.hpp"
#include "src/lookups/count_repeated.hpp"
#include "src/lookups/prime.hpp"
#include "src/lookups/spread_counts.hpp"

namespace raydex {

// Keys of which so many repeat another one; more buckets than can be numbered.
[[noreturn]] void refuse_repeated(std::uint64_t repeated, std::uint64_t keys);
[[noreturn]] void refuse_buckets(std::uint64_t buckets, std::uint64_t most);

// Copies four words.
struct copy_words {
  const std::uint32_t* from;
  std::uint32_t* to;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    reinterpret_cast<core::four_words*>(to)[i] = reinterpret_cast<const core::four_words*>(from)[i];
  }
};

template <class Key, class RowId, unsigned Bytes, class Executor>
class built_hash_open final
    : public answering_in_order<hash_open, core::hash_open_view<Key, RowId, Bytes>, Executor> {
  using view_type = core::hash_open_view<Key, RowId, Bytes>;
  using buckets = typename view_type::buckets;
  using sorted = sorted_column<Key, RowId>;
  using placed = core::placed_entries<Key, RowId>;
  using run = core::row_run<RowId>;

 public:
  built_hash_open(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const hash_open_options& options)
      : built_hash_open::answering_in_order(
            info, on, {.share_buckets = options.reading == bucket_reading::shared},
            entry_order::by_hash),
        options_(options) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  // Buckets with entries, and what lies beside them where keys repeat.
  struct filled {
    typename hash_open::table_storage storage;
    buffer<std::uint32_t> words;
    buffer<run> runs;  // a run a slot
    buffer<RowId> rows;
    std::uint64_t used = 0;  // slots that were ever used
  };

  // Of ascending hashes those that differ.
  struct different {
    buffer<Key> hashes;
    buffer<RowId> first_rows;
    buffer<RowId> begins;
  };

  void hold(const context& on, sorted entries) override {
    const std::uint64_t size = entries.keys.size();
    const std::uint64_t repeated = count_repeated<Executor>(on, entries.keys.data(), size);
    if (repeated != 0 && options_.repeats == repetition::refused) refuse_repeated(repeated, size);
    filled made;
    if (repeated == 0) {
      made = place(on, {entries.keys.data(), entries.row_ids.data(), size});
    } else {
      const different of = list_different(on, entries, size - repeated);
      made = place(
          on, {of.hashes.data(), of.first_rows.data(), of.hashes.size(), of.begins.data(), size});
      made.rows = std::move(entries.row_ids);
      made.storage.rows = made.rows.data();
    }
    held_ = std::move(made);
    this->table_ = held_.storage;
  }

  static different list_different(const context& on, const sorted& entries, std::uint64_t count) {
    const core::different_hashes<Key, RowId> all{entries.keys.data(), entries.keys.size()};
    different made{{on, count}, {on, count}, {on, count}};
    buffer<std::uint64_t> ends(on, all.threads());
    Executor::for_each(on, core::count_different<Key, RowId>{all, ends.data()}, ends.size());
    Executor::inclusive_sum(on, ends.data(), ends.size());
    Executor::for_each(on,
                       core::list_different<Key, RowId>{all, entries.row_ids.data(), ends.data(),
                                                        made.hashes.data(), made.first_rows.data(),
                                                        made.begins.data()},
                       ends.size());
    return made;
  }

  // ---- placing

  filled place(const context& on, const placed& from) const {
    const std::uint64_t slots = (from.size * 100 + options_.load - 1) / options_.load;
    const std::uint64_t homes =
        std::max<std::uint64_t>(1, (slots + buckets::slots - 1) / buckets::slots);
    return options_.placement == core::hash_placement::linear ? place_ascending(on, from, homes)
                                                              : place_anywhere(on, from, homes);
  }

  filled place_ascending(const context& on, const placed& from, std::uint64_t homes) const {
    core::bucket_sequence sequence{core::hash_placement::linear, checked(homes), 0};
    buffer<std::uint64_t> numbers(on, homes + 1);
    Executor::for_each(
        on, core::put_home_begins<Key, RowId>{from, sequence, buckets::slots, numbers.data()},
        from.size + 1);
    Executor::inclusive_minimum(on, numbers.data(), numbers.size());
    // What the last home has too much, and one bucket that is never full.
    const std::uint64_t more = from.size - Executor::read(on, numbers.data() + homes);
    sequence.count = checked(homes + (more + buckets::slots - 1) / buckets::slots + 1);
    filled made = reserve(on, sequence, from);
    Executor::for_each(on,
                       core::fill_slots<Key, RowId, Bytes>{
                           from, {made.words.data()}, made.runs.data(), numbers.data(), homes},
                       std::uint64_t{sequence.count} * buckets::slots);
    return made;
  }

  filled place_anywhere(const context& on, const placed& from, std::uint64_t homes) const {
    const bool jumps = options_.placement == core::hash_placement::jumps;
    const std::uint32_t count = checked(jumps ? prime_from(homes) : homes);
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

  filled reserve(const context& on, const core::bucket_sequence& sequence,
                 const placed& from) const {
    filled made;
    made.words = {on, std::uint64_t{sequence.count} * buckets::words};
    if (from.begins != nullptr) made.runs = {on, std::uint64_t{sequence.count} * buckets::slots};
    made.storage.words = made.words.data();
    made.storage.bytes = Bytes;
    made.storage.sequence = sequence;
    made.storage.runs = made.runs.data();
    made.used = from.size;
    return made;
  }

  static void insert(const context& on, const placed& from, filled& to) {
    Executor::for_each(on,
                       core::insert_entries<Key, RowId, Bytes>{
                           from, {to.words.data()}, to.runs.data(), to.storage.sequence},
                       from.size);
  }

  // A number of buckets, if the slots in them can be numbered.
  static std::uint32_t checked(std::uint64_t count) {
    constexpr std::uint64_t most =
        std::min<std::uint64_t>(std::numeric_limits<std::uint32_t>::max(),
                                std::numeric_limits<RowId>::max() / buckets::slots);
    if (count > most) refuse_buckets(count, most);
    return static_cast<std::uint32_t>(count);
  }

  // ---- edits

  std::optional<std::uint64_t> edit_without_build(const context& on,
                                                  const sorted_edits<Key, RowId>& batch) override {
    const std::uint64_t inserted = batch.insert.keys.size();
    const std::uint64_t named = batch.erase.keys.size();
    const std::uint64_t slots = std::uint64_t{this->table_.sequence.count} * buckets::slots;
    const std::uint64_t most = slots * (100 + options_.load) / 200;
    if (held_.rows.size() != 0 || held_.used + inserted > most) return std::nullopt;
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
    filled next;
    next.storage = held_.storage;
    next.words = {on, held_.words.size()};
    next.storage.words = next.words.data();
    Executor::for_each(on, copy_words{held_.words.data(), next.words.data()},
                       next.words.size() / 4);
    Executor::for_each(
        on, core::erase_entries<Key, RowId, Bytes>{{next.words.data()}, erased_slots.data()},
        named);
    insert(on, {batch.insert.keys.data(), batch.insert.row_ids.data(), inserted}, next);
    Executor::synchronise(on);
    next.used = held_.used + inserted;
    next.storage.ascending = held_.storage.ascending && inserted == 0;
    held_ = std::move(next);
    this->table_ = held_.storage;
    return this->info_.entries + inserted - erased;
  }

  // The entries, by hash.
  core::strided_list<Key, RowId> list(const context& on, sorted& copy) const override {
    const std::uint64_t size = this->info_.entries;
    const std::uint64_t all = this->table_.sequence.count;
    buffer<std::uint64_t> ends(on, all);
    const buckets table{held_.storage.words};
    Executor::for_each(on, core::count_bucket_entries<Key, RowId, Bytes>{table, ends.data()}, all);
    Executor::inclusive_sum(on, ends.data(), all);
    const std::uint64_t count = Executor::read(on, ends.data() + all - 1);
    sorted found{{on, count}, {on, count}};
    Executor::for_each(
        on,
        core::copy_bucket_entries<Key, RowId, Bytes>{table, held_.runs.data(), ends.data(),
                                                     found.keys.data(), found.row_ids.data()},
        all);
    if (!this->table_.ascending) {
      const auto codes = column(found.keys);
      found = Executor::template sort_column<Key, RowId>(on, codes, column(found.row_ids));
    }
    copy = std::move(found);
    if (held_.rows.size() == 0) return strided(list_of(copy));
    buffer<Key> hashes(on, size);
    Executor::for_each(on,
                       core::repeat_hashes<Key, RowId>{copy.keys.data(), copy.row_ids.data(), count,
                                                       hashes.data()},
                       size);
    copy = {std::move(hashes), {}};
    return {{copy.keys.data()}, {held_.rows.data()}, size};
  }

  view_type queried() const override { return this->template view<Key, RowId, Bytes>(); }

  hash_open_options options_;
  filled held_;
};

template <class Key, class RowId, class Executor>
std::unique_ptr<hash_open> make_hash_open(const index_info& info, const context& on,
                                          const column& keys, const std::optional<column>& row_ids,
                                          const hash_open_options& options) {
  if (options.bucket == 64)
    return std::make_unique<built_hash_open<Key, RowId, 64, Executor>>(info, on, keys, row_ids,
                                                                       options);
  return std::make_unique<built_hash_open<Key, RowId, 128, Executor>>(info, on, keys, row_ids,
                                                                      options);
}

}  // namespace raydex
