// SPDX-License-Identifier: Apache-2.0
// What a partition refuses.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

class partition_arguments : public testing::Test {
 protected:
  auto divided() const { return divide(backend::cpu, at_, batch_, column(splitters_)); }

  const session at_{backend::cpu};
  const std::vector<std::uint32_t> probed_{3, 1, 20};
  const std::vector<std::uint32_t> splitters_{2, 10};
  const probes batch_ = points(column(probed_));
  std::vector<std::uint32_t> sources_ = std::vector<std::uint32_t>(3);
  std::vector<std::uint32_t> cells_ = std::vector<std::uint32_t>(3);
};

TEST_F(partition_arguments, splitters_are_of_the_probes_format_and_ascend) {
  const auto with = [&](const auto& splitters) {
    return [&] { divide(backend::cpu, at_, batch_, column(splitters)); };
  };
  expect_error<invalid_argument>(with(std::vector<std::int32_t>{2}),
                                 {"splitters: they are int32, but the probes are uint32"});
  expect_error<invalid_argument>(with(std::vector<std::uint32_t>{2, 1}), {"do not ascend"});
  expect_error<invalid_argument>(with(std::vector<std::uint32_t>(most_shards)),
                                 {"1024 of them make 1025 shards; there are at most 1024"});
  const std::uint8_t bits = 1;
  expect_error<invalid_argument>(
      [&] { divide(backend::cpu, at_, batch_, column(splitters_, &bits)); },
      {"none may be missing"});
  with(std::vector<std::uint32_t>{2, 2, 2})();
}

TEST_F(partition_arguments, pieces_are_written_for_the_probes_that_were_divided) {
  const auto parts = divided();
  const piece_span out{sources_, cells_.data(), nullptr};
  parts->write(at_, batch_, out);
  EXPECT_EQ(sources_, (std::vector<std::uint32_t>{1, 0, 2}));
  const std::vector<std::uint32_t> other(4);
  expect_error<invalid_argument>([&] { parts->write(at_, points(column(other)), out); },
                                 {"probes: 4 of them, but there are 3"});
  expect_error<invalid_argument>(
      [&] { parts->write(at_, ranges(column(probed_), column(probed_)), out); },
      {"they are ranges, but points were divided"});
  expect_error<invalid_argument>(
      [&] { parts->write(at_, points(column(std::vector<float>(3))), out); },
      {"they are float, but what was divided is uint32"});
  expect_error<invalid_argument>(
      [&] {
        parts->write(at_, batch_, {sources_, nullptr, nullptr});
      },
      {"lower: 3 elements at a null pointer"});
  std::vector<std::uint32_t> few(2);
  expect_error<invalid_argument>(
      [&] {
        parts->write(at_, batch_, {few, cells_.data(), nullptr});
      },
      {"sources: 2 of them, but there are 3 pieces"});
}

TEST_F(partition_arguments, answers_are_numbers_that_can_be_put_together) {
  const auto parts = divided();
  parts->write(at_, batch_, {sources_, cells_.data(), nullptr});
  const auto put = [&](const auto& answers, piece_answer how) {
    return [&answers, how, &parts, this] {
      auto out = answers;
      parts->put_together(at_, sources_, column(answers), how, value_span(out));
    };
  };
  const std::vector<float> reals(3);
  const std::vector<std::int64_t> numbers(3);
  const std::vector<std::array<char, 4>> strings(3);
  put(reals, piece_answer::replace)();
  put(numbers, piece_answer::sum)();
  expect_error<invalid_argument>(put(reals, piece_answer::sum), {"answers: they are float"});
  expect_error<invalid_argument>(put(numbers, piece_answer::minimum),
                                 {"they are int64", "minimum unsigned integers"});
  expect_error<invalid_argument>(put(strings, piece_answer::replace), {"they are bytes4"});
  expect_error<invalid_argument>(put(numbers, static_cast<piece_answer>(9)),
                                 {"9 is none of replace, sum, minimum"});
  expect_error<invalid_argument>(put(std::vector<std::int64_t>(4), piece_answer::sum),
                                 {"answers: 4 of them, but there are 3 pieces"});
  const std::vector<std::int32_t> narrow(3);
  std::vector<std::int64_t> wide(3);
  const auto widened = [&](piece_answer how) {
    return [&, how] { parts->put_together(at_, sources_, column(narrow), how, value_span(wide)); };
  };
  widened(piece_answer::replace)();
  expect_error<invalid_argument>(widened(piece_answer::sum),
                                 {"out: its numbers are int64, but the answers are int32"});
}

TEST_F(partition_arguments, pieces_of_points_alone_are_placed_and_repeated) {
  const probes ranged = ranges(column(probed_), column(probed_));
  const auto with = [&](const probes& batch, std::uint64_t unit) {
    return [&, unit] { divide(backend::cpu, at_, batch, column(splitters_), unit); };
  };
  with(batch_, 16)();
  with(ranged, 1)();
  expect_error<invalid_argument>(with(ranged, 16), {"unit: 16, but pieces of ranges"});
  expect_error<invalid_argument>(with(batch_, 0), {"unit: 0 is not in 1 .. 4096"});
  expect_error<invalid_argument>(with(batch_, 4097), {"unit: 4097 is not in 1 .. 4096"});
  const auto parts = divide(backend::cpu, at_, ranged, column(splitters_));
  parts->write(at_, ranged, {sources_, cells_.data(), cells_.data()});
  const std::vector<std::uint32_t> answers(3);
  std::vector<std::uint32_t> out(3);
  expect_error<invalid_argument>(
      [&] {
        parts->put_together(at_, sources_, column(answers), piece_answer::replace, value_span(out));
      },
      {"replace is for points"});
}

TEST_F(partition_arguments, chosen_splitters_are_of_the_format_of_the_sample) {
  std::vector<double> out(2);
  expect_error<invalid_argument>(
      [&] { choose_splitters(backend::cpu, at_, column(probed_), value_span(out)); },
      {"out: they are double, but the sample is uint32"});
}

}  // namespace
}  // namespace raydex::test
