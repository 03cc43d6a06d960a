// SPDX-License-Identifier: Apache-2.0
// How far a text reads the same from two of its positions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "examples/longest_common_extension/suffixes.hpp"
#include "raydex/raydex.hpp"

namespace raydex::examples {

// Two positions of a text.
struct position_pair {
  std::uint32_t a, b;
};

// Answers batches of longest common extensions by range minima: of all neighbours between two
// suffixes in the order, those that share the fewest letters share as many as the two.
class common_extensions {
 public:
  // `suffixes` must outlive it.
  common_extensions(const session& on, const sorted_suffixes& suffixes,
                    const std::string& structure);

  // How many letters are equal from the two positions of each pair. A position may be the end of
  // the text, which has nothing in common with any other.
  std::vector<std::uint32_t> lengths(std::span<const position_pair> pairs);

  // The same with up to so many mismatches; letters that differ count, too.
  std::vector<std::uint32_t> lengths(std::span<const position_pair> pairs, unsigned mismatches);

  // The structure over the LCP array.
  const rmq_info& info() const { return minima_->info(); }
  // Time that its build and its queries have taken so far.
  double build_ms() const { return build_ms_; }
  double query_ms() const { return query_ms_; }

 private:
  const session& on_;
  const sorted_suffixes& suffixes_;
  buffer<std::uint32_t> common_;  // the LCP array, where the backend can read it
  std::unique_ptr<rmq> minima_;
  double build_ms_ = 0;
  double query_ms_ = 0;
};

}  // namespace raydex::examples
