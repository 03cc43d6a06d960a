// SPDX-License-Identifier: Apache-2.0
// Keys and buckets at the edges of rows and planes, in all scenes, against the oracle. No lookup
// may need a repair.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/repairs.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

using keys64 = std::vector<std::uint64_t>;

constexpr std::uint64_t row = std::uint64_t{1} << 23;
constexpr std::uint64_t plane = std::uint64_t{1} << 46;
constexpr std::uint64_t most = ~std::uint64_t{0};

class cgrx_edges : public test::backend_test {
 protected:
  // Asks for keys, their neighbours, what lies beside rows and planes, and ranges between all of
  // these, with each layout in turn.
  template <class Key>
  void check(std::vector<Key> keys, cgrx_options options) {
    options.layout = static_cast<cgrx_layout>(checked_++ % 3);
    std::shuffle(keys.begin(), keys.end(), random_);
    const std::vector<std::optional<Key>> cells(keys.begin(), keys.end());
    std::vector<std::uint64_t> ids(keys.size());
    std::iota(ids.begin(), ids.end(), 0);
    const test::oracle<Key> expected(cells, ids);
    const auto on_backend = at().upload(keys);
    const auto built = build_cgrx(at().where(), at(), column(on_backend), {}, options);
    SCOPED_TRACE(built->info().options);

    std::vector<Key> lower;
    for (int i = 0; i < 300; ++i) {
      const Key key = keys.empty() ? Key{0} : keys[random_() % keys.size()];
      const auto k = std::uint64_t{key};
      for (const std::uint64_t probe :
           {k, k + 1, k - 1, k - k % row, k - k % row - 1, k | (row - 1), k | (plane - 1),
            k - k % plane - 1, std::uint64_t{random_()}})
        lower.push_back(static_cast<Key>(probe));
    }
    lower.insert(lower.end(), {Key{0}, static_cast<Key>(-1)});
    std::vector<Key> upper = lower;
    std::shuffle(upper.begin(), upper.end(), random_);
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    for (const bool as_points : {true, false}) {
      const probes batch = as_points ? points(column(lower_cells))
                                     : ranges(column(lower_cells), column(upper_cells));
      buffer<std::uint32_t> rows(at(), lower.size());
      buffer<std::uint64_t> counts(at(), lower.size());
      built->first(at(), batch, std::span(rows.data(), rows.size()));
      built->count(at(), batch, std::span(counts.data(), counts.size()));
      const auto got_rows = at().download(rows);
      const auto got_counts = at().download(counts);
      for (std::size_t i = 0; i < lower.size(); ++i) {
        const auto wanted = expected.rows(lower[i], as_points ? lower[i] : upper[i]);
        ASSERT_EQ(got_counts[i], wanted.size()) << lower[i] << " to " << upper[i];
        ASSERT_EQ(got_rows[i], wanted.empty() ? not_found<std::uint32_t>
                                              : *std::min_element(wanted.begin(), wanted.end()))
            << lower[i] << " to " << upper[i];
      }
    }
    ASSERT_LE(repairs(*built, context(at()).stream), test::most_repairs(*built, 4 * lower.size()));
  }

  template <class Key>
  void check_all(const std::vector<Key>& keys) {
    for (const unsigned bucket : {2U, 3U, 16U, 500U, 65'536U}) {
      for (const unsigned parts : {0U, 3U}) {
        for (const auto scene : {core::bucket_scene::optimised, core::bucket_scene::naive,
                                 core::bucket_scene::spans}) {
          cgrx_options options{.bucket = bucket, .scene = scene, .parts = parts};
          check(keys, options);
          options.search = core::bucket_search::interpolated;
          check(keys, options);
          if (scene == core::bucket_scene::spans) continue;
          options.mapping = cgrx_mapping::bits;
          options.search = bucket == 3 ? core::bucket_search::linear : core::bucket_search::binary;
          check(keys, options);
          options.scale = rx_scale{};
          options.scan = scanning::single;
          options.order = rx_order::tiles;
          check(keys, options);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  std::mt19937_64 random_ = test::generator();
  unsigned checked_ = 0;
};

// All combinations of the ends of three fields.
keys64 ends_of_fields() {
  keys64 keys;
  for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, row - 2, row - 1}) {
    for (const std::uint64_t y : {std::uint64_t{0}, std::uint64_t{1}, row - 2, row - 1}) {
      for (const std::uint64_t z : {0U, 1U, 2U, (1U << 18) - 2, (1U << 18) - 1})
        keys.push_back(x + y * row + z * plane);
    }
  }
  return keys;
}

TEST_F(cgrx_edges, ends_of_rows_and_planes) {
  check_all(ends_of_fields());
}

TEST_F(cgrx_edges, few_keys) {
  check_all(keys64{});
  check_all(keys64{7});
  check_all(keys64{0, most});
  check_all(keys64{row - 1, row, plane - 1, plane});
}

TEST_F(cgrx_edges, one_row_one_plane_and_rows_and_planes_of_their_own) {
  keys64 one_row;
  keys64 one_plane;
  keys64 own_rows;
  keys64 own_planes;
  for (std::uint64_t i = 0; i < 400; ++i) {
    one_row.push_back(5 * plane + 7 * row + 3 * i);
    one_plane.push_back(5 * plane + i % 20 * row + random_() % row);
    own_rows.push_back(i * row + random_() % row);
    own_planes.push_back(i * plane + random_() % plane);
  }
  for (const keys64& keys : {one_row, one_plane, own_rows, own_planes})
    check_all(keys);
}

TEST_F(cgrx_edges, buckets_over_empty_rows_and_planes) {
  keys64 keys;
  for (std::uint64_t i = 0; i < 300; ++i)
    keys.push_back(i % 7 * plane * 1000 + (i % 11) * row * 5000 + i % 3 * (row - 1) / 2);
  check_all(keys);
}

TEST_F(cgrx_edges, duplicates_longer_than_buckets_at_the_ends_of_rows) {
  keys64 keys;
  for (const std::uint64_t key : {row - 1, row, 2 * row - 1, plane - 1, plane, most}) {
    keys.insert(keys.end(), 1 + random_() % 100, key);
    keys.push_back(key - 1);
  }
  check_all(keys);
  check_all(keys64(333, most));
  check_all(keys64(333, 0));
}

TEST_F(cgrx_edges, keys_of_32_bits) {
  std::vector<std::uint32_t> keys{0, 1, row - 1, row, 0xffff'fffe, 0xffff'ffff};
  for (int i = 0; i < 500; ++i)
    keys.push_back(static_cast<std::uint32_t>(random_()));
  for (int i = 0; i < 300; ++i)
    keys.push_back(static_cast<std::uint32_t>(random_() % 512 * row + row - 1 - random_() % 3));
  check_all(keys);
}

TEST_F(cgrx_edges, random_sets) {
  for (int set = 0; set < 40; ++set) {
    // The bits that keys may have: few, so that keys share rows, planes and places.
    const std::uint64_t bits = random_() & random_() & (set % 2 == 0 ? random_() : most);
    keys64 keys(1 + random_() % 300);
    for (std::uint64_t& key : keys)
      key = random_() & bits;
    cgrx_options options{
        .bucket = static_cast<unsigned>(2 + random_() % 20),
        .scene = set % 4 < 2 ? core::bucket_scene::optimised : core::bucket_scene::naive,
        .parts = static_cast<unsigned>(random_() % 4)};
    check(keys, options);
    options.mapping = cgrx_mapping::bits;
    check(keys, options);
    check(keys,
          {.bucket = options.bucket, .scene = core::bucket_scene::spans, .parts = options.parts});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace raydex
