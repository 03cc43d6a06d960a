// SPDX-License-Identifier: Apache-2.0
// Columns of more than 2^32 rows: row ids, positions and offsets need 64 bits. Runs where the
// device has the memory; the expected answers have a closed form.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/launch.cuh"
#include "tests/support/answers.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t all_keys = std::uint64_t{1} << 32;
constexpr std::uint64_t twice =
    1000;  // keys of the first rows, repeated in as many rows at the end
constexpr std::uint64_t n = all_keys + twice;

// The key of each row is a permutation of all keys of 32 bits.
constexpr std::uint32_t factor = 2'654'435'761;
constexpr std::uint32_t inverse_of_factor() {
  std::uint32_t inverse = 1;
  for (int i = 0; i < 5; ++i)
    inverse *= 2 - factor * inverse;
  return inverse;
}
static_assert(factor * inverse_of_factor() == 1);

__host__ __device__ constexpr std::uint32_t key_of(std::uint64_t row) {
  return static_cast<std::uint32_t>(row) * factor;
}
std::vector<std::uint64_t> rows_of(std::uint32_t key) {
  const std::uint64_t row = key * inverse_of_factor();
  if (row < twice) return {row, row + all_keys};
  return {row};
}

__global__ void write_keys(std::uint32_t* keys) {
  const std::uint64_t row = cuda::global_thread();
  if (row < n) keys[row] = key_of(row);
}

class large_keys : public backend_test, public testing::WithParamInterface<std::string> {
 protected:
  // Checks one structure over the column; skips it if the device lacks the memory.
  void check(const std::string& structure, const option_map& options, std::uint64_t bytes) {
    if (small_scale()) GTEST_SKIP() << "a large test";
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // so that freed memory is free
    if (at().device().free_bytes < bytes) {
      GTEST_SKIP() << bytes << " bytes are needed, " << at().device().free_bytes << " are free";
    }
    buffer<std::uint32_t> keys(at(), n);
    cuda::launch(context(at()).stream, cuda::blocks_for(n, 256), 256, 0, write_keys, keys.data());
    const auto built =
        build(structure, tested_backend(), at(), column(keys), std::nullopt, options);
    keys = {};
    EXPECT_EQ(built->info().row_ids, row_id_type::uint64);
    EXPECT_EQ(built->info().entries, n);
    EXPECT_EQ(built->info().max_row_id, n - 1);

    auto random = generator(29);
    std::vector<std::uint32_t> lower;
    std::vector<std::uint32_t> upper;
    for (int i = 0; i < 100'000; ++i) {
      // Half of the probes are keys of two rows, or near such a key.
      auto key = static_cast<std::uint32_t>(random());
      if (i % 2 == 0) key = key_of(below(random, twice));
      lower.push_back(key);
      const std::uint32_t room = ~std::uint32_t{0} - key;
      upper.push_back(key + std::min<std::uint32_t>(room, i % 10));
    }
    const auto lower_there = at().upload(lower);
    const auto upper_there = at().upload(upper);
    expect_answers(*built, points(column(lower_there)), lower, lower);
    expect_answers(*built, ranges(column(lower_there), column(upper_there)), lower, upper);

    // The whole column, whose count and offsets need 64 bits; the sum is modulo 2^64.
    const auto ends = at().upload(std::vector<std::uint32_t>{0, ~std::uint32_t{0}});
    const column first(std::span(ends.data(), 1));
    const column last(std::span(ends.data() + 1, 1));
    buffer<std::uint64_t> out(at(), 1);
    built->count(at(), ranges(first, last), std::span(out.data(), 1));
    EXPECT_EQ(at().download(out), std::vector<std::uint64_t>{n});
    built->sum(at(), ranges(first, last), std::span(out.data(), 1));
    const std::uint64_t sum = (n % 2 == 0 ? n / 2 * (n - 1) : n * ((n - 1) / 2));
    EXPECT_EQ(at().download(out), std::vector<std::uint64_t>{sum});
  }

 private:
  void expect_answers(const index& built, const probes& batch,
                      const std::vector<std::uint32_t>& lower,
                      const std::vector<std::uint32_t>& upper) const {
    const answers got = ask(at(), built, batch);
    answers wanted;
    wanted.offsets.push_back(0);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      std::uint64_t smallest = not_found<std::uint64_t>;
      std::uint64_t sum = 0;
      for (std::uint64_t key = lower[i]; key <= upper[i]; ++key) {
        for (const std::uint64_t row : rows_of(static_cast<std::uint32_t>(key))) {
          smallest = std::min(smallest, row);
          sum += row;
          wanted.rows.push_back(row);
        }
      }
      wanted.first.push_back(smallest);
      wanted.sums.push_back(sum);
      wanted.counts.push_back(wanted.rows.size() - wanted.offsets.back());
      wanted.offsets.push_back(wanted.rows.size());
    }
    EXPECT_TRUE(got.first == wanted.first);
    EXPECT_TRUE(got.counts == wanted.counts);
    EXPECT_TRUE(got.sums == wanted.sums);
    EXPECT_TRUE(got.offsets == wanted.offsets);
    EXPECT_TRUE(got.rows == wanted.rows);
  }
};

// Bytes needed: the column, and two copies of it with row ids while it is sorted. Beside the sorted
// copy, slices of the index find room in place of the other one.
constexpr std::uint64_t bytes_of_sort = n * (4 + 2 * (4 + 8));

option_map options_of(const std::string& structure) {
  if (structure == "cgrx") return {{"bucket", "256"}};
  return {};
}

// Hash tables sort each slice by hash, while the column by key stays.
std::uint64_t bytes_beside(const std::string& structure) {
  return std::uint64_t{structure.starts_with("hash") ? 30U : 6U} << 30;
}

TEST_P(large_keys, answer) {
  check(GetParam(), options_of(GetParam()), bytes_of_sort + bytes_beside(GetParam()));
}

std::vector<std::string> offered() {
  std::vector<std::string> names;
  for (const capability& can : capabilities()) {
    // A primitive of rx for each key would take 300 GB.
    if (can.where == tested_backend() && can.structure != "rx") names.push_back(can.structure);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(structures, large_keys, testing::ValuesIn(offered()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace raydex::test
