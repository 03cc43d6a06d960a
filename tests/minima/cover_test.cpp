// SPDX-License-Identifier: Apache-2.0
// What is particular to rmq_cover: its options, what it holds, and places of 64 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class rmq_cover_on_backend : public test::backend_test {
 protected:
  std::unique_ptr<rmq> build(const context& on, const column& values,
                             const rmq_cover_options& options = {}) const {
    return build_rmq_cover(at().where(), on, values, options);
  }
};

TEST_F(rmq_cover_on_backend, tells_its_options) {
  const auto values = at().upload(std::vector<float>(100, 1.0F));
  const auto options = [&](const option_map& given) {
    return build_rmq("rmq_cover", at().where(), at(), column(values), given)->info().options;
  };
  EXPECT_EQ(options({}), "memory=fast ties=leftmost extreme=minimum");
  EXPECT_EQ(options({{"memory", "small"}, {"ties", "rightmost"}}),
            "memory=small ties=rightmost extreme=minimum");
  test::expect_error<invalid_argument>(
      [&] {
        options({{"memory", "all"}});
      },
      {"option memory", "'all'", "fast", "small"});
  test::expect_error<invalid_argument>(
      [&] {
        options({{"chunk", "8"}});
      },
      {"'chunk'", "rmq_cover", "memory=fast|small"});
}

TEST_F(rmq_cover_on_backend, keeps_within_its_memory) {
  const auto check = [&]<class T>() {
    for (const std::size_t n : {1u, 33u, 1000u, 70'001u, 1u << 20}) {
      if (n > 100'000 && test::tested_by_emulation()) continue;
      const auto values = at().upload(std::vector<T>(n, T{7}));
      const std::uint64_t bytes = n * sizeof(T);
      const std::uint64_t fixed = 4096;  // levels are whole blocks
      EXPECT_LE(build(at(), column(values))->info().resident_bytes, bytes / 4 + fixed);
      EXPECT_LE(build(at(), column(values), {.memory = rmq_memory::small})->info().resident_bytes,
                bytes / 25 + fixed);
    }
  };
  check.template operator()<float>();
  check.template operator()<double>();
}

TEST_F(rmq_cover_on_backend, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto values = at().upload(std::vector<float>(10'000, 1.0F));
  test::check_memory_of_build(at(), [&](const context& on) { return build(on, column(values)); });
}

// An array just long enough that tables answer its long ranges, and masks answer parts of blocks of
// level 2. The conformance suite's arrays are shorter where kernels are emulated.
TEST_F(rmq_cover_on_backend, tables_and_masks_answer) {
  auto random = test::generator();
  std::vector<float> host(40'000);
  for (float& value : host)
    value = static_cast<float>(test::below(random, 1'000'000));
  const auto array = at().upload(host);
  std::vector<std::uint32_t> lower;
  std::vector<std::uint32_t> upper;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t length = 1 + test::below(random, i % 2 == 0 ? host.size() : 4000);
    lower.push_back(static_cast<std::uint32_t>(test::below(random, host.size() - length + 1)));
    upper.push_back(static_cast<std::uint32_t>(lower.back() + length - 1));
  }
  const auto lower_ends = at().upload(lower);
  const auto upper_ends = at().upload(upper);
  for (const rmq_ties ties : {rmq_ties::leftmost, rmq_ties::rightmost}) {
    const auto built = build(at(), column(array), {.ties = ties});
    buffer<std::uint64_t> out(at(), lower.size());
    built->position(at(), ranges(column(lower_ends), column(upper_ends)),
                    std::span(out.data(), out.size()));
    const auto found = at().download(out);
    const test::rmq_oracle<float> oracle(host, ties);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], *oracle.position(lower[i], upper[i])) << lower[i] << " " << upper[i];
  }
}

// Of an interval that reaches beyond the array, the last value may be all that its second half has.
TEST(rmq_cover_tables, hold_the_minima_of_their_intervals) {
  auto random = test::generator();
  for (const std::size_t size : {65U, 100U, 257U}) {
    std::vector<float> values(size);
    for (float& value : values)
      value = static_cast<float>(test::below(random, 50));
    values.back() = -1;
    const auto layout = core::cover_layout<std::uint32_t>::over(size, 4, 0);
    for (const rmq_ties ties : {rmq_ties::leftmost, rmq_ties::rightmost}) {
      const test::rmq_oracle<float> oracle(values, ties);
      std::vector<core::cover_entry<float, std::uint32_t>> entries(layout.size);
      for (unsigned j = layout.least; j <= layout.most; ++j) {
        const auto& table = layout.tables[j];
        for (std::uint64_t begin = 0; begin < size; begin += std::uint64_t{1} << table.shift) {
          const std::uint64_t end = std::min<std::uint64_t>(begin + (std::uint64_t{1} << j), size);
          const auto place = static_cast<std::uint32_t>(*oracle.position(begin, end - 1));
          const std::uint64_t i = begin >> table.shift;
          if (j == layout.least) {
            entries[table.begin + i] = {values[place], place};
            continue;
          }
          core::put_next_cover<float, std::uint32_t>{
              layout.tables[j - 1],        table,         std::uint64_t{1} << (j - 1), size,
              ties == rmq_ties::rightmost, entries.data()}(i);
          ASSERT_EQ(entries[table.begin + i].place, place) << begin << " to " << end - 1;
          ASSERT_EQ(entries[table.begin + i].value, values[place]);
        }
      }
    }
  }
}

TEST(rmq_cover_view, is_of_the_values_type) {
  const session cpu(backend::cpu);
  const std::vector<std::uint32_t> values{4, 3, 2, 4'000'000'000};
  const auto built =
      build_rmq_cover(backend::cpu, cpu, column(std::span<const std::uint32_t>(values)));
  EXPECT_EQ(built->view<std::uint32_t>().minimum(0, 1), 3);
  EXPECT_EQ(built->view<std::uint32_t>().minimum(3, 3), 4'000'000'000);
  EXPECT_EQ(built->view<std::uint32_t>().position(0, 3), 2);
  test::expect_error<invalid_argument>([&] { built->view<std::int32_t>(); },
                                       {"view", "uint32", "32 bits"});
  test::expect_error<invalid_argument>([&] { (built->view<std::uint32_t, std::uint64_t>()); },
                                       {"view", "uint32", "32 bits"});
}

// Every range of an array that needs four levels, for every offset of the array from a 16-byte
// boundary.
TEST(rmq_cover_view, answers_all_ranges) {
  const session cpu(backend::cpu);
  auto random = test::generator();
  const std::size_t size = test::small_scale() ? 400 : 1500;
  for (std::size_t misaligned = 0; misaligned < 4; ++misaligned) {
    std::vector<float> padded(misaligned + size);
    for (float& value : padded)
      value = static_cast<float>(test::below(random, size));
    const std::vector<float> host(padded.begin() + static_cast<std::ptrdiff_t>(misaligned),
                                  padded.end());
    const test::rmq_oracle<float> oracle(host, rmq_ties::leftmost);
    const auto built = build_rmq_cover(backend::cpu, cpu,
                                       column(format_of<float>, padded.data() + misaligned, size));
    const auto view = built->view<float>();
    for (std::size_t lower = 0; lower < size; ++lower) {
      for (std::size_t upper = lower; upper < size; ++upper) {
        const std::uint64_t expected = *oracle.position(lower, upper);
        ASSERT_EQ(view.position(lower, upper), expected) << lower << " " << upper;
        ASSERT_EQ(view.minimum(lower, upper), host[expected]) << lower << " " << upper;
      }
    }
  }
}

}  // namespace
}  // namespace raydex
