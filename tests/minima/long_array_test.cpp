// SPDX-License-Identifier: Apache-2.0
// Arrays of about 2^32 values and more on cpu. Nearly all of their memory is the system's page of
// zeros, so they take little. A few values are lower; these determine all answers.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

class long_array {
 public:
  explicit long_array(std::uint64_t size) : size_(size) {
    void* const room = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return;
    values_ = static_cast<std::int32_t*>(room);
    madvise(room, bytes(), MADV_HUGEPAGE);  // page tables are smaller; it works without
    std::int32_t value = 0;
    for (const std::uint64_t position :
         {std::uint64_t{77}, size / 3, two_to_32 / 2 - 1, two_to_32 / 2, two_to_32 - (1U << 23),
          two_to_32 - (1U << 22), two_to_32 - 1025, two_to_32 - 1, two_to_32, two_to_32 + 1000,
          size - 2}) {
      if (position >= size) continue;
      low_[position] = --value;
      values_[position] = value;
    }
  }
  long_array(const long_array&) = delete;
  long_array& operator=(const long_array&) = delete;
  ~long_array() {
    if (values_ != nullptr) munmap(values_, bytes());
  }

  bool exists() const { return values_ != nullptr; }
  column cells() const { return {format_of<std::int32_t>, values_, size_}; }
  std::uint64_t size() const { return size_; }
  const std::map<std::uint64_t, std::int32_t>& low() const { return low_; }

  // The position of the leftmost minimum of a range.
  std::uint64_t position(std::uint64_t lower, std::uint64_t upper) const {
    auto least = low_.end();
    for (auto at = low_.lower_bound(lower); at != low_.end() && at->first <= upper; ++at)
      if (least == low_.end() || at->second < least->second) least = at;
    return least == low_.end() ? lower : least->first;
  }
  std::int32_t operator[](std::uint64_t position) const {
    const auto found = low_.find(position);
    return found == low_.end() ? 0 : found->second;
  }

 private:
  std::size_t bytes() const { return size_ * sizeof(std::int32_t); }

  std::uint64_t size_;
  std::int32_t* values_ = nullptr;
  std::map<std::uint64_t, std::int32_t> low_;  // by position
};

class rmq_long_array : public backend_test {
 protected:
  // Asks for ranges up to `longest` values long.
  void check(const rmq& built, const long_array& values, std::uint64_t longest,
             std::size_t count) const {
    SCOPED_TRACE(built.info().structure + " of " + std::to_string(values.size()));
    auto random = generator(values.size());
    std::vector<std::uint64_t> lower;
    std::vector<std::uint64_t> upper;
    const auto add = [&](std::uint64_t from, std::uint64_t length) {
      lower.push_back(from);
      upper.push_back(std::min(from + length, values.size()) - 1);
    };
    for (const auto& [position, value] : values.low())
      for (const std::uint64_t before : {0U, 1U, 15U, 70U})
        for (const std::uint64_t length : {1U, 2U, 16U, 100U, 5000U})
          add(position - before, std::min<std::uint64_t>(length, longest));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t length = 1 + below(random, 1 + (longest - 1) % values.size());
      add(below(random, values.size() - length + 1), length);
      // Nearly all of the array.
      if (longest >= values.size()) {
        const std::uint64_t left_out = below(random, std::uint64_t{1} << (1 + i % 24));
        add(below(random, left_out + 1), values.size() - left_out);
      }
    }
    if (longest >= values.size()) add(0, values.size());
    buffer<std::uint64_t> positions(at(), lower.size());
    buffer<std::int32_t> minima(at(), lower.size());
    const probes batch = ranges(column(std::span<const std::uint64_t>(lower)),
                                column(std::span<const std::uint64_t>(upper)));
    built.position(at(), batch, std::span(positions.data(), positions.size()));
    built.minimum(at(), batch, value_span(minima));
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const std::uint64_t expected = values.position(lower[i], upper[i]);
      ASSERT_EQ(positions.data()[i], expected) << lower[i] << " to " << upper[i];
      ASSERT_EQ(minima.data()[i], values[expected]) << lower[i] << " to " << upper[i];
    }
    EXPECT_EQ(repairs(built, nullptr), 0);
  }
};

TEST_F(rmq_long_array, is_answered) {
  if (small_scale()) GTEST_SKIP() << "reads 16 GiB several times";
  for (const std::uint64_t size : {two_to_32 - (1U << 22), two_to_32 + (1U << 20) + 3}) {
    const long_array values(size);
    if (!values.exists()) GTEST_SKIP() << "no address space for " << size << " values";
    check(*build_rmq("rmq_cover", backend::cpu, at(), values.cells(), {{"memory", "small"}}),
          values, size, 20'000);
    check(*build_rmq("rmq_hierarchy", backend::cpu, at(), values.cells(),
                     {{"top", "rays"}, {"chunk", "1024"}}),
          values, size, 20'000);
    check(*build_rmq("rmq_scan", backend::cpu, at(), values.cells()), values, 1000, 1000);
  }
}

}  // namespace
}  // namespace raydex::test
