// SPDX-License-Identifier: Apache-2.0
// Which of few probe rows have a match among many build rows: a table of the probes' hashes, small
// enough for a cache, in which the build rows mark what they meet. Nothing is divided.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "raydex/core/joins/key_cells.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cpu/joins/division.hpp"
#include "src/machines/cpu/joins/key_columns.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/joins/equal_rows.hpp"

namespace raydex::cpu {

// The hashes of probes with a mark each, in open addressing. If keys are hashes, each has an owner
// too: a probe row, whose key a build row must have to mark it. So build rows are compared only
// until one has marked their hash, and probes with the owner of theirs.
template <class Key, class RowId>
class marked_hashes {
 public:
  // `begins`: of each probe, its slot until `put_begins`.
  marked_hashes(const context& on, const hashed_column<Key>& probes, const equality& how,
                RowId* begins)
      : how_(how),
        probes_(probes.size()),
        count_(slots_of(probes.size())),
        slots_(on, count_ + 1),
        marks_(on, count_ + 1),
        owners_(on, how.hashed() ? count_ + 1 : 0),
        begins_(begins) {
    std::fill(slots_.begin(), slots_.end(), empty);
    std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
    for_blocks(probes_, grain, [&](std::uint64_t begin, std::uint64_t end) {
      probes.for_each(
          begin, end,
          [&](std::uint64_t i, Key hash) { begins_[i] = static_cast<RowId>(add(i, hash)); },
          [&](std::uint64_t i) { begins_[i] = none; });
    });
  }

  // Marks the hashes of build rows. They are compared some at a time.
  void mark_all(const hashed_column<Key>& rows) {
    constexpr std::uint64_t at_once = 32;
    for_blocks(rows.size(), grain, [&](std::uint64_t begin, std::uint64_t end) {
      std::uint64_t met_by[at_once];
      std::uint64_t slots[at_once];
      std::uint64_t met = 0;
      const auto compare = [&] {
        for_each_fetched(
            *how_.probe_keys, 0, met,
            [&](std::uint64_t k) { return std::optional<std::uint64_t>(owners_[slots[k]]); },
            [&](std::uint64_t k, std::uint64_t owner) {
              if (how_.probe_keys->equal(owner, *how_.build_keys, met_by[k])) mark(slots[k]);
            });
        met = 0;
      };
      rows.for_each(
          begin, end,
          [&](std::uint64_t i, Key hash) {
            const std::uint64_t at = find(hash);
            if (at == nowhere || is_marked(at)) return;
            if (!how_.hashed()) return mark(at);
            met_by[met] = i;
            slots[met] = at;
            if (++met == at_once) compare();
          },
          [](std::uint64_t) {});
      if (met != 0) compare();
    });
  }

  // Writes 0 for each probe with a match, and none for the others. False if probes of different
  // keys have equal hashes: then it is not known which ones have.
  bool put_begins() {
    std::atomic<bool> confused = false;
    const auto put = [&](std::uint64_t i) -> std::optional<std::uint64_t> {
      const RowId at = begins_[i];
      if (at == none) return std::nullopt;
      begins_[i] = marks_[at] != 0 ? RowId{0} : none;
      if (!how_.hashed() || owners_[at] == i) return std::nullopt;
      return owners_[at];
    };
    for_blocks(probes_, grain, [&](std::uint64_t begin, std::uint64_t end) {
      if (!how_.hashed()) {
        for (std::uint64_t i = begin; i < end; ++i)
          put(i);
        return;
      }
      const core::composite_cells& keys = *how_.probe_keys;
      for_each_fetched(keys, begin, end, put, [&](std::uint64_t i, std::uint64_t owner) {
        if (!keys.equal(i, keys, owner)) confused = true;
      });
    });
    return !confused;
  }

 private:
  static constexpr Key empty = 0;  // that hash itself is in the last slot, as another number
  static constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();
  static constexpr RowId none = std::numeric_limits<RowId>::max();
  static constexpr std::uint64_t grain = 1 << 12;  // rows

  // Most of those of few probes are empty, so that a hash that is not there is told by the first
  // one; if there are many, caches count for more.
  static std::uint64_t slots_of(std::uint64_t probes) {
    constexpr std::uint64_t most = std::uint64_t{1} << 17;
    return std::max(2 * probes, std::min(8 * probes, most)) + 1024;
  }

  std::uint64_t home(Key hash) const {
    return (static_cast<std::uint64_t>(hash >> (8 * sizeof(Key) - 32)) * count_) >> 32;
  }
  std::uint64_t after(std::uint64_t at) const { return at + 1 == count_ ? 0 : at + 1; }
  std::uint64_t find(Key hash) const {
    if (hash == empty) return slots_[count_] != empty ? count_ : nowhere;
    std::uint64_t at = home(hash);
    for (; slots_[at] != hash; at = after(at))
      if (slots_[at] == empty) return nowhere;
    return at;
  }

  // Several threads may do these at once.
  std::uint64_t add(std::uint64_t probe, Key hash) {
    std::uint64_t at = hash == empty ? count_ : home(hash);
    const Key held = hash == empty ? Key{1} : hash;
    for (;; at = after(at)) {
      const std::atomic_ref slot(slots_[at]);
      Key there = slot.load(std::memory_order_relaxed);
      if (there == empty && slot.compare_exchange_strong(there, held, std::memory_order_relaxed))
        break;
      if (there == held) return at;
    }
    if (how_.hashed()) owners_[at] = static_cast<RowId>(probe);
    return at;
  }
  bool is_marked(std::uint64_t at) {
    return std::atomic_ref(marks_[at]).load(std::memory_order_relaxed) != 0;
  }
  void mark(std::uint64_t at) { std::atomic_ref(marks_[at]).store(1, std::memory_order_relaxed); }

  equality how_;
  std::uint64_t probes_;
  std::uint64_t count_;
  buffer<Key> slots_;
  buffer<std::uint8_t> marks_;
  buffer<RowId> owners_;
  RowId* begins_;
};

// Whether that takes less time than to divide both sides. `most_pass`: whether most build rows have
// a hash of a probe. Then a division compares most of those of hashed keys, and marks few. Measured
// with 2^22 build rows.
constexpr bool marks_pay(std::uint64_t build, std::uint64_t probe, bool hashed, bool most_pass) {
  const unsigned bits = !hashed ? 18 : most_pass ? 20 : 16;
  return probe <= (std::uint64_t{1} << bits) && probe <= build / 4;
}

}  // namespace raydex::cpu
