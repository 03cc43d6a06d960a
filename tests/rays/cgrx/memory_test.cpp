// SPDX-License-Identifier: Apache-2.0
// What an index holds, and that a failed build or query leaks nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class cgrx_memory : public test::backend_test {
 protected:
  buffer<std::uint32_t> random_keys(std::size_t n) const {
    auto random = test::generator();
    std::vector<std::uint32_t> keys(n);
    std::generate(keys.begin(), keys.end(), [&] { return static_cast<std::uint32_t>(random()); });
    return at().upload(keys);
  }
  std::unique_ptr<cgrx> build(const context& on, const column& keys,
                              const cgrx_options& options) const {
    return build_cgrx(at().where(), on, keys, {}, options);
  }
};

TEST_F(cgrx_memory, falls_with_the_size_of_buckets) {
  const auto keys = random_keys(100'000);
  const auto bytes = [&](unsigned bucket) {
    return build(at(), column(keys), {.bucket = bucket})->info().resident_bytes;
  };
  EXPECT_LT(bytes(16), 100'000U * 24);
  EXPECT_LT(bytes(256), bytes(16));
  EXPECT_GE(bytes(65'536), 100'000U * 8);
}

TEST_F(cgrx_memory, the_optimised_scene_has_fewer_triangles) {
  auto random = test::generator();
  std::vector<std::uint64_t> sparse(100'000);  // each representative is alone in its row
  std::generate(sparse.begin(), sparse.end(), std::ref(random));
  const auto keys = at().upload(sparse);
  const auto bytes = [&](core::bucket_scene scene, cgrx_mapping mapping) {
    return build(at(), column(keys), {.bucket = 4, .scene = scene, .mapping = mapping})
        ->info()
        .resident_bytes;
  };
  // 24 bytes of vertices at least for each of the markers that only the naive one has.
  const auto optimised = bytes(core::bucket_scene::optimised, cgrx_mapping::bits);
  EXPECT_GT(bytes(core::bucket_scene::naive, cgrx_mapping::bits), optimised + 24 * 24'000U);
}

TEST_F(cgrx_memory, rows_are_as_large_as_columns_unless_padded) {
  const auto narrow = random_keys(100'000);
  const buffer<std::uint64_t> wide = at().upload(std::vector<std::uint64_t>(100'000));
  const auto bytes = [&](const column& keys, cgrx_layout entries) {
    return build(at(), keys, {.bucket = 65'536, .layout = entries})->info().resident_bytes;
  };
  for (const column& keys : {column(narrow), column(wide)})
    EXPECT_EQ(bytes(keys, cgrx_layout::packed), bytes(keys, cgrx_layout::column));
  EXPECT_EQ(bytes(column(narrow), cgrx_layout::aligned),
            bytes(column(narrow), cgrx_layout::column));
  EXPECT_EQ(bytes(column(wide), cgrx_layout::aligned),
            bytes(column(wide), cgrx_layout::column) + 100'000U * 4);
}

TEST_F(cgrx_memory, an_edit_leaves_no_columns_beside_rows) {
  const auto keys = random_keys(10'000);
  const auto more = random_keys(1000);
  const auto bytes = [&](cgrx_layout entries) {
    const auto built = build(at(), column(keys), {.layout = entries});
    built->edit(context(at()).stream, {.insert = column(more), .insert_rows = column(more)});
    const auto edited = built->info().resident_bytes;
    built->rebuild(context(at()).stream);
    return std::pair(edited, built->info().resident_bytes);
  };
  EXPECT_EQ(bytes(cgrx_layout::packed), bytes(cgrx_layout::column));
}

TEST_F(cgrx_memory, a_build_that_runs_out_leaks_nothing) {
  const auto keys = random_keys(10'000);
  test::check_leaks_of_build(at(), [&](const context& on) {
    return build(on, column(keys), {.bucket = 4, .layout = cgrx_layout::packed, .parts = 2});
  });
}

TEST_F(cgrx_memory, a_query_that_runs_out_leaves_the_index_as_it_was) {
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
