// SPDX-License-Identifier: Apache-2.0
// The right answers of joins, by walks over all build rows. Shares nothing with the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/random/bits.hpp"
#include "tests/random/case.hpp"

namespace raydex::test {

// The string that a cell of a column of strings stands for: of 0 to 40 characters, different for
// different cells, and some of them only at the end, or by what ends a string elsewhere.
std::string string_of(const cell& of);

// A row that is none.
inline constexpr std::uint64_t no_row = ~std::uint64_t{0};

// The build rows of each probe row, in the order in which a join has them.
using walked_rows = std::vector<std::vector<std::uint64_t>>;

class walked_join {
 public:
  explicit walked_join(const test_case& tried);

  // Of all questions but as-of ones.
  walked_rows rows(const join_question& asked) const;
  // The nearest intervals of each probe row, and how far away they are.
  struct neighbour {
    std::uint64_t row;
    number apart;
  };
  std::vector<std::vector<neighbour>> nearest(const join_question& asked) const;
  // The length that each probe row shares with all build rows; infinite if 64 bits do not hold it.
  std::vector<number> covered(const join_question& asked) const;
  // The row that an as-of join takes for each probe row, or `no_row`.
  std::vector<std::uint64_t> closest(const join_question& asked) const;

 private:
  // Rows as numbers; nothing if they are missing.
  struct side {
    std::vector<std::optional<number>> first;
    std::vector<std::optional<number>> second;
    std::vector<std::optional<std::string>> keys;
  };
  walked_rows tied_rows(const join_question& asked) const;
  side read(const std::vector<table_row>& rows, bool are_probes) const;
  bool matches(const join_question& asked, const side& probes, std::size_t p, std::size_t b) const;
  bool is_related(const join_question& asked, number lower, number upper, std::size_t b) const;
  bool is_in_window(const join_question& asked, number at, std::size_t b) const;
  static bool is_interval(const side& of, std::size_t row);
  bool are_of_one_key(const side& probes, std::size_t p, std::size_t b) const;
  number apart(number a, number b) const;
  number distance(const drawn_distance& given) const;

  const test_case& case_;
  side build_;
};

// Which rows a join has, given those of each probe row: all pairs, how many of them each probe row
// has, and how many build rows alone follow.
struct joined_pairs {
  std::vector<std::uint64_t> probes;
  std::vector<std::uint64_t> builds;
  std::vector<std::uint64_t> counts;
  std::uint64_t unmatched = 0;
};
joined_pairs pairs_of(const walked_rows& found, join_kind kind, std::uint64_t builds);

}  // namespace raydex::test
