// SPDX-License-Identifier: Apache-2.0
#include "tests/random/search.hpp"

#include <fmt/format.h>

#include <ostream>

#include "tests/random/draw.hpp"
#include "tests/random/flight.hpp"
#include "tests/random/shrink.hpp"

namespace raydex::test {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

}  // namespace

bool search(const subject& tested, const std::string& only, const search_limits& limits,
            const std::string& command, const check& differs, std::ostream& out) {
  const clock::time_point begin = clock::now();
  watch_flight(command);
  std::uint64_t done = 0;
  for (; done < limits.cases && clock::now() - begin < limits.time; ++done) {
    const std::uint64_t seed = limits.seed + done;
    begin_case(seed, limits.seconds_a_case);
    const test_case drawn = draw_case(seed, tested, only);
    const auto difference = differs(drawn);
    if (!difference) continue;

    out << fmt::format("raydex_random: case {} failed, after {:.1f} s: {}\n", done + 1,
                       seconds_since(begin), *difference)
        << fmt::format("To repeat it: {} --seed {} --cases 1\n", command, seed) << "Shrinking ..."
        << std::endl;
    const auto fails = [&](const test_case& simpler) {
      begin_case(seed, limits.seconds_a_case);
      return differs(simpler).has_value();
    };
    const test_case least = shrink(drawn, tested.where, fails, limits.shrinking);
    const auto difference_left = differs(least);
    end_flight();
    out << to_text(least) << difference_left.value_or("It does not fail every time.") << std::endl;
    return false;
  }
  end_flight();
  out << fmt::format("raydex_random: {} cases in {:.1f} s, all passed: {} --seed {} --cases {}\n",
                     done, seconds_since(begin), command, limits.seed, done);
  return true;
}

}  // namespace raydex::test
