// SPDX-License-Identifier: Apache-2.0
// Draws cases until one fails or the time is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "tests/random/case.hpp"

namespace raydex::test {

struct search_limits {
  std::uint64_t seed = 0;                   // of the first case; later ones count up
  std::uint64_t cases = ~std::uint64_t{0};  // at most
  std::chrono::seconds time{3600};          // after which no case begins
  std::chrono::seconds shrinking{20};       // at most
  unsigned seconds_a_case = 300;            // after which a case counts as hanging
};

// What differed in a case; nothing if all was right.
using check = std::function<std::optional<std::string>(const test_case&)>;

// Returns whether all cases passed. Prints to `out` how many there were; or, if one failed, the
// shrunk case and the `command` that repeats it.
bool search(const subject& tested, const std::string& only, const search_limits& limits,
            const std::string& command, const check& differs, std::ostream& out);

}  // namespace raydex::test
