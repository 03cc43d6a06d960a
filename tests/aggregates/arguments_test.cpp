// SPDX-License-Identifier: Apache-2.0
// What an aggregate refuses: parts that it was built without, other types, an index that was
// edited since, and one without ranks.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

class aggregate_arguments : public testing::Test {
 protected:
  std::unique_ptr<aggregate> built(const aggregate_options& options = {}) const {
    return build_aggregate(at_, *index_, column(values_), options);
  }
  probes batch() const { return points(column(keys_)); }

  const session at_{backend::cpu};
  const std::vector<std::uint32_t> keys_{3, 1, 2};
  const std::vector<std::int32_t> values_{30, 10, 20};
  const std::unique_ptr<index> index_ = build("sorted_array", backend::cpu, at_, column(keys_));
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(3);
  std::vector<std::int64_t> sums_ = std::vector<std::int64_t>(3);
  std::vector<double> means_ = std::vector<double>(3);
  std::vector<std::int32_t> extremes_ = std::vector<std::int32_t>(3);
  std::vector<std::uint32_t> rows_ = std::vector<std::uint32_t>(3);
};

TEST_F(aggregate_arguments, name_the_option_that_a_call_needs) {
  const auto none = built({.sums = false, .minima = false, .maxima = false, .first_rows = false});
  none->count(at_, batch(), counts_);
  none->count_values(at_, batch(), counts_);
  EXPECT_EQ(counts_, std::vector<std::uint64_t>(3, 1));
  EXPECT_EQ(none->info().resident_bytes, 0);
  expect_error<unsupported>([&] { none->sum(at_, batch(), sums_); }, {"built without sums"});
  expect_error<unsupported>([&] { none->mean(at_, batch(), means_); }, {"built without sums"});
  expect_error<unsupported>([&] { none->minimum(at_, batch(), value_span(extremes_)); },
                            {"built without minima"});
  expect_error<unsupported>([&] { none->maximum(at_, batch(), value_span(extremes_)); },
                            {"built without maxima"});
  expect_error<unsupported>([&] { none->first(at_, batch(), rows_); },
                            {"built without first_rows"});
}

TEST_F(aggregate_arguments, without_values_only_rows_are_known) {
  const auto rows_only = build_aggregate(at_, *index_);
  rows_only->first(at_, batch(), rows_);
  EXPECT_EQ(rows_, (std::vector<std::uint32_t>{0, 1, 2}));
  std::vector<std::uint64_t> wide(3);
  rows_only->first(at_, batch(), wide);
  EXPECT_EQ(wide, (std::vector<std::uint64_t>{0, 1, 2}));
  rows_only->count(at_, batch(), counts_);
  expect_error<unsupported>([&] { rows_only->count_values(at_, batch(), counts_); },
                            {"built without values"});
  expect_error<unsupported>([&] { rows_only->sum(at_, batch(), sums_); }, {"built without values"});
}

TEST_F(aggregate_arguments, sums_and_extremes_have_a_type) {
  const auto all = built();
  expect_error<invalid_argument>(
      [&] { all->sum(at_, batch(), counts_); },
      {"the values are int32; this output takes sums of uint32 or uint64"});
  expect_error<invalid_argument>([&] { all->sum(at_, batch(), means_); }, {"float or double"});
  expect_error<invalid_argument>([&] { all->minimum(at_, batch(), value_span(rows_)); },
                                 {"its values are uint32, but those of the aggregate are int32"});
  std::vector<double> few(2);
  expect_error<invalid_argument>([&] { all->mean(at_, batch(), few); }, {"out: "});
}

TEST_F(aggregate_arguments, values_must_be_numbers_for_every_row) {
  const std::vector<std::int32_t> few{1, 2};
  expect_error<invalid_argument>([&] { build_aggregate(at_, *index_, column(few)); },
                                 {"2 cells, but the largest row id is 2"});
  const std::vector<std::array<char, 4>> texts(3);
  expect_error<invalid_argument>([&] { build_aggregate(at_, *index_, column(texts)); },
                                 {"they are bytes4; aggregates are of numbers"});
}

TEST_F(aggregate_arguments, an_edited_index_needs_another_aggregate) {
  const auto edited = build("cgrx", backend::cpu, at_, column(keys_));
  const auto of = build_aggregate(at_, *edited, column(values_));
  of->sum(at_, batch(), sums_);
  EXPECT_EQ(sums_, (std::vector<std::int64_t>{30, 10, 20}));
  const std::vector<std::uint32_t> gone{1};
  edited->edit(nullptr, {.erase = column(gone)});
  expect_error<invalid_argument>([&] { of->sum(at_, batch(), sums_); },
                                 {"its index was edited after it was built"});
  const auto again = build_aggregate(at_, *edited, column(values_));
  again->sum(at_, batch(), sums_);
  EXPECT_EQ(sums_, (std::vector<std::int64_t>{30, 0, 20}));
}

TEST_F(aggregate_arguments, an_updated_index_needs_another_aggregate) {
  const auto updated = build_rx(backend::cpu, at_, column(keys_));
  const auto of = build_aggregate(at_, *updated, column(values_));
  const std::vector<std::uint32_t> others{7, 8, 9};
  updated->update(nullptr, column(others));
  expect_error<invalid_argument>([&] { of->sum(at_, batch(), sums_); }, {"was edited"});
}

TEST_F(aggregate_arguments, entries_in_nodes_have_no_ranks) {
  const auto nodes = build("cgrx", backend::cpu, at_, column(keys_), {}, {{"node", "32"}});
  expect_error<unsupported>([&] { build_aggregate(at_, *nodes, column(values_)); },
                            {"does not know the ranks of its keys; pivot_tree does"});
}

}  // namespace
}  // namespace raydex::test
