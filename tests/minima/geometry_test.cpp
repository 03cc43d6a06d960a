// SPDX-License-Identifier: Apache-2.0
// The arithmetic of places, levels and tables for arrays of about 2^32 values and more. The arrays
// do not exist, only their sizes do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/operations/minima/built_rmq.hpp"
#include "src/structures/papers/rmq_hierarchy/rmq_hierarchy.hpp"
#include "src/structures/papers/rmq_lca/rmq_lca.hpp"
#include "src/structures/rmq_cover/rmq_cover.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

std::vector<std::uint64_t> sizes() {
  std::vector<std::uint64_t> all;
  for (const std::uint64_t near :
       {two_to_32 / 2, two_to_32 - (1U << 23), two_to_32 - 3 * (1U << 21), two_to_32 - (1U << 22),
        two_to_32 - (1U << 21), two_to_32 - 1024, two_to_32, two_to_32 + (1U << 23), 4 * two_to_32,
        std::uint64_t{1} << 44})
    for (const std::uint64_t size : {near - 4, near - 1, near, near + 1, near + 4})
      all.push_back(size);
  return all;
}

constexpr key_format formats[] = {format_of<float>, format_of<std::uint32_t>, format_of<double>,
                                  format_of<std::uint64_t>};

// Calls f.operator()<Value, Place>(size, place of the first value) as a build would.
template <class Function>
void for_each_array(const Function& f) {
  for (const std::uint64_t size : sizes()) {
    for (const key_format format : formats) {
      dispatch_values(column(format, nullptr, size), rmq_extreme::minimum,
                      [&]<class Value, class Place>() {
                        for (std::uint64_t first = 0; first < 16 / sizeof(Value); ++first) {
                          SCOPED_TRACE(testing::Message()
                                       << size << " values of " << to_string(format) << " from "
                                       << first << ", places of " << 8 * sizeof(Place));
                          f.template operator()<Value, Place>(size, first);
                        }
                      });
    }
  }
}

// Ranges of an array, most of them long or near its ends, or near powers of two.
std::vector<std::pair<std::uint64_t, std::uint64_t>> some_ranges(std::uint64_t size) {
  auto random = generator(size);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  const auto add = [&](std::uint64_t lower, std::uint64_t length) {
    if (length == 0 || length > size || lower > size - length) return;
    all.emplace_back(lower, lower + length - 1);
  };
  for (std::uint64_t power = 1; power != 0 && power <= size; power *= 2) {
    for (const std::uint64_t length :
         {power - 1, power, power + 1, power + power / 2, size - power, size - power + 1,
          size + 1 - power / 2 - below(random, power), size}) {
      for (const std::uint64_t lower : {std::uint64_t{0}, size - std::min(length, size),
                                        below(random, size), size / 2, power - 1, power})
        add(lower, length);
    }
  }
  return all;
}

// An entry of the tables: its table, and the places of its interval.
struct interval {
  unsigned table;
  std::uint64_t begin;
  std::uint64_t end;
};
template <class Place>
interval interval_of(const core::cover_layout<Place>& tables, std::uint64_t places,
                     std::uint64_t entry) {
  for (unsigned j = tables.least; j <= tables.most; ++j) {
    const auto [begin, shift] = tables.tables[j];
    const std::uint64_t entries = ((places - 1) >> shift) + 1;
    if (entry < begin || entry >= begin + entries) continue;
    const std::uint64_t first = (entry - begin) << shift;
    return {j, first, first + (std::uint64_t{1} << j)};
  }
  ADD_FAILURE() << "entry " << entry << " is in no table";
  return {};
}

TEST(rmq_geometry, covers_cover) {
  for_each_array([]<class Value, class Place>(std::uint64_t size, std::uint64_t first) {
    for (const rmq_memory memory : {rmq_memory::fast, rmq_memory::small}) {
      const std::uint64_t places = first + size;
      const rmq_cover_plan<Value, Place> plan(places, memory);
      ASSERT_LE(plan.tables.most, core::cover_layout<Place>::room - 1);
      ASSERT_LE(plan.tables.size - 1, std::numeric_limits<Place>::max());
      core::cover_tables<Value, Place> cover;
      cover.least = plan.tables.least;
      cover.least_beyond = static_cast<Place>(Place{3} << (cover.least - 2));
      for (const auto& [lower, upper] : some_ranges(size)) {
        const auto begin = static_cast<Place>(lower + first);
        const auto end = static_cast<Place>(upper + first);
        if (!cover.has(begin, end)) continue;
        Place one = 0;
        Place other = 0;
        cover.locate(plan.tables.tables, begin, end, one, other);
        const interval left = interval_of(plan.tables, places, one);
        const interval right = interval_of(plan.tables, places, other);
        ASSERT_EQ(left.table, right.table);
        ASSERT_LE(left.begin, begin) << lower << " to " << upper;
        ASSERT_GE(left.end, right.begin) << lower << " to " << upper;
        ASSERT_GT(right.end, end) << lower << " to " << upper;
        ASSERT_LE(right.begin, end) << lower << " to " << upper;
      }
    }
  });
}

TEST(rmq_geometry, levels_of_blocks) {
  for_each_array([]<class Value, class Place>(std::uint64_t size, std::uint64_t first) {
    for (const rmq_memory memory : {rmq_memory::fast, rmq_memory::small}) {
      const core::level_layout levels = rmq_cover_plan<Value, Place>(first + size, memory).levels;
      ASSERT_LE(levels.levels, core::level_layout::most);
      for (unsigned level = 1; level <= levels.levels; ++level) {
        ASSERT_LT(levels.shift(level), 8 * sizeof(Place));
        const std::uint64_t entries = levels.entries(level, first + size);
        ASSERT_GT(entries << levels.shift(level), first + size - 1);
        ASSERT_LE(entries, levels.padded_entries(level));
      }
      // A range's ends are in one block of the level where they differ first.
      ASSERT_LE(levels.entries(levels.levels, first + size), core::level_layout::fan_out);
    }
  });
}

TEST(rmq_geometry, levels_of_chunks) {
  for_each_array([]<class Value, class Place>(std::uint64_t size, std::uint64_t first) {
    for (unsigned bits = 1; bits <= 10; ++bits) {
      for (const std::uint64_t cutoff : {2U, 9U, 65'536U, ~0U}) {
        const core::hierarchy_levels<Place> levels(first + size, bits, cutoff);
        ASSERT_LE(levels.count, levels.most);
        std::uint64_t before = 0;
        for (unsigned level = 1; level <= levels.count; ++level) {
          const std::uint64_t entries = ((first + size - 1) >> (level * bits)) + 1;
          ASSERT_EQ(levels.size(level), entries);
          ASSERT_EQ(levels.begins[level], before);
          before += (entries + 3) / 4 * 4;
          // A range leaves something to a level only if that level has an entry between two others.
          // Only then are entries turned into places.
          if (entries > 2) {
            ASSERT_LT(level * bits, 8 * sizeof(Place));
          }
        }
        ASSERT_EQ(levels.entries(), before);
        ASSERT_LE(levels.size(levels.count), cutoff);
      }
    }
  });
}

// An executor that does no work: it only checks the first and last number of each step.
struct looking_executor {
  template <class Step>
  static void for_each_alone(const context& /*where*/, const Step& step, std::uint64_t count) {
    if (count == 0) return;
    const std::uint64_t last = step.first + (count - 1) * step.stride;
    ASSERT_GE(step.first, 1);
    ASSERT_LE(last, step.build.array.size());
    ASSERT_EQ(static_cast<decltype(step.build.size())>(last), last);
  }
};

TEST(rmq_geometry, numbers_of_nodes) {
  host_memory_resource memory;
  for_each_array([&]<class Value, class Place>(std::uint64_t size, std::uint64_t first) {
    const core::value_array<Value> array(reinterpret_cast<const void*>(first * sizeof(Value)), size,
                                         format_of<Value>.type, false);
    ASSERT_EQ(array.first(), first);
    run_lca_steps<looking_executor>({memory},
                                    core::lca_build<Value, Place>{array, false, nullptr, nullptr});
    ASSERT_EQ(static_cast<Place>(array.end()), array.end());
    // No ancestor of the last number in the complete tree is beyond the type.
    for (Place bit = 1; bit != 0 && bit <= size; bit *= 2)
      ASSERT_NE(core::ancestor_at(static_cast<Place>(size), bit), 0);
  });
}

TEST(rmq_geometry, ranges_as_places) {
  for_each_array([]<class Value, class Place>(std::uint64_t size, std::uint64_t first) {
    const core::value_array<Value> array(reinterpret_cast<const void*>(first * sizeof(Value)), size,
                                         format_of<Value>.type, false);
    const auto check = [&]<class Position>(std::uint64_t lower, std::uint64_t upper) {
      if (upper > std::numeric_limits<Position>::max()) return;
      alignas(8)
          const Position ends[] = {static_cast<Position>(lower), static_cast<Position>(upper)};
      column lower_end(format_of<Position>, ends, 1);
      lower_end.stride = sizeof ends;
      column upper_end = lower_end;
      upper_end.data = ends + 1;
      Place begin = 0;
      Place end = 0;
      const bool is_any = source_of(ranges(lower_end, upper_end)).read(0, array, begin, end);
      ASSERT_EQ(is_any, lower < size) << lower << " to " << upper;
      if (!is_any) return;
      ASSERT_EQ(begin, lower + first);
      ASSERT_EQ(end, std::min(upper, size - 1) + first);
    };
    for (const auto& [lower, upper] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, size - 1},
                                                              {0, size},
                                                              {size - 1, size - 1},
                                                              {size - 1, size + 3},
                                                              {size, size},
                                                              {0, two_to_32 - 1},
                                                              {two_to_32 - 1, two_to_32 - 1},
                                                              {two_to_32 - 1024, two_to_32 + 5},
                                                              {5, ~std::uint64_t{0} / 2},
                                                              {size - 1, ~std::uint64_t{0} / 2}}) {
      check.template operator()<std::uint32_t>(lower, upper);
      check.template operator()<std::uint64_t>(lower, upper);
      check.template operator()<std::int64_t>(lower, upper);
    }
  });
}

}  // namespace
}  // namespace raydex::test
