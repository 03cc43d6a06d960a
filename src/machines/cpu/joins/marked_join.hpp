// SPDX-License-Identifier: Apache-2.0
// Which of few probe rows have a match among many build rows: a table of the probes' hashes, small
// enough for a cache, in which the build rows mark what they meet. Nothing is divided.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/lookups/hashing.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cpu/joins/division.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/joins/found_rows.hpp"

namespace raydex::cpu {

// Hashes with a mark each, in open addressing. Seven in eight slots are empty, so that most hashes
// that are not there are told by the first one.
template <class Key>
class marked_hashes {
 public:
  // Room for so many hashes.
  marked_hashes(const context& on, std::uint64_t room)
      : count_(8 * room + 1024), slots_(on, count_ + 1), marks_(on, count_ + 1) {
    std::fill(slots_.begin(), slots_.end(), empty);
    std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
  }

  void add(Key hash) {
    if (hash == empty) {
      has_empty_ = true;
      return;
    }
    std::uint64_t at = home(hash);
    while (slots_[at] != empty && slots_[at] != hash)
      at = after(at);
    slots_[at] = hash;
  }
  // Marks the hashes of a column that are there.
  void mark_all(const hashed_column<Key>& rows) {
    for_blocks(rows.size(), 1 << 14, [&](std::uint64_t begin, std::uint64_t end) {
      rows.for_each(
          begin, end, [&](std::uint64_t, Key hash) { mark(hash); }, [](std::uint64_t) {});
    });
  }
  // Of a hash that was added.
  bool is_marked(Key hash) const { return marks_[find(hash)] != 0; }

 private:
  static constexpr Key empty = 0;  // that hash itself is in the last slot
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t home(Key hash) const {
    return (static_cast<std::uint64_t>(hash >> (8 * sizeof(Key) - 32)) * count_) >> 32;
  }
  std::uint64_t after(std::uint64_t at) const { return at + 1 == count_ ? 0 : at + 1; }
  std::uint64_t find(Key hash) const {
    if (hash == empty) return has_empty_ ? count_ : none;
    std::uint64_t at = home(hash);
    for (; slots_[at] != hash; at = after(at))
      if (slots_[at] == empty) return none;
    return at;
  }
  // Several threads may do this at once.
  void mark(Key hash) {
    const std::uint64_t at = find(hash);
    if (at == none) return;
    const std::atomic_ref own(marks_[at]);
    if (own.load(std::memory_order_relaxed) == 0) own.store(1, std::memory_order_relaxed);
  }

  std::uint64_t count_;
  buffer<Key> slots_;
  buffer<std::uint8_t> marks_;
  bool has_empty_ = false;
};

// Whether that takes less time than to divide both sides. Measured with 10^7 build rows.
constexpr bool marks_pay(std::uint64_t build, std::uint64_t probe) {
  return probe <= (std::uint64_t{1} << 17) && probe <= build / 4;
}

// 0 for each probe row with a match, and none for the others. Keys are no hashes of others.
template <class Key, class RowId>
found_rows<RowId> find_marked(const context& on, const column& build, const column& probe,
                              const core::hash_function<Key>& mix) {
  const hashed_column<Key> probes(probe, mix);
  marked_hashes<Key> hashes(on, probe.size);
  probes.for_each(
      0, probe.size, [&](std::uint64_t, Key hash) { hashes.add(hash); }, [](std::uint64_t) {});
  hashes.mark_all(hashed_column<Key>(build, mix));
  found_rows<RowId> found;
  found.begins = {on, probe.size};
  constexpr RowId none = std::numeric_limits<RowId>::max();
  probes.for_each(
      0, probe.size,
      [&](std::uint64_t i, Key hash) {
        found.begins[i] = hashes.is_marked(hash) ? RowId{0} : none;
      },
      [&](std::uint64_t i) { found.begins[i] = none; });
  return found;
}

}  // namespace raydex::cpu
