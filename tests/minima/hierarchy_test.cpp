// SPDX-License-Identifier: Apache-2.0
// What is particular to rmq_hierarchy: its options, and what it holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

template <class T>
std::vector<T> random_values(std::size_t size, std::mt19937_64& random) {
  std::vector<T> values(size);
  for (T& value : values)
    value = static_cast<T>(test::below(random, 1000));
  return values;
}

class rmq_hierarchy_arguments : public testing::Test {
 protected:
  std::unique_ptr<rmq> built(const option_map& options) const {
    return build_rmq("rmq_hierarchy", backend::cpu, cpu_, values_, options);
  }
  void refused(const option_map& options, const std::vector<std::string>& words) const {
    test::expect_error<invalid_argument>([&] { built(options); }, words);
  }

  const session cpu_{backend::cpu};
  const std::vector<float> cells_{4, 3, 2, 1};
  const column values_{std::span<const float>(cells_)};
};

TEST_F(rmq_hierarchy_arguments, defaults_are_told) {
  EXPECT_EQ(built({})->info().options,
            "chunk=16 cutoff=32 top=scan load=vector group=1 assign=queue ties=leftmost "
            "extreme=minimum");
  EXPECT_EQ(built({{"load", "coalesced"}})->info().options,
            "chunk=32 cutoff=64 top=scan load=coalesced group=16 assign=queue ties=leftmost "
            "extreme=minimum");
  EXPECT_EQ(built({{"group", "8"}, {"chunk", "auto"}})->info().options,
            "chunk=32 cutoff=64 top=scan load=coalesced group=8 assign=queue ties=leftmost "
            "extreme=minimum");
  EXPECT_EQ(built({{"chunk", "8"}, {"group", "auto"}})->info().options,
            "chunk=8 cutoff=16 top=scan load=vector group=1 assign=queue ties=leftmost "
            "extreme=minimum");
}

TEST_F(rmq_hierarchy_arguments, every_choice_is_told_again) {
  const option_map all{{"chunk", "64"},       {"cutoff", "1000"},  {"load", "coalesced"},
                       {"group", "4"},        {"assign", "multi"}, {"ties", "rightmost"},
                       {"extreme", "maximum"}};
  EXPECT_EQ(built(all)->info().options,
            "chunk=64 cutoff=1000 top=scan load=coalesced group=4 assign=multi ties=rightmost "
            "extreme=maximum");
}

TEST_F(rmq_hierarchy_arguments, chunks_and_groups_are_powers_of_2) {
  for (const char* chunk : {"1", "3", "48", "2048", "4294967295"})
    refused({{"chunk", chunk}}, {"option chunk", chunk, "power of 2 from 2 to 1024"});
  for (const char* group : {"3", "24", "64"})
    refused({{"group", group}}, {"option group", group, "power of 2 from 1 to 32"});
  for (const char* option : {"chunk", "group", "cutoff"}) {
    refused({{option, "0"}}, {option, "0"});
    refused({{option, "many"}}, {option, "'many'", "number"});
  }
  refused({{"cutoff", "1"}}, {"option cutoff", "1 is not auto, nor from 2 to 4294967295"});
  test::expect_error<invalid_argument>(
      [&] { build_rmq_hierarchy(backend::cpu, cpu_, values_, {.chunk = 0}); },
      {"option chunk", "0"});
}

TEST_F(rmq_hierarchy_arguments, vectors_are_loaded_by_one_thread) {
  refused({{"load", "vector"}, {"group", "4"}}, {"option group", "4", "load=coalesced"});
  EXPECT_NE(built({{"load", "vector"}, {"group", "1"}}), nullptr);
}

TEST_F(rmq_hierarchy_arguments, words_and_unknown_options_are_answered_with_the_known_ones) {
  refused({{"load", "fast"}}, {"option load", "'fast'", "auto", "vector", "coalesced"});
  refused({{"assign", "all"}}, {"option assign", "'all'", "queue", "multi"});
  refused({{"ties", "first"}}, {"option ties", "'first'", "leftmost", "rightmost"});
  refused({{"block", "8"}}, {"'block'", "rmq_hierarchy", "chunk=auto|2..1024", "group=auto|1..32"});
}

TEST_F(rmq_hierarchy_arguments, what_is_left_of_former_options_is_taken) {
  EXPECT_EQ(built({{"kernel", "own"}})->info().options, built({})->info().options);
  refused({{"kernel", "tracing"}}, {"option kernel", "'tracing'", "own"});
}

TEST_F(rmq_hierarchy_arguments, a_view_is_of_the_values_type) {
  const auto hierarchy = build_rmq_hierarchy(backend::cpu, cpu_, values_);
  EXPECT_EQ(hierarchy->view<float>().minimum(0, 2), 2);
  EXPECT_EQ(hierarchy->view<float>().position(0, 3), 3);
  test::expect_error<invalid_argument>([&] { hierarchy->view<std::uint32_t>(); },
                                       {"view", "float", "32 bits"});
  test::expect_error<invalid_argument>([&] { (hierarchy->view<float, std::uint64_t>()); },
                                       {"view", "float", "32 bits"});
}

class rmq_hierarchy_on_backend : public test::backend_test {
 protected:
  std::unique_ptr<rmq_hierarchy> build(const context& on, const column& values,
                                       const rmq_hierarchy_options& options = {}) const {
    return build_rmq_hierarchy(at().where(), on, values, options);
  }
};

TEST_F(rmq_hierarchy_on_backend, holds_a_minimum_and_a_position_for_each_chunk) {
  for (const unsigned chunk : {2U, 16U, 1024U}) {
    for (const std::size_t n : {0u, 1u, 1000u, 100'003u}) {
      const auto bytes = [&]<class T>() {
        const auto values = at().upload(std::vector<T>(n, T{7}));
        return build(at(), column(values), {.chunk = chunk})->info().resident_bytes;
      };
      // A level is rounded up to whole chunks and packs.
      const std::size_t entries = n / (chunk - 1) + 5UL * 48;
      EXPECT_LE(bytes.template operator()<float>(), 8 * entries);
      EXPECT_LE(bytes.template operator()<double>(), 12 * entries);
    }
  }
}

TEST_F(rmq_hierarchy_on_backend, a_small_array_needs_nothing) {
  const auto values = at().upload(std::vector<float>(32, 1.0F));
  EXPECT_EQ(build(at(), column(values))->info().resident_bytes, 0);
}

TEST_F(rmq_hierarchy_on_backend, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto values = at().upload(std::vector<float>(10'000, 1.0F));
  test::check_memory_of_build(at(), [&](const context& on) { return build(on, column(values)); });
}

// 64-bit places, which otherwise only arrays of more than 2^32 values have.
TEST(rmq_hierarchy_view, wide_places) {
  auto random = test::generator();
  for (const unsigned chunk_bits : {1U, 3U, 4U}) {
    const std::vector<double> values = random_values<double>(700, random);
    core::rmq_hierarchy_view<double, std::uint64_t> view;
    view.array = {values.data(), values.size(), key_type::float64, false};
    view.levels = {view.array.end(), chunk_bits, 4};
    std::vector<core::value_pack<double>> minima(view.levels.entries() / 2);
    std::vector<std::uint64_t> positions(view.levels.entries());
    view.minima = minima.front().at;
    view.positions = positions.data();
    for (unsigned level = 1; level <= view.levels.count; ++level) {
      for (std::uint64_t i = 0; i < view.levels.padded_size(level); ++i) {
        core::summarise_level<double, std::uint64_t>{view, level, minima.front().at,
                                                     positions.data()}(core::group_of_one{}, i);
      }
    }
    const test::rmq_oracle<double> oracle(values, rmq_ties::leftmost);
    const std::uint64_t begin = view.array.first();
    for (std::uint64_t lower = 0; lower < values.size(); lower += 3) {
      for (std::uint64_t upper = lower; upper < values.size(); upper += 2) {
        const std::uint64_t expected = *oracle.position(lower, upper);
        const std::uint64_t first = begin + lower;
        const std::uint64_t last = begin + upper;
        ASSERT_EQ(view.find(first, last).place, begin + expected);
        ASSERT_EQ(view.find(core::group_of_one{}, first, last).place, begin + expected);
        ASSERT_EQ(view.minimum(first, last), values[expected]);
        ASSERT_EQ(view.minimum(core::group_of_one{}, first, last), values[expected]);
      }
    }
  }
}

}  // namespace
}  // namespace raydex
