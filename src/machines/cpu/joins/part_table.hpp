// SPDX-License-Identifier: Apache-2.0
// A hash table of the build rows of a part, which fits the second-level cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "raydex/memory.hpp"

namespace raydex::cpu {

// The rows of a part by the hashes of their keys. It is filled anew for each part.
template <class Key, class RowId>
class part_table {
 public:
  static constexpr RowId none = std::numeric_limits<RowId>::max();

  // Rows of one key.
  struct group {
    RowId count;
    RowId end;  // behind its last row, once they are in order
  };

  explicit part_table(const context& on) : on_(on) {}

  // Takes in a part, the hash of each row. `bits` of a hash are those of the part. `expected` is
  // how many different keys there may be; more take longer. `all_rows`: else the first row of a key
  // is all that is kept of it, and none is said to repeat.
  void fill(std::span<const Key> hashes, unsigned bits, std::uint64_t expected, bool all_rows) {
    hashes_ = hashes;
    bits_ = bits;
    all_rows_ = all_rows;
    std::uint64_t room = std::min<std::uint64_t>(hashes.size(), expected + 1);
    while (!fill_slots(room))
      room *= 4;
  }

  // Whether two keys are equal.
  bool repeats() const { return repeats_; }
  // Of each row the first one with its key, if keys repeat.
  std::span<const RowId> firsts() const { return {firsts_.data(), hashes_.size()}; }

  // Puts the rows of each key side by side, if keys repeat.
  void order(std::span<RowId> rows) {
    RowId next = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (firsts_[i] != i) continue;
      groups_[i].end = next;
      next += groups_[i].count;
    }
    if (ordered_.size() < rows.size()) ordered_ = {on_, rows.size()};
    for (std::size_t i = 0; i < rows.size(); ++i)
      ordered_[groups_[firsts_[i]].end++] = rows[i];
    std::copy_n(ordered_.data(), rows.size(), rows.data());
  }

  // The first row with this hash, as a position in the part, or none.
  RowId find(Key hash) const {
    const slot* at = slots_.data() + home(hash);
    for (;; at = at + 1 == end_ ? slots_.data() : at + 1) {
      if (at->entry == none) return none;
      if (is(*at, hash)) return at->entry;
    }
  }
  // The rows with the key of the row there.
  const group& rows_of(RowId first) const { return groups_[first]; }

 private:
  struct slot {
    std::uint32_t tag;
    RowId entry;
  };

  static std::uint32_t tag_of(Key hash) { return static_cast<std::uint32_t>(hash); }
  bool is(const slot& one, Key hash) const {
    if constexpr (sizeof(Key) == 4) return one.tag == hash;
    return one.tag == tag_of(hash) && hashes_[one.entry] == hash;
  }
  std::uint64_t home(Key hash) const {
    const auto left = static_cast<Key>(hash << bits_);
    return (static_cast<std::uint64_t>(left >> (8 * sizeof(Key) - 32)) * count_) >> 32;
  }

  // False if there is no room for all keys.
  bool fill_slots(std::uint64_t room) {
    count_ = 4 * room + 2;  // if more slots are taken, it is hardly foreseen how many are looked at
    if (slots_.size() < count_) slots_ = {on_, count_ + count_ / 8};  // of the next part, too
    end_ = slots_.data() + count_;
    std::fill(slots_.data(), slots_.data() + count_, slot{0, none});
    repeats_ = false;
    const std::size_t size = hashes_.size();
    std::uint64_t left = count_ / 2 + 1;
    std::size_t i = 0;
    for (; i < size; ++i) {
      const RowId first = put(static_cast<RowId>(i));
      if (first != i) {
        if (all_rows_) break;
        continue;
      }
      if (--left == 0) return false;
    }
    repeats_ = i < size;
    if (!repeats_) return true;
    if (firsts_.size() < size) {
      firsts_ = {on_, size};
      groups_ = {on_, size};
    }
    for (std::size_t before = 0; before < i; ++before) {
      firsts_[before] = static_cast<RowId>(before);
      groups_[before].count = 1;
    }
    for (; i < size; ++i) {
      const RowId first = put(static_cast<RowId>(i));
      firsts_[i] = first;
      if (first != i) {
        ++groups_[first].count;
        continue;
      }
      groups_[i].count = 1;
      if (--left == 0) return false;
    }
    return true;
  }
  // Puts a row into the table unless its key is there; the first row of it.
  RowId put(RowId entry) {
    const Key hash = hashes_[entry];
    slot* at = slots_.data() + home(hash);
    for (;; at = at + 1 == end_ ? slots_.data() : at + 1) {
      if (at->entry == none) {
        *at = {tag_of(hash), entry};
        return entry;
      }
      if (is(*at, hash)) return at->entry;
    }
  }

  context on_;
  std::span<const Key> hashes_;
  unsigned bits_ = 0;
  bool all_rows_ = true;
  buffer<slot> slots_;
  std::uint64_t count_ = 0;
  const slot* end_ = nullptr;
  bool repeats_ = false;
  buffer<RowId> firsts_;
  buffer<group> groups_;
  buffer<RowId> ordered_;
};

}  // namespace raydex::cpu
