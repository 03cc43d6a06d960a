// SPDX-License-Identifier: Apache-2.0
// What every structure must answer, computed with std:: algorithms on plain keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/keys.hpp"

namespace raydex::test {

// The rows of a column that are not missing, by key, then by row id.
template <class T>
class oracle {
 public:
  struct entry {
    T key;
    std::uint64_t row;
  };

  oracle(const std::vector<std::optional<T>>& column, const std::vector<std::uint64_t>& row_ids) {
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (column[i]) entries_.push_back({*column[i], row_ids[i]});
    }
    std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
      if (key_less{}(a.key, b.key)) return true;
      return !key_less{}(b.key, a.key) && a.row < b.row;
    });
  }

  // All of them.
  const std::vector<entry>& entries() const { return entries_; }

  // How many keys are less than one, or, with those equal to it, not greater.
  std::uint64_t rank(const T& key, bool past) const {
    const auto end =
        past ? std::upper_bound(entries_.begin(), entries_.end(), key,
                                [](const T& k, const entry& e) { return key_less{}(k, e.key); })
             : std::lower_bound(entries_.begin(), entries_.end(), key,
                                [](const entry& e, const T& k) { return key_less{}(e.key, k); });
    return static_cast<std::uint64_t>(end - entries_.begin());
  }

  // The smallest row of the closest key below one, or above it; the largest number for none.
  std::uint64_t closest(const T& key, bool before, bool strict) const {
    const std::uint64_t end = rank(key, before != strict);
    if (before ? end == 0 : end == entries_.size())
      return std::numeric_limits<std::uint64_t>::max();
    return before ? entries_[rank(entries_[end - 1].key, false)].row : entries_[end].row;
  }

  // The matching row ids of the keys from lower to upper, in the order of `rows`.
  std::vector<std::uint64_t> rows(const std::optional<T>& lower,
                                  const std::optional<T>& upper) const {
    if (!lower || !upper || key_less{}(*upper, *lower)) return {};
    const auto begin =
        std::lower_bound(entries_.begin(), entries_.end(), *lower,
                         [](const entry& e, const T& key) { return key_less{}(e.key, key); });
    const auto end =
        std::upper_bound(begin, entries_.end(), *upper,
                         [](const T& key, const entry& e) { return key_less{}(key, e.key); });
    std::vector<std::uint64_t> found;
    std::transform(begin, end, std::back_inserter(found), [](const entry& e) { return e.row; });
    return found;
  }

 private:
  std::vector<entry> entries_;
};

// A Boolean per cell as an Arrow bitmap; some bits beyond the end are set.
template <class T>
std::vector<std::uint8_t> bitmap(const std::vector<std::optional<T>>& column) {
  std::vector<std::uint8_t> bits(column.size() / 8 + 1, 0xff);
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (!column[i]) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] & ~(1u << (i % 8)));
  }
  return bits;
}

// The cells of a column; missing ones hold a key that is elsewhere present.
template <class T>
std::vector<T> cells(const std::vector<std::optional<T>>& column) {
  T filler{};
  for (const auto& cell : column) {
    if (cell) filler = *cell;
  }
  std::vector<T> raw;
  for (const auto& cell : column)
    raw.push_back(cell.value_or(filler));
  return raw;
}

}  // namespace raydex::test
