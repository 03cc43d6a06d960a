// SPDX-License-Identifier: Apache-2.0
// Structures for minima when calls fail: the error is raydex's own, nothing leaks, and the
// structure answers as before. The next refresh completes one that failed.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/failures/sweep.hpp"
#include "tests/minima/oracle.hpp"

namespace raydex::test {
namespace {

// A structure and its options.
struct minima_subject {
  std::string structure;
  option_map options;
  bool updates;
};
std::ostream& operator<<(std::ostream& out, const minima_subject& tested) {
  out << tested.structure;
  for (const auto& [name, value] : tested.options)
    out << ' ' << name << '=' << value;
  return out;
}

std::vector<minima_subject> minima_subjects() {
  const std::multimap<std::string, option_map> more{
      {"rmq_cover", {{"memory", "small"}}},
      {"rmq_hierarchy", {{"load", "coalesced"}}},
      {"rmq_hierarchy", {{"top", "rays"}, {"chunk", "4"}, {"cutoff", "100"}}}};
  std::vector<minima_subject> all;
  for (const rmq_capability& one : rmq_capabilities()) {
    if (one.where != tested_backend()) continue;
    all.push_back({one.structure, {}, one.updates});
    const auto [begin, end] = more.equal_range(one.structure);
    for (auto it = begin; it != end; ++it) {
      // Rays are traced by the CPU, or by OptiX.
      if (one.where == backend::cuda && it->second.contains("top")) continue;
      all.push_back({one.structure, it->second, one.updates});
    }
  }
  return all;
}

class failing_minima : public failures, public testing::WithParamInterface<minima_subject> {
 protected:
  void SetUp() override {
    failures::SetUp();
    if (IsSkipped()) return;
    meter_.emplace(context(at()).memory);
    for (float& value : values_)
      value = static_cast<float>(below(random_, 1000));
    array_ = at().upload(values_);
    std::vector<std::uint32_t> lower(ranges_size);
    std::vector<std::uint32_t> upper(ranges_size);
    for (std::size_t i = 0; i < ranges_size; ++i) {
      lower[i] = static_cast<std::uint32_t>(below(random_, size));
      upper[i] = lower[i] + static_cast<std::uint32_t>(below(random_, i % 2 == 0 ? 40 : size));
      upper[i] = std::min(upper[i], size - 1);
    }
    lower_ = at().upload(lower);
    upper_ = at().upload(upper);
  }

  std::unique_ptr<rmq> make() const {
    const context plain = at();
    return build_rmq(GetParam().structure, at().where(), {*meter_, plain.stream}, column(array_),
                     GetParam().options);
  }
  probes batch() const { return ranges(column(lower_), column(upper_)); }

  // The positions and the values of the array's minima.
  std::pair<std::vector<std::uint64_t>, std::vector<float>> expect() const {
    const rmq_oracle<float> oracle(values_, rmq_ties::leftmost);
    const auto lower = at().download(lower_);
    const auto upper = at().download(upper_);
    std::vector<std::uint64_t> positions;
    std::vector<float> minima;
    for (std::size_t i = 0; i < ranges_size; ++i) {
      positions.push_back(*oracle.position(lower[i], upper[i]));
      minima.push_back(values_[positions.back()]);
    }
    return {positions, minima};
  }
  void check(const rmq& tested) const {
    const auto [wanted_positions, wanted_minima] = expect();
    buffer<std::uint64_t> positions(at(), ranges_size);
    tested.position(at(), batch(), std::span(positions.data(), positions.size()));
    ASSERT_TRUE(at().download(positions) == wanted_positions);
    buffer<float> minima(at(), ranges_size);
    tested.minimum(at(), batch(), value_span(minima));
    ASSERT_TRUE(at().download(minima) == wanted_minima);
  }

  static constexpr std::uint32_t size = 5000;
  static constexpr std::size_t ranges_size = 500;

  std::mt19937_64 random_ = generator();
  mutable std::optional<tracking_resource> meter_;
  std::vector<float> values_ = std::vector<float>(size);
  buffer<float> array_;
  buffer<std::uint32_t> lower_;
  buffer<std::uint32_t> upper_;
};

INSTANTIATE_TEST_SUITE_P(all, failing_minima, testing::ValuesIn(minima_subjects()));

TEST_P(failing_minima, build) {
  std::unique_ptr<rmq> built;
  fail_in_turn(
      "build", [&] { built = make(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        check(*built);
        built.reset();
      });
}

TEST_P(failing_minima, queries) {
  const auto built = make();
  const context plain = at();
  const context on{*meter_, plain.stream};
  const std::size_t bytes = meter_->current();
  const auto asks = [&]<class T>(const std::string& name, const std::vector<T>& wanted,
                                 const auto& ask) {
    const std::vector<T> untouched(wanted.size(), T{77});
    buffer<T> out = at().upload(untouched);
    fail_in_turn(
        name, [&] { ask(out); },
        [&] {
          EXPECT_EQ(meter_->current(), bytes);
          // On a device, work queued before the failure may have been done.
          if (!tested_by_emulation()) {
            EXPECT_EQ(at().download(out), untouched);
          }
        },
        [&] {
          EXPECT_EQ(at().download(out), wanted);
          out = at().upload(untouched);
        });
    check(*built);
  };
  const auto [positions, minima] = expect();
  asks("position", positions, [&](buffer<std::uint64_t>& out) {
    built->position(on, batch(), std::span(out.data(), out.size()));
  });
  asks("minimum", minima,
       [&](buffer<float>& out) { built->minimum(on, batch(), value_span(out)); });
  fail_in_turn(
      "check", [&] { built->check(on, batch()); }, [&] { EXPECT_EQ(meter_->current(), bytes); },
      [] {});
}

// Through the bytes of a file and back.
TEST_P(failing_minima, files) {
  const auto built = make();
  const context plain = at();
  fail_through_a_file(
      *built, [&] { return to_bytes(at(), *built); },
      [&](const std::vector<std::byte>& file, bool verify) {
        return rmq_from_bytes(at().where(), {*meter_, plain.stream}, file, {.verify = verify}).held;
      },
      [&](const rmq& held) { check(held); }, [&] { return meter_->current(); });
}

TEST_P(failing_minima, refresh) {
  if (!GetParam().updates) GTEST_SKIP() << "takes no changes";
  const auto built = make();
  std::size_t bytes = meter_->current();
  stream_t stream = context(at()).stream;
  std::vector<std::uint32_t> changed(200);
  for (std::uint32_t& position : changed)
    position = static_cast<std::uint32_t>(below(random_, size));
  const auto positions = at().upload(changed);
  const auto change = [&] {
    for (const std::uint32_t position : changed)
      values_[position] = static_cast<float>(below(random_, 1000));
    at().copy_in(array_.data(), values_.data(), array_.bytes());
  };
  change();
  fail_in_turn(
      "refresh", [&] { built->refresh(stream, column(positions)); },
      [&] {
        // Without its rays a hierarchy scans.
        EXPECT_LE(meter_->current(), bytes);
        built->refresh(stream, column(positions));
        bytes = meter_->current();
        check(*built);
        change();
      },
      [&] {
        bytes = meter_->current();
        check(*built);
        change();
      });
}

}  // namespace
}  // namespace raydex::test
