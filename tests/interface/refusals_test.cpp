// SPDX-License-Identifier: Apache-2.0
// Arguments that are well formed and still do not fit: the error names them and what would do.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;

class refusals : public testing::Test {
 protected:
  const session cpu{backend::cpu};
  const std::vector<std::uint32_t> keys{3, 1, 2, 1};
};

TEST_F(refusals, minima_are_of_adjacent_numbers_that_are_all_there) {
  const auto refused = [&](const column& values, const std::string& why) {
    expect_error<invalid_argument>([&] { build_rmq("rmq_scan", backend::cpu, cpu, values); },
                                   {"values: ", why});
  };
  const std::vector<std::array<char, 3>> texts(2);
  refused(column(texts), "bytes3; minima are of numbers");
  column apart(keys);
  apart.size = 2;
  apart.stride = 8;
  refused(apart, "8 bytes apart");
  const std::uint8_t valid = 0x0d;
  refused(column(keys, &valid), "some are missing");
}

TEST_F(refusals, minima_are_of_ranges) {
  const auto minima = build_rmq("rmq_scan", backend::cpu, cpu, column(keys));
  std::vector<std::uint64_t> out(keys.size());
  expect_error<invalid_argument>([&] { minima->position(cpu, points(column(keys)), out); },
                                 {"ranges: they are points"});
}

// Memory as of a GPU; none is asked for.
class device_memory final : public memory_resource {
 public:
  void* allocate(std::size_t /*bytes*/, stream_t /*stream*/) override { throw out_of_memory(0, 0); }
  void deallocate(void* /*memory*/, std::size_t /*bytes*/, stream_t /*stream*/) noexcept override {}
  memory_space space() const noexcept override { return memory_space::device; }
};

TEST_F(refusals, memory_is_where_the_backend_works) {
  device_memory elsewhere;
  const std::vector<std::string> why{"backend cpu needs a memory resource of host memory"};
  expect_error<invalid_argument>(
      [&] { build("sorted_array", backend::cpu, {elsewhere}, column(keys)); }, why);
  const auto built = build("sorted_array", backend::cpu, cpu, column(keys));
  std::vector<std::uint64_t> counts(keys.size());
  expect_error<invalid_argument>([&] { built->count({elsewhere}, points(column(keys)), counts); },
                                 why);
}

TEST_F(refusals, keys_that_may_not_repeat) {
  for (const char* const structure : {"hash_open", "hash_bucket"}) {
    const auto build_of = [&](const std::vector<std::uint32_t>& of) {
      return build(structure, backend::cpu, cpu, column(of), {}, {{"repeats", "refused"}});
    };
    expect_error<invalid_argument>([&] { build_of(keys); },
                                   {"1 of 4 repeat another one, but repeats=refused"});
    EXPECT_EQ(build_of({3, 1, 2})->info().entries, 3U) << structure;
  }
}

TEST_F(refusals, orders_of_a_batch_that_a_structure_does_not_know) {
  const batch_schedule sorted{.reorder = reordering::single};
  const std::string why = "answers in the order of the batch";
  expect_error<unsupported>(
      [&] { build_direct(backend::cpu, cpu, column(keys), {}, {.batch = sorted}); },
      {why, "direct"});
  expect_error<unsupported>(
      [&] { build_btree(backend::cpu, cpu, column(keys), {}, {.batch = sorted}); }, {why, "btree"});
}

TEST_F(refusals, options_of_cgrx_that_exclude_each_other) {
  const auto built = [&](const option_map& options) {
    return build("cgrx", backend::cpu, cpu, column(keys), {}, options);
  };
  expect_error<invalid_argument>(
      [&] {
        built({{"bucket", "16"}, {"node", "14"}});
      },
      {"option node: 14 is not an even number from 16"});
  expect_error<unsupported>(
      [&] {
        built({{"node", "32"}, {"layout", "packed"}});
      },
      {"option layout: packed is for a sorted column"});
  expect_error<unsupported>(
      [&] {
        built({{"scene", "spans"}, {"mapping", "bits"}});
      },
      {"option scene: spans lie in one row; take mapping=fit"});
}

// what() ends at the first NUL byte.
TEST_F(refusals, words_with_a_nul_byte_are_shown_to_their_end) {
  const std::string word("sorted\0array", 12);
  expect_error<invalid_argument>([&] { build(word, backend::cpu, cpu, column(keys)); },
                                 {"sorted\\0array"});
}

}  // namespace
}  // namespace raydex
