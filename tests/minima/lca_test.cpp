// SPDX-License-Identifier: Apache-2.0
// What rmq_lca holds, what it refuses, and trees that are hard for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/structures/papers/rmq_lca/rmq_lca.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

class lca : public backend_test {
 protected:
  std::unique_ptr<rmq> build(const context& on, const column& values,
                             rmq_ties ties = rmq_ties::leftmost) const {
    return build_rmq_lca(at().where(), on, values, {.ties = ties});
  }

  // The positions of the minima of ranges; `ends` holds lower and upper ends in turn.
  void expect_positions(const std::vector<std::int32_t>& values,
                        const std::vector<std::uint32_t>& ends) const {
    const auto array = at().upload(values);
    const auto at_ends = at().upload(ends);
    column lower(format_of<std::uint32_t>, at_ends.data(), ends.size() / 2);
    lower.stride = 8;
    column upper = lower;
    upper.data = at_ends.data() + 1;
    for (const rmq_ties ties : {rmq_ties::leftmost, rmq_ties::rightmost}) {
      const rmq_oracle<std::int32_t> oracle(values, ties);
      buffer<std::uint64_t> positions(at(), ends.size() / 2);
      build(at(), column(array), ties)
          ->position(at(), ranges(lower, upper), std::span(positions.data(), positions.size()));
      const auto found = at().download(positions);
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i], oracle.position(ends[2 * i], ends[2 * i + 1]))
            << "[" << ends[2 * i] << ", " << ends[2 * i + 1] << "] of "
            << testing::PrintToString(values);
      }
    }
  }
};

TEST_F(lca, holds_and_needs_12_bytes_a_value_or_20_for_wide_ones) {
  for (const std::size_t n : {0U, 1U, 1000U, 10'007U}) {
    const auto check = [&]<class T>(T value, std::size_t bytes) {
      const auto cells = at().upload(std::vector<T>(n, value));
      const auto built = build(at(), column(cells));
      EXPECT_EQ(built->info().resident_bytes, bytes * n);
      EXPECT_EQ(built->info().build_peak_bytes, bytes * n);
    };
    check(1.0F, 12);
    check(std::uint32_t{1}, 12);
    check(1.0, 20);
    check(std::int64_t{1}, 20);
  }
}

TEST_F(lca, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto cells = at().upload(std::vector<float>(10'000, 7));
  check_memory_of_build(at(), [&](const context& on) { return build(on, column(cells)); });
}

TEST_F(lca, takes_ties_and_no_other_option) {
  const auto cells = at().upload(std::vector<float>{3, 1, 2});
  const auto built = [&](const option_map& options) {
    return build_rmq("rmq_lca", at().where(), at(), column(cells), options);
  };
  EXPECT_EQ(built({})->info().options, "ties=leftmost extreme=minimum");
  EXPECT_EQ(built({{"ties", "rightmost"}, {"extreme", "maximum"}})->info().options,
            "ties=rightmost extreme=maximum");
  expect_error<invalid_argument>(
      [&] {
        built({{"chunk", "16"}});
      },
      {"'chunk'", "rmq_lca", "ties=leftmost|rightmost", "extreme=minimum|maximum"});
  expect_error<invalid_argument>(
      [&] {
        built({{"ties", "any"}});
      },
      {"option ties", "'any'", "leftmost", "rightmost"});
}

TEST_F(lca, takes_no_changed_values) {
  const auto cells = at().upload(std::vector<float>{3, 1, 2});
  const auto changed = at().upload(std::vector<std::uint32_t>{1});
  const auto built = build(at(), column(cells));
  expect_error<unsupported>([&] { built->refresh(nullptr, column(changed)); }, {"rmq_lca"});
}

// All trees of a few nodes, with and without equal values.
TEST_F(lca, all_short_arrays) {
  const std::size_t longest = tested_by_emulation() ? 5 : 7;
  std::vector<std::uint32_t> ends;
  for (std::uint32_t upper = 0; upper < longest; ++upper) {
    for (std::uint32_t lower = 0; lower <= upper; ++lower)
      ends.insert(ends.end(), {lower, upper});
    std::vector<std::int32_t> values(upper + 1);
    const auto next = [&] {
      for (std::int32_t& digit : values) {
        if (++digit < 4) return true;
        digit = 0;
      }
      return false;
    };
    do {
      expect_positions(values, ends);
      if (HasFatalFailure()) return;
    } while (next());
  }
}

// Trees as deep as the array is long, whose labels are highest at its ends or in its middle.
TEST_F(lca, deep_trees) {
  const std::size_t n = (tested_by_emulation() ? 1U << 13U : 1U << 20U) + 3;
  auto random = generator(1);
  std::vector<std::uint32_t> ends;
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::uint64_t one = below(random, n);
    const std::uint64_t other = i % 2 == 0 ? below(random, n) : std::min(n - 1, one + i);
    ends.push_back(static_cast<std::uint32_t>(std::min(one, other)));
    ends.push_back(static_cast<std::uint32_t>(std::max(one, other)));
  }
  std::vector<std::int32_t> values(n);
  const auto check = [&](const auto& value_at) {
    for (std::size_t i = 0; i < n; ++i)
      values[i] = static_cast<std::int32_t>(value_at(i));
    expect_positions(values, ends);
  };
  check([](std::size_t) { return 0; });
  check([](std::size_t i) { return i; });
  check([&](std::size_t i) { return n - i; });
  check([](std::size_t i) { return i / 1000; });
  check([&](std::size_t i) { return i < n / 2 ? i : n - i; });
  check([&](std::size_t i) { return i < n / 3 ? n - i : i; });
  check([&](std::size_t i) { return i % 2 == 0 ? i : n - i; });
}

// Places have 64 bits only in arrays that are too long for a test.
struct serial {
  template <class Function>
  static void for_each_alone(const context& /*where*/, const Function& f, std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i)
      f(i);
  }
};

TEST(lca_core, places_of_64_bits) {
  auto random = generator(2);
  host_memory_resource memory;
  for (const std::size_t n : {1U, 2U, 6U, 7U, 8U, 9U, 100U, 257U}) {
    std::vector<double> values(n);
    for (double& value : values)
      value = static_cast<double>(below(random, n));
    const rmq_oracle<double> oracle(values, rmq_ties::rightmost);
    const core::value_array<double> array(values.data(), n, key_type::float64, false);
    std::vector<std::uint64_t> ascendants(n);
    std::vector<core::lca_node<double, std::uint64_t>> head_parents(n);
    run_lca_steps<serial>({memory}, core::lca_build<double, std::uint64_t>{
                                        array, true, ascendants.data(), head_parents.data()});
    const core::rmq_lca_view<double, std::uint64_t> view{array, true, ascendants.data(),
                                                         head_parents.data()};
    for (std::uint64_t upper = 0; upper < n; ++upper) {
      for (std::uint64_t lower = 0; lower <= upper; ++lower) {
        const auto found = view.find(lower + array.first(), upper + array.first());
        ASSERT_EQ(found.place - array.first(), oracle.position(lower, upper));
        ASSERT_EQ(found.value, values[found.place - array.first()]);
      }
    }
  }
}

}  // namespace
}  // namespace raydex::test
