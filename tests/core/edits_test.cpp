// SPDX-License-Identifier: Apache-2.0
// Which entries of a list another list names, and how much of that work one thread does.
#include "raydex/core/keys/edits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

using key = std::uint32_t;
using row = std::uint32_t;

// Sorted entries in the memory of a test.
struct own_list {
  std::vector<key> keys;
  std::vector<row> rows;

  explicit own_list(std::vector<std::pair<key, row>> all) {
    std::sort(all.begin(), all.end());
    for (const auto& [k, r] : all) {
      keys.push_back(k);
      rows.push_back(r);
    }
  }
  entry_list<key, row> list() const { return {keys.data(), rows.data(), keys.size()}; }
  strided_list<key, row> strided() const { return {{keys.data()}, {rows.data()}, keys.size()}; }
};

// What many threads count.
struct own_count {
  std::vector<std::uint64_t> numbers = std::vector<std::uint64_t>(spread_count::size);

  spread_count view() { return {numbers.data()}; }
  std::uint64_t sum() const {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  }
};

TEST(core_edits, no_thread_marks_more_than_its_share) {
  auto random = test::generator();
  const auto some = [&](std::size_t most, std::uint64_t keys, std::uint64_t rows) {
    std::vector<std::pair<key, row>> all(test::below(random, most));
    for (auto& one : all)
      one = {static_cast<key>(test::below(random, keys)),
             static_cast<row>(test::below(random, rows))};
    return own_list(all);
  };
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t keys = 1 + test::below(random, i % 2 == 0 ? 3 : 300);
    const own_list held = some(2000, keys, 2);
    const own_list named = some(40, keys, 2);
    const bool by_row = i % 3 != 0;
    const entry_names<key, row> names{named.list(), by_row};
    std::vector<std::uint8_t> wanted;
    for (std::uint64_t at = 0; at < held.keys.size(); ++at) {
      bool is_named = false;
      for (std::size_t n = 0; n < named.keys.size(); ++n) {
        is_named = is_named ||
                   (named.keys[n] == held.keys[at] && (!by_row || named.rows[n] == held.rows[at]));
      }
      wanted.push_back(is_named ? 1 : 0);
    }

    std::vector<std::uint8_t> all(held.keys.size());
    own_count count_named;
    own_count count_marked;
    // Calls f(thread) for each thread, each with its own marks, and adds these up.
    const auto run = [&](std::uint64_t threads, const auto& f) {
      for (std::uint64_t thread = 0; thread < threads; ++thread) {
        std::vector<std::uint8_t> marks(all.size());
        f(marks.data(), thread);
        ASSERT_LE(std::count(marks.begin(), marks.end(), 1), std::ptrdiff_t{marked_at_once});
        std::transform(marks.begin(), marks.end(), all.begin(), all.begin(),
                       [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
      }
    };
    run(named.keys.size(), [&](std::uint8_t* marks, std::uint64_t thread) {
      mark_named<key, row>{held.strided(), names, marks, count_named.view(),
                           count_marked.view()}(thread);
    });
    const auto marks_of = [](const auto& marks) {
      return static_cast<std::uint64_t>(std::count(marks.begin(), marks.end(), 1));
    };
    ASSERT_EQ(count_named.sum(), marks_of(wanted));
    ASSERT_EQ(count_marked.sum(), marks_of(all));
    run((all.size() + marked_at_once - 1) / marked_at_once,
        [&](std::uint8_t* marks, std::uint64_t thread) {
          mark_rest<key, row>{held.strided(), names, marks}(thread);
        });
    ASSERT_EQ(all, wanted);
  }
}

}  // namespace
}  // namespace raydex::core
