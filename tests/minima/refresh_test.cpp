// SPDX-License-Identifier: Apache-2.0
// Structures that take changed values answer as if they were built over them.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class rmq_refresh : public test::backend_test {
 protected:
  // The structures of this backend that take changed values.
  template <class Function>
  void for_each_structure(const Function& f) const {
    for (const rmq_capability& able : rmq_capabilities())
      if (able.where == test::tested_backend() && able.updates) f(able.structure);
  }

  // First one value changes, then a few, then nearly all. At each level either only the blocks of
  // changed values are written, or the whole level.
  template <class T, class Position>
  void check(const std::string& structure, const option_map& options) const {
    SCOPED_TRACE(structure);
    auto random = test::generator(options.size());
    const std::size_t size = test::tested_by_emulation() ? 3001 : 60'001;
    std::vector<T> host(size);
    for (T& value : host)
      value = static_cast<T>(test::below(random, 1000));
    auto array = at().upload(host);
    const auto built = build_rmq(structure, at().where(), at(), column(array), options);
    for (const std::size_t changes : {std::size_t{1}, std::size_t{10}, std::size_t{40}, size}) {
      std::vector<Position> positions;
      for (std::size_t i = 0; i < changes; ++i) {
        const std::size_t position = test::below(random, size);
        host[position] = static_cast<T>(i % 2 == 0 ? 0 : 5000);  // below all others, or above
        positions.push_back(static_cast<Position>(position));
      }
      // Repeated positions are legal; those beyond the array are ignored.
      positions.push_back(positions.front());
      positions.push_back(static_cast<Position>(size));
      positions.push_back(std::numeric_limits<Position>::max());
      positions.push_back(static_cast<Position>(-1));
      at().copy_in(array.data(), host.data(), array.bytes());
      const auto changed = at().upload(positions);
      built->refresh(context(at()).stream, column(changed));
      const test::rmq_oracle<T> oracle(
          host, options.contains("ties") ? rmq_ties::rightmost : rmq_ties::leftmost,
          options.contains("extreme") ? rmq_extreme::maximum : rmq_extreme::minimum);
      check_answers(*built, host.size(), oracle, random);
    }
  }

 private:
  template <class T>
  void check_answers(const rmq& built, std::size_t size, const test::rmq_oracle<T>& oracle,
                     std::mt19937_64& random) const {
    std::vector<std::uint32_t> lower;
    std::vector<std::uint32_t> upper;
    for (int i = 0; i < 500; ++i) {
      const std::size_t length = 1 + test::below(random, i % 2 == 0 ? size : 200);
      lower.push_back(static_cast<std::uint32_t>(test::below(random, size - length + 1)));
      upper.push_back(static_cast<std::uint32_t>(lower.back() + length - 1));
    }
    const auto lower_ends = at().upload(lower);
    const auto upper_ends = at().upload(upper);
    buffer<std::uint64_t> out(at(), lower.size());
    built.position(at(), ranges(column(lower_ends), column(upper_ends)),
                   std::span(out.data(), out.size()));
    const auto found = at().download(out);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], oracle.position(lower[i], upper[i])) << lower[i] << " " << upper[i];
  }
};

TEST_F(rmq_refresh, takes_changed_values) {
  for_each_structure([&](const std::string& structure) {
    check<float, std::uint32_t>(structure, {});
    check<double, std::int64_t>(structure, {{"ties", "rightmost"}});
    check<std::uint32_t, std::uint64_t>(structure, {});
    check<float, std::uint64_t>(structure, {{"extreme", "maximum"}});
    check<std::int64_t, std::int32_t>(structure, {});
  });
}

TEST_F(rmq_refresh, with_options) {
  for (const auto& [structure, options] : std::vector<std::pair<std::string, option_map>>{
           {"rmq_cover", {{"memory", "small"}, {"extreme", "maximum"}}},
           {"rmq_hierarchy", {{"chunk", "2"}, {"cutoff", "2"}}},
           {"rmq_hierarchy", {{"chunk", "128"}, {"ties", "rightmost"}}},
           {"rmq_hierarchy", {{"load", "coalesced"}}}}) {
    check<float, std::uint32_t>(structure, options);
    check<std::int64_t, std::int32_t>(structure, options);
  }
}

TEST_F(rmq_refresh, positions_are_integers_and_not_missing) {
  const auto array = at().upload(std::vector<float>(100, 1.0F));
  const auto wrong = at().upload(std::vector<float>(3, 1.0F));
  const auto some = at().upload(std::vector<std::uint32_t>(3, 1));
  const auto bits = at().upload(std::vector<std::uint8_t>(1, 5));
  for_each_structure([&](const std::string& structure) {
    const auto built = build_rmq(structure, at().where(), at(), column(array));
    const stream_t stream = context(at()).stream;
    test::expect_error<invalid_argument>([&] { built->refresh(stream, column(wrong)); },
                                         {"positions", "float", "uint32"});
    test::expect_error<invalid_argument>([&] { built->refresh(stream, column(some, bits.data())); },
                                         {"positions", "missing"});
    built->refresh(stream, column(format_of<std::uint32_t>, nullptr, 0));
  });
}

// On cpu changed positions are sorted, in memory from the resource of the build.
class rmq_refresh_memory : public testing::Test {
 protected:
  std::unique_ptr<rmq> build(memory_resource& memory) const {
    return build_rmq("rmq_cover", backend::cpu, context{memory}, cells(values_));
  }
  template <class T>
  static column cells(const std::vector<T>& host) {
    return column(std::span<const T>(host));
  }

  host_memory_resource host_;
  std::vector<std::int32_t> values_ = std::vector<std::int32_t>(100'000, 9);
  std::vector<std::uint32_t> few_ = std::vector<std::uint32_t>(500, 77'777);
  std::vector<std::uint32_t> nearly_all_ = std::vector<std::uint32_t>(100'000, 77'777);
};

TEST_F(rmq_refresh_memory, few_changes_take_eight_bytes_each) {
  tracking_resource meter(host_);
  const auto built = build(meter);
  const std::size_t resident = meter.current();
  built->refresh(nullptr, cells(few_));
  EXPECT_EQ(meter.peak(), resident + 8 * few_.size());
  EXPECT_EQ(meter.current(), resident);
}

TEST_F(rmq_refresh_memory, so_many_that_levels_are_written_anew_take_none) {
  tracking_resource meter(host_);
  const auto built = build(meter);
  built->refresh(nullptr, cells(nearly_all_));
  EXPECT_EQ(meter.peak(), built->info().build_peak_bytes);
}

TEST_F(rmq_refresh_memory, one_that_runs_out_changes_nothing_and_can_be_made_again) {
  test::limited_resource scarce(host_, build(host_)->info().build_peak_bytes);
  const auto built = build(scarce);
  const auto least = [&] {
    const std::vector<std::uint32_t> lower{0, 70'000};
    const std::vector<std::uint32_t> upper{99'999, 80'000};
    std::vector<std::uint64_t> found(2);
    built->position({host_}, ranges(cells(lower), cells(upper)), found);
    return found;
  };
  EXPECT_EQ(least(), (std::vector<std::uint64_t>{0, 70'000}));
  values_[77'777] = 3;
  EXPECT_THROW(built->refresh(nullptr, cells(few_)), out_of_memory);
  EXPECT_EQ(least(), (std::vector<std::uint64_t>{0, 70'000}));
  built->refresh(nullptr, cells(nearly_all_));
  EXPECT_EQ(least(), (std::vector<std::uint64_t>{77'777, 77'777}));
}

}  // namespace
}  // namespace raydex
