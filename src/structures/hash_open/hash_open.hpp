// SPDX-License-Identifier: Apache-2.0
// What the backends' hash tables with open addressing have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/core/lookups/hash_open.hpp"
#include "raydex/hash_open.hpp"
#include "src/interface/dispatch.hpp"
#include "src/structures/shared/hashed.hpp"

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
      : base(info, on, options), options_(options) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  std::optional<filled> place(const context& on, const placed& from, bool anyhow) const override {
    const std::uint64_t homes = homes_of(from.size);
    return options_.placement == core::hash_placement::linear
               ? place_ascending(on, from, homes, anyhow)
               : place_anywhere(on, from, homes, anyhow);
  }

  std::uint32_t keep_sizes(kept_memory& file, typename hash_open::table_storage& how) override {
    core::bucket_sequence& all = how.sequence;
    file.number("homes", all.homes, base::most_buckets, 1);
    file.number("buckets", all.count, base::most_buckets, all.homes);
    file.number("farthest", all.farthest, all.count);
    file.number("hashes ascend", how.ascending);
    const bool is_linear = options_.placement == core::hash_placement::linear;
    if (file.loads()) {
      all.placement = options_.placement;
      how.bytes = Bytes;
      file.check("buckets", is_linear || (all.homes == all.count && !how.ascending));
    }
    return all.count;
  }

  // Buckets that a build has for so many entries, without those at its end.
  std::uint64_t homes_of(std::uint64_t entries) const {
    const std::uint64_t slots = (entries * 100 + options_.load - 1) / options_.load;
    return std::max<std::uint64_t>(1, (slots + buckets::slots - 1) / buckets::slots);
  }

  // Steps from its first bucket that an entry should be at most. Entries wait for slots as
  // customers do for a clerk: more than q of them with a probability below e^(-2 (1 - load) q).
  static std::uint32_t most_steps(std::uint64_t homes, double load) {
    const double waiting = base::rarity(homes) / (2 * (1 - load));
    return 1 + static_cast<std::uint32_t>(waiting / buckets::slots);
  }
  // The same of what is inserted later or in any order, up to half of the rest: it waits longer
  // than ascending entries do. What waits longer than so is placed anew.
  std::uint32_t most_steps_of_insertions(std::uint64_t homes) const {
    return 8 * most_steps(homes, (1 + load()) / 2);
  }
  double load() const { return options_.load / 100.; }

  std::optional<filled> place_ascending(const context& on, const placed& from, std::uint64_t homes,
                                        bool anyhow) const {
    core::bucket_sequence sequence{core::hash_placement::linear, base::checked(homes), 0};
    buffer<std::uint64_t> numbers(on, homes + 1);
    Executor::for_each(
        on, core::put_home_begins<Key, RowId>{from, sequence, buckets::slots, numbers.data()},
        from.size + 1);
    Executor::inclusive_minimum(on, numbers.data(), numbers.size());
    // What the last home has too much, and one bucket that is never full.
    const std::uint64_t more = from.size - Executor::read(on, numbers.data() + homes);
    sequence.count = base::checked(homes + (more + buckets::slots - 1) / buckets::slots + 1);
    filled made = reserve(on, sequence, from, anyhow);
    spread_counts<1, Executor> too_far(on);
    Executor::for_each(
        on,
        core::fill_slots<Key, RowId, Bytes>{from,
                                            {made.words.data()},
                                            made.runs.data(),
                                            numbers.data(),
                                            homes,
                                            anyhow ? sequence.count : most_steps(homes, load()),
                                            too_far[0]},
        std::uint64_t{sequence.count} * buckets::slots);
    if (too_far.sums(on)[0] != 0) return std::nullopt;
    return made;
  }

  std::optional<filled> place_anywhere(const context& on, const placed& from, std::uint64_t homes,
                                       bool anyhow) const {
    const std::uint32_t count = base::checked(prime_from(homes));
    filled made = reserve(on, {options_.placement, count, count}, from, anyhow);
    made.storage.ascending = false;
    // Buckets without entries.
    buffer<std::uint64_t> numbers(on, 1);
    Executor::clear(on, numbers.data());
    spread_counts<1, Executor> too_far(on);
    Executor::for_each(on,
                       core::fill_slots<Key, RowId, Bytes>{
                           {}, {made.words.data()}, nullptr, numbers.data(), 0, 0, too_far[0]},
                       std::uint64_t{count} * buckets::slots);
    if (!insert(on, from, made)) return std::nullopt;
    return made;
  }

  filled reserve(const context& on, core::bucket_sequence sequence, const placed& from,
                 bool anyhow) const {
    sequence.farthest = sequence.count;
    if (!anyhow)
      sequence.farthest = std::min(sequence.count, most_steps_of_insertions(sequence.homes));
    filled made(on, {.bytes = Bytes, .sequence = sequence}, sequence.count);
    made.hold_runs(on, from);
    made.used = from.size;
    return made;
  }

  // Whether there was room for all.
  static bool insert(const context& on, const placed& from, filled& to) {
    spread_counts<1, Executor> too_far(on);
    Executor::for_each(
        on,
        core::insert_entries<Key, RowId, Bytes>{
            from, {to.words.data()}, to.runs.data(), to.storage.sequence, too_far[0]},
        from.size);
    return too_far.sums(on)[0] == 0;
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
    const std::uint64_t entries = this->info_.entries + inserted - erased;
    if (conflicts != 0 || this->table_.sequence.count > 2 * (homes_of(entries) + 1))
      return std::nullopt;
    // In a copy, so that a device that fails on the way leaves what was there.
    filled next(on, this->table_, this->table_.sequence.count);
    this->copy_table(on, this->held(), next);
    Executor::for_each(
        on, core::erase_entries<Key, RowId, Bytes>{{next.words.data()}, erased_slots.data()},
        named);
    if (!insert(on, {batch.insert.keys.data(), batch.insert.row_ids.data(), inserted}, next))
      return std::nullopt;
    next.used = this->held().used + inserted;
    next.storage.ascending = next.storage.ascending && inserted == 0;
    this->replace(std::move(next));
    return entries;
  }

  view_type queried() const override { return this->template view<Key, RowId, Bytes>(); }

  hash_open_options options_;
};

template <unsigned Bytes, class Executor>
std::unique_ptr<hash_open> make_hash_table(const index_info& info, const context& on,
                                           const column& keys, const std::optional<column>& row_ids,
                                           const hash_open_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<hash_open> {
    return std::make_unique<built_hash_open<Key, RowId, Bytes, Executor>>(info, on, keys, row_ids,
                                                                          options);
  });
}

template <class Executor>
std::unique_ptr<hash_open> make_hash_open(const index_info& info, const context& on,
                                          const column& keys, const std::optional<column>& row_ids,
                                          const hash_open_options& options) {
  return make_hash_table<64, Executor>(info, on, keys, row_ids, options);
}

// With bucket=128, for libraydex_papers.
template <class Executor>
std::unique_ptr<hash_open> make_two_line_hash(const index_info& info, const context& on,
                                              const column& keys,
                                              const std::optional<column>& row_ids,
                                              const hash_open_options& options) {
  return make_hash_table<128, Executor>(info, on, keys, row_ids, options);
}

}  // namespace raydex
