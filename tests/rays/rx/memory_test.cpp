// SPDX-License-Identifier: Apache-2.0
// What an index holds, what its build needs, and that a failed build or query leaks nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class rx_memory : public test::backend_test {
 protected:
  buffer<std::uint32_t> random_keys(std::size_t n) const {
    auto random = test::generator();
    std::vector<std::uint32_t> keys(n);
    std::generate(keys.begin(), keys.end(), [&] { return static_cast<std::uint32_t>(random()); });
    return at().upload(keys);
  }
  std::unique_ptr<rx> build(const context& on, const column& keys,
                            const rx_options& options) const {
    return build_rx(at().where(), on, keys, {}, options);
  }
};

TEST_F(rx_memory, counts_what_the_engine_holds) {
  const auto keys = random_keys(20'000);
  const auto bytes = [&](const rx_options& options) {
    return build(at(), column(keys), options)->info().resident_bytes;
  };
  // More than the column: at least a box of two corners per primitive, or its equivalent.
  EXPECT_GT(bytes({.primitive = rx_primitive::triangle}), 20'000U * (8 + 24));
  EXPECT_GT(bytes({.primitive = rx_primitive::box}), 20'000U * (8 + 24));
  const auto equal = at().upload(std::vector<std::uint32_t>(20'000, 7));
  EXPECT_LT(build(at(), column(equal), {})->info().resident_bytes, 20'000U * 12);
}

// All bytes that a query allocates.
class counting_resource final : public memory_resource {
 public:
  explicit counting_resource(memory_resource& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, stream_t stream) override {
    bytes_ += bytes;
    return upstream_.allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    upstream_.deallocate(memory, bytes, stream);
  }
  memory_space space() const noexcept override { return upstream_.space(); }
  void adopt(std::ptrdiff_t bytes) noexcept override {
    if (bytes > 0) bytes_ += static_cast<std::size_t>(bytes);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  memory_resource& upstream_;
  std::atomic<std::size_t> bytes_ = 0;
};

TEST_F(rx_memory, the_scene_of_a_batch_is_counted_by_its_memory) {
  const context plain = at();
  const auto keys = random_keys(20'000);
  const auto kept = build(plain, column(keys), {});
  const auto none = build(plain, column(keys), {.inverse = rx_inverse::on});
  const std::uint64_t scene = kept->info().resident_bytes - none->info().resident_bytes;
  buffer<std::uint64_t> counts(plain, keys.size());
  for (const probes& batch : {points(column(keys)), ranges(column(keys), column(keys))}) {
    tracking_resource meter(plain.memory);
    none->count({meter, plain.stream}, batch, std::span(counts.data(), counts.size()));
    EXPECT_GT(meter.peak(), scene * 9 / 10);
    EXPECT_EQ(meter.current(), 0);
  }
}

TEST_F(rx_memory, rows_build_the_scene_of_a_batch_once) {
  const context plain = at();
  const auto keys = random_keys(20'000);
  const auto built = build(plain, column(keys), {.inverse = rx_inverse::on});
  buffer<std::uint64_t> counts(plain, keys.size());
  for (const probes& batch : {points(column(keys)), ranges(column(keys), column(keys))}) {
    counting_resource of_counts(plain.memory);
    built->count({of_counts, plain.stream}, batch, std::span(counts.data(), counts.size()));
    counting_resource of_rows(plain.memory);
    {
      const matches found = built->rows({of_rows, plain.stream}, batch);
      EXPECT_GE(found.total, keys.size());
    }
    EXPECT_LT(of_rows.bytes(), of_counts.bytes() * 3 / 2);
  }
}

TEST_F(rx_memory, parts_lower_the_peak_of_a_build) {
  if (at().where() == backend::cpu) GTEST_SKIP() << "Embree keeps what it builds from";
  const auto keys = random_keys(1 << 20);
  const auto peak = [&](unsigned parts) {
    return build(at(), column(keys), {.parts = parts})->info().build_peak_bytes;
  };
  EXPECT_LT(peak(16), 2 * peak(1) / 3);
}

TEST_F(rx_memory, a_build_that_runs_out_leaks_nothing) {
  const auto keys = random_keys(10'000);
  for (const rx_primitive primitive : {rx_primitive::triangle, rx_primitive::box}) {
    test::check_leaks_of_build(at(), [&](const context& on) {
      return build(on, column(keys), {.primitive = primitive, .parts = 2});
    });
  }
}

TEST_F(rx_memory, a_query_that_runs_out_leaves_the_index_as_it_was) {
  const context plain = at();
  const auto keys = random_keys(10'000);
  const auto built = build(plain, column(keys), {.order = rx_order::sorted});
  buffer<std::uint64_t> counts(plain, keys.size());
  const std::span out(counts.data(), counts.size());
  test::limited_resource scarce(plain.memory, 50'000);
  EXPECT_THROW(built->count({scarce, plain.stream}, points(column(keys)), out), out_of_memory);
  EXPECT_EQ(scarce.held(), 0);
  built->count(plain, points(column(keys)), out);
  for (const std::uint64_t count : at().download(counts))
    EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace raydex
