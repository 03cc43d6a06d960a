// SPDX-License-Identifier: Apache-2.0
// Sizes that no memory has are refused, not reduced modulo 2^64.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

TEST(sizes, products_do_not_wrap) {
  EXPECT_EQ(saturated_product(0, most), 0);
  EXPECT_EQ(saturated_product(most, 0), 0);
  EXPECT_EQ(saturated_product(most, 1), most);
  EXPECT_EQ(saturated_product(std::uint64_t{1} << 61, 8), most);
  EXPECT_EQ(saturated_product((std::uint64_t{1} << 61) - 1, 8), most - 7);
  EXPECT_EQ(saturated_product(std::uint64_t{1} << 32, std::uint64_t{1} << 32), most);
  EXPECT_EQ(saturated_product(3, 5), 15);
}

// Rounds up, as pools do.
class rounding_resource final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, stream_t stream) override {
    ++asked;
    return upstream_.allocate((bytes + 511) / 512 * 512, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    upstream_.deallocate(memory, (bytes + 511) / 512 * 512, stream);
  }
  memory_space space() const noexcept override { return memory_space::host; }

  int asked = 0;

 private:
  host_memory_resource upstream_;
};

TEST(sizes, buffers_that_no_memory_holds_are_refused) {
  rounding_resource memory;
  const auto expect_shortage = [&](auto element, std::uint64_t size, std::uint64_t bytes) {
    try {
      const buffer<decltype(element)> made({memory}, size);
      ADD_FAILURE() << size << " elements took " << made.bytes() << " bytes";
    } catch (const out_of_memory& e) {
      EXPECT_EQ(e.asked(), bytes);
    }
  };
  expect_shortage(std::uint64_t{}, std::uint64_t{1} << 61, most);
  expect_shortage(std::uint64_t{}, (std::uint64_t{1} << 61) + 1, most);
  expect_shortage(std::uint64_t{}, std::uint64_t{1} << 60, std::uint64_t{1} << 63);
  expect_shortage(std::uint32_t{}, most, most);
  expect_shortage(std::byte{}, most, most);
  EXPECT_EQ(memory.asked, 0);
}

TEST(sizes, the_heap_refuses_what_it_cannot_round_up) {
  host_memory_resource heap;
  for (const std::size_t bytes : {std::size_t{most}, std::size_t{most - 255},
                                  std::size_t{most - (4 << 20)}, std::size_t{1} << 63}) {
    try {
      heap.deallocate(heap.allocate(bytes, nullptr), bytes, nullptr);
      ADD_FAILURE() << bytes << " bytes were there";
    } catch (const out_of_memory& e) {
      EXPECT_EQ(e.asked(), bytes);
      EXPECT_GT(e.free(), 0);
    }
  }
}

TEST(sizes, columns_end_within_memory) {
  const session cpu(backend::cpu);
  const std::array<std::uint64_t, 4> cells{};
  const auto refused = [&](key_format format, std::uint64_t size, std::uint64_t stride) {
    column wide(format, cells.data(), size);
    wide.stride = stride;
    expect_error<invalid_argument>([&] { build("auto", backend::cpu, cpu, wide); },
                                   {"keys", std::to_string(size), "2^63"});
  };
  refused(format_of<std::uint64_t>, std::uint64_t{1} << 61, 0);
  refused(format_of<std::uint64_t>, most, 0);
  refused(format_of<std::uint64_t>, 3, std::uint64_t{1} << 63);
  refused(format_of<std::uint32_t>, std::uint64_t{1} << 33, std::uint64_t{1} << 31);
  refused(key_format::bytes(1), most, 1);
  // The stride of a single cell does not matter.
  column one(format_of<std::uint64_t>, cells.data(), 1);
  one.stride = std::uint64_t{1} << 63;
  EXPECT_EQ(build("auto", backend::cpu, cpu, one)->info().entries, 1);
}

// An index that matches as many rows as a test wants.
class matching final : public index {
 public:
  matching(memory_resource& memory, std::uint64_t total) : index(memory), total_(total) {
    info_.where = backend::cpu;
    info_.key = format_of<std::uint32_t>;
    info_.row_ids = row_id_type::uint64;
  }

 private:
  void do_first(const context&, const probes&, void*) const override {}
  void do_count(const context&, const probes&, std::uint64_t*) const override {}
  void do_sum(const context&, const probes&, const sum_request&) const override {}
  void do_offsets(const context&, const probes&, std::uint64_t*) const override {}
  void do_rows(const context&, const probes&, const std::uint64_t*, void*) const override {
    FAIL() << "there is no room";
  }
  std::uint64_t do_read(const context&, const std::uint64_t*) const override { return total_; }

  std::uint64_t total_;
};

TEST(sizes, more_matches_than_memory_holds_are_refused) {
  const session cpu(backend::cpu);
  const std::uint32_t cell = 1;
  const column keys(format_of<std::uint32_t>, &cell, 1);
  host_memory_resource memory;
  for (const std::uint64_t total : {std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1, most}) {
    const matching all(memory, total);
    EXPECT_THROW(all.rows(cpu, points(keys)), out_of_memory);
  }
}

}  // namespace
}  // namespace raydex
