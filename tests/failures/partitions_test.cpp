// SPDX-License-Identifier: Apache-2.0
// Batches are divided when calls fail: the error is raydex's own, nothing leaks, and the same call
// succeeds after that.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "raydex/partition.hpp"
#include "tests/failures/sweep.hpp"

namespace raydex::test {
namespace {

class failing_partitions : public failures {
 protected:
  void SetUp() override {
    failures::SetUp();
    if (IsSkipped()) return;
    meter_.emplace(context(at()).memory);
    for (std::uint32_t i = 0; i < 300; ++i)
      probed_.push_back(i * 7 % 100);
    probes_ = at().upload(probed_);
    splitters_ = at().upload(std::vector<std::uint32_t>{20, 50});
  }
  context metered() { return {*meter_, context(at()).stream}; }

  std::vector<std::uint32_t> probed_;
  buffer<std::uint32_t> probes_, splitters_;
  std::optional<tracking_resource> meter_;
};

TEST_F(failing_partitions, leave_nothing_behind) {
  const probes batch = points(column(probes_));
  const auto divided = [&] {
    return divide(tested_backend(), metered(), batch, column(splitters_));
  };
  const std::vector<std::uint64_t> expected{60, 90, 150};
  std::unique_ptr<partition> parts;
  fail_in_turn(
      "divide", [&] { parts = divided(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        EXPECT_EQ(parts->counts(), expected);
        parts.reset();
        EXPECT_EQ(meter_->current(), 0);
      });

  parts = divided();
  buffer<std::uint32_t> sources(at(), parts->size());
  buffer<std::uint32_t> cells(at(), parts->size());
  const auto is_written = [&] {
    const auto source = at().download(sources);
    const auto cell = at().download(cells);
    for (std::size_t i = 0; i < source.size(); ++i)
      ASSERT_EQ(cell[i], probed_[source[i]]);
  };
  fail_in_turn(
      "write",
      [&] {
        parts->write(metered(), batch, {sources, cells.data(), nullptr});
      },
      [] {}, is_written);

  buffer<std::uint32_t> chosen(at(), 2);
  fail_in_turn(
      "choose_splitters",
      [&] { choose_splitters(tested_backend(), metered(), column(probes_), value_span(chosen)); },
      [] {},
      [&] {
        EXPECT_EQ(at().download(chosen), (std::vector<std::uint32_t>{33, 66}));
      });
}

}  // namespace
}  // namespace raydex::test
