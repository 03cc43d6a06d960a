// SPDX-License-Identifier: Apache-2.0
// Which part of a range is in the array, for every type and memory layout of positions. A range is
// cut on both sides, and it is empty if its lower end is greater than the upper one.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

template <class Position>
struct example {
  Position lower;
  Position upper;
  std::optional<std::uint64_t> minimum;  // its position
};

// Ranges of the values 5 3 4.
template <class Position>
std::vector<example<Position>> examples() {
  constexpr Position largest = std::numeric_limits<Position>::max();
  std::vector<example<Position>> all{{0, 2, 1},
                                     {0, 0, 0},
                                     {2, 3, 2},
                                     {0, largest, 1},
                                     {2, largest, 2},
                                     {3, 3, std::nullopt},
                                     {1, 0, std::nullopt},
                                     {3, largest, std::nullopt},
                                     {4, 2, std::nullopt},
                                     {largest, 0, std::nullopt},
                                     {largest, largest, std::nullopt}};
  if constexpr (std::is_signed_v<Position>) {
    constexpr Position smallest = std::numeric_limits<Position>::min();
    for (const example<Position>& more : std::vector<example<Position>>{
             {-4, 2, 1},
             {-1, 0, 0},
             {smallest, 0, 0},
             {smallest, largest, 1},
             {-4, 7, 1},
             {0, -1, std::nullopt},
             {2, -4, std::nullopt},
             {-1, -4, std::nullopt},
             {-4, -1, std::nullopt},
             {-1, -1, std::nullopt},
             {largest, smallest, std::nullopt},
             {smallest, smallest, std::nullopt},
         })
      all.push_back(more);
  }
  return all;
}

// How far apart consecutive lower ends, or upper ends, are in memory, in positions.
constexpr std::uint64_t strides[] = {1, 2, 3};

class rmq_ranges : public test::backend_test {
 protected:
  // Lower and upper ends that many positions apart: in separate arrays, side by side, or with
  // something in between.
  template <class Position>
  struct placed {
    buffer<Position> cells;
    probes batch;
  };
  template <class Position>
  placed<Position> place(const std::vector<example<Position>>& all, std::uint64_t stride) const {
    const std::uint64_t upper_at = stride == 1 ? all.size() : 1;
    std::vector<Position> cells(stride == 1 ? 2 * all.size() : stride * all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      cells[i * stride] = all[i].lower;
      cells[i * stride + upper_at] = all[i].upper;
    }
    placed<Position> made{at().upload(cells), {}};
    column lower(format_of<Position>, made.cells.data(), all.size());
    lower.stride = stride * sizeof(Position);
    column upper = lower;
    upper.data = made.cells.data() + upper_at;
    made.batch = ranges(lower, upper);
    return made;
  }

  template <class Function>
  void for_each_structure(const column& values, const Function& f) const {
    for (const rmq_capability& able : rmq_capabilities()) {
      if (able.where != at().where()) continue;
      std::vector<option_map> all{{}};
      if (able.structure == "rmq_hierarchy") {
        if (at().where() == backend::cpu) all.push_back({{"top", "rays"}});
        if (at().where() == backend::cuda) all.push_back({{"load", "coalesced"}});
      }
      for (const option_map& options : all) {
        const auto built = build_rmq(able.structure, at().where(), at(), values, options);
        SCOPED_TRACE(able.structure + " " + built->info().options);
        f(*built);
      }
    }
  }

  template <class Position>
  void check_answers() const {
    const std::vector<std::int32_t> host{5, 3, 4};
    const auto array = at().upload(host);
    const std::vector<example<Position>> all = examples<Position>();
    for_each_structure(column(array), [&](const rmq& built) {
      for (const std::uint64_t stride : strides) {
        const placed<Position> given = place(all, stride);
        buffer<std::uint64_t> positions(at(), all.size());
        buffer<std::int32_t> minima(at(), all.size());
        built.position(at(), given.batch, std::span(positions.data(), positions.size()));
        built.minimum(at(), given.batch, value_span(minima));
        const auto found = at().download(positions);
        const auto least = at().download(minima);
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto text = testing::Message() << "[" << all[i].lower << ", " << all[i].upper
                                               << "], " << stride << " positions apart";
          EXPECT_EQ(found[i], all[i].minimum.value_or(no_position)) << text;
          EXPECT_EQ(least[i], all[i].minimum ? host[*all[i].minimum]
                                             : std::numeric_limits<std::int32_t>::max())
              << text;
        }
      }
    });
  }

  // One range at a time: those wholly in the array pass, all others are refused.
  template <class Position>
  void check_refusals() const {
    const auto array = at().upload(std::vector<std::int32_t>{5, 3, 4});
    for_each_structure(column(array), [&](const rmq& built) {
      for (const example<Position>& one : examples<Position>()) {
        const auto given = place(std::vector{example<Position>{0, 1, 1}, one}, 2);
        const bool is_inside = one.lower >= 0 && one.lower <= one.upper && one.upper <= 2;
        if (is_inside) {
          built.check(at(), given.batch);
          continue;
        }
        test::expect_error<invalid_argument>(
            [&] { built.check(at(), given.batch); },
            {"range 1 is [" + std::to_string(one.lower) + ", " + std::to_string(one.upper) + "]",
             "legal: 0 <= lower <= upper <= 2"});
      }
    });
  }
};

TEST_F(rmq_ranges, are_cut_to_the_array) {
  check_answers<std::int32_t>();
  check_answers<std::int64_t>();
  check_answers<std::uint32_t>();
  check_answers<std::uint64_t>();
}

TEST_F(rmq_ranges, that_are_not_wholly_in_the_array_are_refused_by_a_check) {
  check_refusals<std::int32_t>();
  check_refusals<std::int64_t>();
  check_refusals<std::uint32_t>();
  check_refusals<std::uint64_t>();
}

TEST_F(rmq_ranges, of_an_empty_array_have_no_minimum) {
  const std::vector<example<std::int64_t>> all = examples<std::int64_t>();
  const auto given = place(all, 2);
  const column none(format_of<std::int32_t>, nullptr, 0);
  for_each_structure(none, [&](const rmq& built) {
    buffer<std::uint64_t> positions(at(), all.size());
    built.position(at(), given.batch, std::span(positions.data(), positions.size()));
    for (const std::uint64_t found : at().download(positions))
      EXPECT_EQ(found, no_position);
  });
}

TEST(rmq_extremes, a_structure_answers_those_that_it_was_built_for) {
  const session cpu(backend::cpu);
  const std::vector<std::int32_t> values{5, 3, 4};
  const std::vector<std::uint32_t> lower{0};
  const std::vector<std::uint32_t> upper{2};
  const probes all = ranges(column(lower), column(upper));
  std::vector<std::int32_t> found(1);
  const auto smallest = build_rmq_cover(backend::cpu, cpu, column(values));
  const auto largest =
      build_rmq_cover(backend::cpu, cpu, column(values), {.extreme = rmq_extreme::maximum});
  smallest->minimum(cpu, all, value_span(found));
  EXPECT_EQ(found[0], 3);
  largest->maximum(cpu, all, value_span(found));
  EXPECT_EQ(found[0], 5);
  test::expect_error<unsupported>([&] { smallest->maximum(cpu, all, value_span(found)); },
                                  {"maximum", "extreme=maximum"});
  test::expect_error<unsupported>([&] { largest->minimum(cpu, all, value_span(found)); },
                                  {"minimum", "extreme=minimum"});
  test::expect_error<unsupported>([&] { largest->view<std::int32_t>(); }, {"view", "minima"});
}

}  // namespace
}  // namespace raydex
