// SPDX-License-Identifier: Apache-2.0
// The right answers, by std:: algorithms over decoded numbers. Shares nothing with the library.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/random/bits.hpp"
#include "tests/random/case.hpp"

namespace raydex::test {

// What an index holds: by key, then by row id.
class held_keys {
 public:
  struct entry {
    number key;
    std::uint64_t row;
  };

  // Missing keys are left out; a row id is a position where there are no explicit ones.
  held_keys(key_format format, const std::vector<cell>& column, bool explicit_rows);

  // The entries that a range matches.
  std::span<const entry> matches(const range& wanted) const;
  // Deletions first, except for pairs both inserted and erased: these stay as they are.
  void edit(const step& batch);

  const std::vector<entry>& entries() const { return entries_; }

 private:
  key_format format_;
  std::vector<entry> entries_;
};

// The i-th of the values that sums add up: a number that long double adds exactly, or, for
// integers, any bits, which are added modulo 2^64.
cell value_at(key_type type, std::uint64_t row, bool masked);

// The position of the minimum in a range, or of the maximum; nothing if the range is empty.
std::optional<std::uint64_t> extreme_of(const std::vector<number>& values, key_format position,
                                        const range& wanted, bool rightmost, bool largest);
// Whether a range is wholly in the array, or missing.
bool is_within(std::uint64_t size, key_format position, const range& wanted);

}  // namespace raydex::test
