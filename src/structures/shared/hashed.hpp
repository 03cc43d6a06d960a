// SPDX-License-Identifier: Apache-2.0
// What hash tables have in common: a table of words that holds each key once, by its hash, and
// where keys repeat the rows of each in a list beside it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "raydex/core/lookups/hash_build.hpp"
#include "raydex/error.hpp"
#include "raydex/options.hpp"
#include "src/interface/checks.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"
#include "src/operations/lookups/repeated_keys.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

// Prime numbers.
inline bool is_prime(std::uint64_t number) {
  if (number < 4) return number > 1;
  if (number % 2 == 0) return false;
  for (std::uint64_t divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return false;
  return true;
}

// The smallest prime from a number on. Below 2^32 it takes less than a millisecond.
inline std::uint64_t prime_from(std::uint64_t number) {
  while (!is_prime(number))
    ++number;
  return number;
}

[[noreturn]] inline void refuse_repeated(std::uint64_t repeated, std::uint64_t keys) {
  throw invalid_argument("keys: " + std::to_string(repeated) + " of " + std::to_string(keys) +
                         " repeat another one, but repeats=refused");
}
[[noreturn]] inline void refuse_buckets(std::uint64_t buckets, std::uint64_t most) {
  throw unsupported("keys: " + std::to_string(buckets) + " buckets, but at most " +
                    std::to_string(most) + " can be numbered; pivot_tree takes as many keys");
}

// The slots of a bucket that have an entry, wherever lookups would look for it.
template <class View, class Visit>
RAYDEX_HD void for_each_used_slot(const View& view, std::uint64_t bucket, const Visit& visit) {
  using buckets = typename View::buckets;
  const auto own = static_cast<std::uint32_t>(bucket);
  for (unsigned slot = 0; slot < buckets::slots; ++slot) {
    const auto row = *view.table.row(own, slot);
    if (row != buckets::none) visit(view.table.key(own, slot), row, bucket * buckets::slots + slot);
  }
}

// Counts them.
template <class View>
struct count_used_slots {
  View view;
  std::uint64_t* counts;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    std::uint64_t count = 0;
    for_each_used_slot(view, bucket, [&](auto, auto, auto) { ++count; });
    counts[bucket] = count;
  }
};

// Copies their hashes, and rows or where their runs begin.
template <class View>
struct copy_used_slots {
  View view;
  const std::uint64_t* ends;
  typename View::key_type* hashes;
  typename View::row_id_type* rows;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    std::uint64_t to = bucket == 0 ? 0 : ends[bucket - 1];
    for_each_used_slot(view, bucket, [&](auto hash, auto row, std::uint64_t slot) {
      hashes[to] = hash;
      rows[to] = view.runs != nullptr ? view.runs[slot].begin : row;
      ++to;
    });
  }
};

// Writes entries by their hashes.
template <class Key, class RowId>
struct put_hashed_entry {
  core::strided_list<Key, RowId> list;
  core::hash_function<Key> hashed_by;
  std::uint64_t* codes;
  RowId* rows;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    codes[i] = core::key_of(hashed_by, list.key(i));
    rows[i] = core::load_at(list.row_ids, i);
  }
};

template <class Base, class View, class Executor>
class built_hash : public built_ordered_index<Base, View, Executor> {
 protected:
  using typename built_ordered_index<Base, View, Executor>::key;
  using typename built_ordered_index<Base, View, Executor>::row_id;
  using buckets = typename View::buckets;
  using sorted = sorted_column<key, row_id>;
  using placed = core::placed_entries<key, row_id>;
  using run = core::row_run<row_id>;

  template <class Options>
  built_hash(const index_info& info, const context& on, const Options& options)
      : built_hash::built_ordered_index(
            info, on, {.share_buckets = options.reading == bucket_reading::shared},
            {.seed = options.seed ? *options.seed : random_seed()}),
        repeats_(options.repeats) {}

  // Buckets with entries, and what lies beside them where keys repeat.
  struct filled {
    typename Base::table_storage storage;
    buffer<std::uint32_t> words;
    buffer<run> runs;  // a run a slot
    buffer<row_id> rows;
    std::uint64_t used = 0;       // slots that were ever used
    double buckets_an_entry = 0;  // that it was made with

    filled() = default;
    filled(const context& on, const typename Base::table_storage& how, std::uint32_t count)
        : storage(how), words(on, std::uint64_t{count} * buckets::words) {
      storage.words = words.data();
    }
    // Makes room for the runs of entries that have some.
    void hold_runs(const context& on, const placed& from) {
      if (from.begins == nullptr) return;
      runs = {on, words.size() / buckets::words * buckets::slots};
      // A file has those of empty slots, too.
      Executor::clear(on, reinterpret_cast<row_id*>(runs.data()), 2 * runs.size());
      storage.runs = runs.data();
    }
  };

  // A table with these entries; unless `anyhow`, nothing if their hashes lie so badly as they do in
  // no more than one of 10^9 tables.
  virtual std::optional<filled> place(const context& on, const placed& from, bool anyhow) const = 0;

  // The logarithm of how seldom one of so many parts may be as badly off as tables are bounded by.
  static double rarity(std::uint64_t parts) {
    return std::log(static_cast<double>(parts)) + 21;  // e^21 is above 10^9
  }

  const filled& held() const { return held_; }
  bool keys_repeat() const { return held_.rows.size() != 0; }

  // Holds a table in the place of the one that it had.
  void replace(filled&& made) {
    held_ = std::move(made);
    look_at_held();
  }

  // Keeps the numbers that say how buckets lie, and returns how many there are.
  virtual std::uint32_t keep_sizes(kept_memory& file, typename Base::table_storage& how) = 0;

  // Copies the words of a table to one that has as many or more.
  static void copy_table(const context& on, const filled& from, filled& to) {
    Executor::copy(on, to.words.data(), from.words.data(), from.words.size());
  }

  // A number of buckets, if the slots in them can be numbered.
  static std::uint32_t checked(std::uint64_t count) {
    if (count > most_buckets) refuse_buckets(count, most_buckets);
    return static_cast<std::uint32_t>(count);
  }
  static constexpr std::uint64_t most_buckets =
      std::min<std::uint64_t>(std::numeric_limits<std::uint32_t>::max(),
                              std::numeric_limits<row_id>::max() / buckets::slots);

 private:
  void hold(const context& on, sorted entries) override {
    const std::uint64_t size = entries.keys.size();
    const std::uint64_t repeated = count_repeated<Executor>(on, entries.keys.data(), size);
    if (repeated != 0 && repeats_ == repetition::refused) refuse_repeated(repeated, size);
    entry_order order = this->sorted_by();
    std::optional<filled> made;
    for (unsigned left = most_seeds;; --left) {
      made = place_all(on, entries, repeated, left == 0);
      if (made) break;
      order = {.seed = core::hash_function<std::uint64_t>{}(*order.seed + 1),
               .hashed_by = order.seed};
      entries = Executor::template sort_column<key, row_id>(on, column(entries.keys),
                                                            column(entries.row_ids), order);
    }
    if (repeated != 0) {
      made->rows = std::move(entries.row_ids);
      made->storage.rows = made->rows.data();
    }
    made->storage.seed = *order.seed;
    this->wait_before_replacing(on);
    replace(std::move(*made));
  }

  void look_at_held() {
    this->table_ = held_.storage;
    this->sort_by({.seed = held_.storage.seed});
  }

  void do_keep(const context& own, kept_memory& file) override {
    bool repeats = keys_repeat();
    auto growth = std::bit_cast<std::uint64_t>(held_.buckets_an_entry);
    file.number("seed", held_.storage.seed);
    file.number("keys repeat", repeats, repeats_ == repetition::refused ? 0 : 1);
    file.number("slots used", held_.used);
    file.number("buckets an entry", growth);
    const std::uint64_t count = keep_sizes(file, held_.storage);
    file.array<Executor>("buckets", own, held_.words, count * buckets::words);
    file.array<Executor>("runs", own, held_.runs, repeats ? count * buckets::slots : 0);
    file.array<Executor>("rows", own, held_.rows, repeats ? this->info_.entries : 0);
    if (!file.loads()) return;
    held_.buckets_an_entry = std::bit_cast<double>(growth);
    file.check("buckets", held_.buckets_an_entry >= 0 && held_.buckets_an_entry <= most_buckets);
    held_.storage.words = held_.words.data();
    held_.storage.runs = held_.runs.data();
    held_.storage.rows = held_.rows.data();
    look_at_held();
    if (file.verifies()) load_again(own, file);
  }
  // Makes a table anew, with the entries of a file's.
  void load_again(const context& own, const kept_memory& file) {
    const View table = this->queried();
    const std::uint64_t size = this->info_.entries;
    buffer<std::uint64_t> ends(own, held_.words.size() / buckets::words);
    Executor::for_each(own, count_used_slots<View>{table, ends.data()}, ends.size());
    Executor::inclusive_sum(own, ends.data(), ends.size());
    const std::uint64_t count = Executor::read(own, ends.data() + ends.size() - 1);
    file.check("buckets",
               keys_repeat() ? count <= size && (count == 0) == (size == 0) : count == size);
    sorted found{{own, count}, {own, count}};
    Executor::for_each(
        own, copy_used_slots<View>{table, ends.data(), found.keys.data(), found.row_ids.data()},
        ends.size());
    if (keys_repeat()) {
      // Runs lie in the order of hashes.
      found = Executor::template sort_column<key, row_id>(own, column(found.keys),
                                                          column(found.row_ids));
      found = {repeat_hashes<Executor>(own, found, size), std::move(held_.rows)};
    }
    hold(own, checked_entries<Executor>(file, "rows", own, found.keys, found.row_ids,
                                        this->info_.max_row_id));
  }

  // Others that are tried after the first one.
  static constexpr unsigned most_seeds = 8;

  std::optional<filled> place_all(const context& on, const sorted& entries, std::uint64_t repeated,
                                  bool anyhow) const {
    const std::uint64_t size = entries.keys.size();
    if (repeated == 0)
      return place(on, {entries.keys.data(), entries.row_ids.data(), size}, anyhow);
    const auto different = list_different<Executor>(on, entries, size - repeated);
    return place(on,
                 {different.hashes.data(), different.first_rows.data(), different.hashes.size(),
                  different.begins.data(), size},
                 anyhow);
  }

  // The entries, by hash.
  core::strided_list<key, row_id> list(const context& on, sorted& copy) const override {
    const View table = this->queried();
    buffer<std::uint64_t> ends(on, table.parts());
    Executor::for_each(on, core::count_part_entries<View>{table, ends.data()}, ends.size());
    Executor::inclusive_sum(on, ends.data(), ends.size());
    const std::uint64_t count = Executor::read(on, ends.data() + ends.size() - 1);
    sorted found{{on, count}, {on, count}};
    Executor::for_each(
        on,
        core::copy_part_entries<View>{table, ends.data(), found.keys.data(), found.row_ids.data()},
        ends.size());
    if (!table.ascending) {
      const auto codes = column(found.keys);
      found = Executor::template sort_column<key, row_id>(on, codes, column(found.row_ids));
    }
    copy = std::move(found);
    if (!keys_repeat()) return strided(list_of(copy));
    const std::uint64_t size = this->info_.entries;
    copy = {repeat_hashes<Executor>(on, copy, size), {}};
    return {{copy.keys.data()}, {held_.rows.data()}, size};
  }

  void do_entries(const context& on, std::uint64_t* codes, void* rows) const override {
    sorted copy;
    Executor::for_each(
        on,
        put_hashed_entry<key, row_id>{list(on, copy), core::hash_by<key>(held_.storage.seed), codes,
                                      static_cast<row_id*>(rows)},
        this->info_.entries);
  }

  repetition repeats_;
  filled held_;
};

}  // namespace raydex
