// SPDX-License-Identifier: Apache-2.0
// Trees as `build` makes them, over keys made to defeat them.
#include "tests/lookups/pivot_tree/hard_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class pivot_tree_hard_keys : public test::backend_test {
 protected:
  template <class Key>
  void check(const std::vector<Key>& keys, const option_map& options,
             std::mt19937_64& random) const {
    const auto keys_there = at().upload(keys);
    const auto built = build("pivot_tree", at().where(), at(), column(keys_there), {}, options);
    SCOPED_TRACE(built->info().options);
    const auto lower = test::hard_probes(keys, 500, random);
    auto upper = lower;
    std::rotate(upper.begin(), upper.begin() + 9, upper.end());
    const auto lower_there = at().upload(lower);
    const auto upper_there = at().upload(upper);
    buffer<std::uint32_t> first(at(), lower.size());
    buffer<std::uint64_t> count(at(), lower.size());
    built->first(at(), points(column(lower_there)), std::span(first.data(), first.size()));
    built->count(at(), ranges(column(lower_there), column(upper_there)),
                 std::span(count.data(), count.size()));
    const auto firsts = at().download(first);
    const auto counts = at().download(count);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      // Keys ascend, so that a row's number is its rank.
      const auto begin = std::lower_bound(keys.begin(), keys.end(), lower[i]);
      const auto end = std::upper_bound(keys.begin(), keys.end(), upper[i]);
      const bool hit = begin != keys.end() && *begin == lower[i];
      ASSERT_EQ(firsts[i],
                hit ? static_cast<std::uint32_t>(begin - keys.begin()) : not_found<std::uint32_t>)
          << "of " << lower[i];
      ASSERT_EQ(counts[i], upper[i] < lower[i] ? 0 : end - begin)
          << "from " << lower[i] << " to " << upper[i];
    }
  }

  template <class Key>
  void check_all() const {
    auto random = test::generator();
    for (const std::size_t size : {120UL, 5003UL}) {
      for (const auto& [name, keys] : test::hard_keys<Key>(size, random)) {
        SCOPED_TRACE(name + ", " + std::to_string(size) + " keys");
        check(keys, {{"nodes", "quantised"}}, random);
        check(keys, {{"nodes", "quantised"}, {"pin", "none"}}, random);
        check(keys, {{"nodes", "exact"}}, random);
        check(keys, {{"search", "groups"}}, random);
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_F(pivot_tree_hard_keys, of_32_bits) {
  check_all<std::uint32_t>();
}
TEST_F(pivot_tree_hard_keys, of_64_bits) {
  check_all<std::uint64_t>();
}

}  // namespace
}  // namespace raydex
