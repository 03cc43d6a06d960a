// SPDX-License-Identifier: Apache-2.0
// Who is asked whether a call is to stop, and what is told. That each call can be stopped anywhere
// is in tests/failures.
#include "raydex/interruptible.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex {
namespace {

constexpr std::chrono::milliseconds at_once{0};

class interruptible_calls : public testing::Test {
 protected:
  interruptible_calls() : cells_(100'000) {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      cells_[i] = static_cast<std::uint32_t>(i * 2654435761U);
  }
  std::unique_ptr<index> make() const {
    return build("sorted_array", backend::cpu, cpu_, column(cells_));
  }

  const session cpu_{backend::cpu};
  std::vector<std::uint32_t> cells_;
};

TEST_F(interruptible_calls, ask_the_inner_one_in_their_thread) {
  int outer = 0;
  int inner = 0;
  const auto caller = std::this_thread::get_id();
  const interruptible first([&](const progress&) { return ++outer < 0; }, at_once);
  {
    const interruptible second(
        [&](const progress&) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          return ++inner < 0;
        },
        at_once);
    make();
    std::thread([&] { make(); }).join();
  }
  EXPECT_EQ(outer, 0);
  EXPECT_GT(inner, 0);
  make();
  EXPECT_GT(outer, 0);
}

TEST_F(interruptible_calls, ask_no_more_once_they_stop) {
  int asked = 0;
  const interruptible one([&](const progress&) { return ++asked == 3; }, at_once);
  EXPECT_THROW(make(), interrupted);
  EXPECT_THROW(make(), interrupted);
  EXPECT_EQ(asked, 3);
}

TEST_F(interruptible_calls, of_little_time_ask_nothing) {
  const std::vector<std::uint32_t> few{3, 1, 2};
  const interruptible one(
      [](const progress&) {
        ADD_FAILURE() << "asked";
        return false;
      },
      std::chrono::hours(1));
  build("pivot_tree", backend::cpu, cpu_, column(few));
}

TEST_F(interruptible_calls, tell_the_passes_of_a_sort) {
  std::vector<std::uint64_t> steps;
  const interruptible one(
      [&](const progress& at) {
        if (std::string(at.stage) == "sorting") {
          EXPECT_EQ(at.steps, 4);
          if (steps.empty() || steps.back() != at.step) steps.push_back(at.step);
        }
        return false;
      },
      at_once);
  make();
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(interruptible_calls, are_no_edits) {
  const auto edited = make();
  const std::uint64_t before = edited->info().entries;
  std::vector<std::uint32_t> rows(cells_.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto minima = build_rmq("rmq_cover", backend::cpu, cpu_, column(cells_));
  const interruptible one(
      [](const progress&) {
        ADD_FAILURE() << "asked";
        return true;
      },
      at_once);
  edited->edit(nullptr, {.insert = column(cells_), .insert_rows = column(rows)});
  EXPECT_EQ(edited->info().entries, before + rows.size());
  minima->refresh(nullptr, column(rows));
}

}  // namespace
}  // namespace raydex
