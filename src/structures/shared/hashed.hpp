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

// Counts buckets of a file that name rows which are not there, or do not lead on; slots with an
// entry, and the rows of all.
template <class View>
struct count_wrong_buckets {
  using buckets = typename View::buckets;

  View view;
  std::uint64_t count;  // of buckets
  std::uint64_t max_row_id;
  core::spread_count wrong;
  core::spread_count used;
  core::spread_count rows;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto bucket = static_cast<std::uint32_t>(i);
    bool right = true;
    if constexpr (requires { view.chains; }) {
      const std::uint64_t next = *view.table.link(bucket);
      right = next == 0 || (next > bucket && next >= view.chains && next < count);
    }
    std::uint64_t entries = 0;
    std::uint64_t all = 0;
    for (unsigned slot = 0; slot < buckets::slots; ++slot) {
      const auto row = *view.table.row(bucket, slot);
      if (row == buckets::none) continue;
      std::uint64_t own = 1;
      if (view.runs != nullptr) {
        const auto run = view.runs[i * buckets::slots + slot];
        own = run.size;
        right = right && own != 0 && own <= view.entries && run.begin <= view.entries - own;
      }
      right = right && row <= max_row_id;
      ++entries;
      all += own;
    }
    wrong.add(i, right ? 0 : 1);
    used.add(i, entries);
    rows.add(i, all);
  }
};

// Counts entries whose hashes do not ascend, or that lookups do not come to, where links lead on;
// and entries that are met.
template <class View>
struct count_wrong_parts {
  using buckets = typename View::buckets;
  using key = typename View::key_type;

  View view;
  std::uint64_t count;  // of buckets
  core::spread_count wrong;
  core::spread_count met;

  RAYDEX_HD void operator()(std::uint64_t part) const {
    std::uint64_t all = 0;
    bool right = true;
    key before = 0;
    view.for_each_entry(part, [&](key hash, auto /*row*/, std::uint64_t /*slot*/) {
      right = right && (all == 0 ? is_at_home(part, hash) : before < hash);
      before = hash;
      ++all;
    });
    if constexpr (requires { view.chains; }) {
      right = right && (all == 0 || view.home(before) == part);
    } else if (part + 1 == count) {
      right = right && view.table.key(static_cast<std::uint32_t>(part), buckets::slots - 1) ==
                           buckets::never;
    }
    wrong.add(part, right ? 0 : 1);
    met.add(part, all);
  }

 private:
  // Of the first hash of a part.
  RAYDEX_HD bool is_at_home(std::uint64_t part, key hash) const {
    if constexpr (requires { view.chains; }) return view.home(hash) == part;
    if (view.home(hash) > part) return false;
    // Behind the last hash before it.
    for (std::uint64_t bucket = part; bucket > 0; --bucket) {
      bool is_after = true;
      bool any = false;
      view.for_each_entry(bucket - 1, [&](key other, auto /*row*/, std::uint64_t /*slot*/) {
        any = true;
        is_after = other < hash;
      });
      if (any) return is_after;
    }
    return true;
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
    if (file.verifies()) check_table(own, file);
  }

  // Checks a table of a file; one whose hashes do not ascend is made anew.
  void check_table(const context& own, const kept_memory& file) {
    const std::uint64_t most = this->info_.max_row_id;
    const std::uint64_t size = this->info_.entries;
    const View table = this->queried();
    const std::uint64_t count = held_.words.size() / buckets::words;
    check_numbers_of<Executor>(file, "rows", own, held_.rows, most);
    spread_counts<3, Executor> in_buckets(own);
    Executor::for_each(
        own,
        count_wrong_buckets<View>{table, count, most, in_buckets[0], in_buckets[1], in_buckets[2]},
        count);
    const auto [wrong, used, rows] = in_buckets.sums(own);
    file.check("buckets", wrong == 0 && rows == size);
    if (table.ascending) {
      spread_counts<2, Executor> in_parts(own);
      Executor::for_each(own, count_wrong_parts<View>{table, count, in_parts[0], in_parts[1]},
                         table.parts());
      const auto [unordered, met] = in_parts.sums(own);
      file.check("buckets", unordered == 0 && met == used);
      return;
    }
    sorted all;
    list(own, all);
    if (keys_repeat()) all.row_ids = std::move(held_.rows);
    all.max_row_id = most;
    const core::column_entries<key, row_id> entries{all.keys.data(), all.row_ids.data()};
    file.check("buckets", all.keys.size() == size);
    check_entries_of<Executor>(file, "buckets", own, entries, size, size, most);
    hold(own, std::move(all));
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

  repetition repeats_;
  filled held_;
};

}  // namespace raydex
