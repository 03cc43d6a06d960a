// SPDX-License-Identifier: Apache-2.0
// Four threads search trees of lines together, in all shapes that an index has only for millions of
// entries: levels of pivots above levels of quantised nodes; many of these mislead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/lookups/run.cuh"
#include "src/operations/lookups/built_index.hpp"
#include "tests/lookups/pivot_tree/hard_keys.hpp"
#include "tests/lookups/pivot_tree/line_tree.hpp"

namespace raydex {
namespace {

// Ways of a batch through a kernel: probes read ahead, alone or in turns.
std::vector<batch_plan> plans() {
  return {{.schedule = scheduling::fixed,
           .threads = 128,
           .lookups = 3,
           .pin = pinning::full,
           .chosen = true},
          {.schedule = scheduling::dynamic, .threads = 256, .chosen = true}};
}

template <class Entries>
class line_team : public testing::Test {
 protected:
  using key = typename Entries::key_type;
  using row_id = typename Entries::row_id_type;
  using tree = test::line_tree<Entries>;
  using view = typename tree::view_type;

  void check(const std::vector<key>& keys, std::mt19937_64& random) const {
    const auto lower = test::hard_probes(keys, 150, random);
    auto upper = lower;
    std::rotate(upper.begin(), upper.begin() + 9, upper.end());
    // Every third probe is missing, for the path that is not for plain probes.
    std::vector<std::uint8_t> valid(lower.size() / 8 + 1);
    for (std::size_t i = 0; i < lower.size(); ++i)
      if (i % 3 != 0) valid[i / 8] = static_cast<std::uint8_t>(valid[i / 8] | 1U << (i % 8));
    const auto lower_there = at_.upload(lower);
    const auto upper_there = at_.upload(upper);
    const auto valid_there = at_.upload(valid);
    for (const unsigned rounded : {0U, 1U, core::pivot_levels::most}) {
      for (const std::uint64_t most_roots : {1UL, 6UL}) {
        const tree grown(keys, rounded, most_roots);
        for (const batch_plan& plan : plans()) {
          SCOPED_TRACE("at most " + std::to_string(rounded) + " quantised levels and " +
                       std::to_string(most_roots) + " roots, " + std::to_string(plan.threads) +
                       " threads");
          const auto all = rows(grown.view(), plan, column(lower_there));
          const auto some = rows(grown.view(), plan, column(lower_there, valid_there.data()));
          buffer<std::uint64_t> counts(at_, lower.size());
          cuda::executor::run(
              at_, plan,
              core::locate_rows<view>{
                  grown.view(), probes_of<key>(ranges(column(lower_there), column(upper_there))),
                  counts.data()});
          const auto counted = at_.download(counts);
          for (std::size_t i = 0; i < lower.size(); ++i) {
            const auto begin = std::lower_bound(keys.begin(), keys.end(), lower[i]);
            const auto end = std::upper_bound(keys.begin(), keys.end(), upper[i]);
            const bool hit = begin != keys.end() && *begin == lower[i];
            const row_id row = hit ? tree::row_of(static_cast<std::size_t>(begin - keys.begin()))
                                   : not_found<row_id>;
            ASSERT_EQ(all[i], row) << "of " << lower[i];
            ASSERT_EQ(some[i], i % 3 != 0 ? row : not_found<row_id>) << "of " << lower[i];
            ASSERT_EQ(counted[i], upper[i] < lower[i] ? 0 : end - begin)
                << "from " << lower[i] << " to " << upper[i];
          }
        }
      }
    }
  }

 private:
  std::vector<row_id> rows(const view& where, const batch_plan& plan, const column& cells) const {
    buffer<row_id> found(at_, cells.size);
    cuda::executor::run(
        at_, plan, core::first_of_points<view>{where, probes_of<key>(points(cells)), found.data()});
    return at_.download(found);
  }

  session at_{backend::cuda};
};

using all_entries = testing::Types<core::column_entries<std::uint32_t, std::uint32_t>,
                                   core::row_entries<std::uint32_t, std::uint32_t>,
                                   core::column_entries<std::uint64_t, std::uint32_t>,
                                   core::row_entries<std::uint64_t, std::uint32_t>,
                                   core::row_entries<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(line_team, all_entries);

TYPED_TEST(line_team, finds_what_lower_bound_does) {
  auto random = test::generator();
  for (const std::size_t size : {8UL, 249UL, 7689UL}) {
    for (const auto& [name, keys] : test::hard_keys<typename TestFixture::key>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size) + " keys");
      this->check(keys, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace raydex
