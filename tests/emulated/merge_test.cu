// SPDX-License-Identifier: Apache-2.0
// Ascending points are merged with the entries. The merging kernel merges what it should, its
// answers are right, and the search kernel answers the rest.
#include "src/machines/cuda/lookups/merge.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "emulation/control.hpp"
#include "raydex/raydex.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "tests/support/keys.hpp"

namespace raydex {
namespace {

constexpr std::size_t tile = cuda::merge_policy::tile;

// Structures with ascending entries.
enum class structure { sorted, lines, groups };

template <structure Structure, layout Layout>
auto build(const session& at, const column& keys, const std::optional<column>& row_ids,
           const batch_schedule& schedule) {
  if constexpr (Structure == structure::sorted) {
    return build_sorted_array(backend::cuda, at, keys, row_ids,
                              {.layout = Layout, .batch = schedule});
  } else {
    pivot_tree_options options;
    options.layout = Layout;
    options.batch = schedule;
    if (Structure == structure::groups) options.search = tree_search::groups;
    return build_pivot_tree(backend::cuda, at, keys, row_ids, options);
  }
}

template <structure Structure, layout Layout, class Key, class RowId, class Index>
auto view_of(const Index& built) {
  if constexpr (Structure == structure::sorted) {
    return built.template view<Key, RowId, Layout>();
  } else {
    return built.template view < Key, RowId, Layout,
           Structure == structure::lines ? tree_search::lines : tree_search::groups > ();
  }
}

// A column in device memory, and what must be found in it.
template <class T, class RowId>
class table {
 public:
  table(const session& at, std::vector<T> cells, std::mt19937_64& random)
      : cells_(std::move(cells)), ids_(cells_.size()) {
    // Ascending implicit ones would not show that the smallest of several rows is found.
    for (RowId& id : ids_)
      id = static_cast<RowId>(test::below(random, 1'000'000));
    for (std::size_t i = 0; i < cells_.size(); ++i)
      sorted_.emplace_back(cells_[i], ids_[i]);
    std::sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) {
      if (test::key_less{}(a.first, b.first)) return true;
      return !test::key_less{}(b.first, a.first) && a.second < b.second;
    });
    keys_ = at.upload(cells_);
    row_ids_ = at.upload(ids_);
  }

  column keys() const { return column(keys_); }
  column row_ids() const { return column(row_ids_); }
  std::size_t size() const { return cells_.size(); }
  const T& cell(std::size_t i) const { return cells_[i]; }

  RowId first(const T& key) const {
    const auto at = std::lower_bound(
        sorted_.begin(), sorted_.end(), key,
        [](const auto& entry, const T& wanted) { return test::key_less{}(entry.first, wanted); });
    return at != sorted_.end() && !test::key_less{}(key, at->first) ? at->second : not_found<RowId>;
  }

 private:
  std::vector<T> cells_;
  std::vector<RowId> ids_;
  std::vector<std::pair<T, RowId>> sorted_;
  buffer<T> keys_;
  buffer<RowId> row_ids_;
};

template <class T>
struct batch {
  std::string name;
  std::vector<T> points;
  bool even = true;  // whether its points are so even that all ascending ones are merged
};

// Whether a walk may merge a tile of a batch after the tile before it, or, if `first`, as its first
// tile.
template <class T>
bool mergeable_tile(const std::vector<T>& points, std::size_t number, bool first) {
  const std::size_t begin = number * tile - (first ? 0 : 1);
  const std::size_t end = std::min(points.size(), (number + 1) * tile);
  return std::is_sorted(points.begin() + static_cast<std::ptrdiff_t>(begin),
                        points.begin() + static_cast<std::ptrdiff_t>(end), test::key_less{});
}

// The merging kernel by itself.
template <class View, class T, class RowId>
void check_merging(const session& at, const View& view, const table<T, RowId>& rows,
                   const batch<T>& asked) {
  constexpr auto untouched = static_cast<RowId>(0xdead'beef);
  const std::size_t size = asked.points.size();
  const auto points_there = at.upload(asked.points);
  auto out = at.upload(std::vector<RowId>(size, untouched));
  const core::first_of_points<View> operation{
      view, probes_of<encoded_t<T>>(points(column(points_there))), out.data()};
  const auto merge = cuda::merge_ascending(at, operation);
  const cuda::merge_progress& progress = merge.progress();
  ASSERT_NE(progress.answered, nullptr);
  ASSERT_EQ(progress.tiles, (size + tile - 1) / tile);
  std::vector<std::uint32_t> answered(progress.warps);
  at.copy_out(answered.data(), progress.answered, answered.size() * sizeof(std::uint32_t));
  const auto found = at.download(out);
  for (std::size_t walk = 0; walk < answered.size(); ++walk) {
    std::uint64_t ascending = 0;
    while (ascending < progress.tiles_of(walk) &&
           mergeable_tile(asked.points, progress.first_tile(walk) + ascending, ascending == 0))
      ++ascending;
    ASSERT_LE(answered[walk], ascending) << "tiles of walk " << walk;
    if (asked.even) {
      ASSERT_EQ(answered[walk], ascending) << "tiles of walk " << walk;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t number = i / tile;
    const std::uint64_t walk = progress.warp_of(number);
    const bool merged = number - progress.first_tile(walk) < answered[walk];
    ASSERT_EQ(found[i], merged ? rows.first(asked.points[i]) : untouched)
        << "point " << i << ", place " << i % tile << " of tile " << number << ", warps "
        << progress.warps;
  }
}

// A batch as a user would query it.
template <class T, class RowId>
void check_answers(const session& at, const index& built, const table<T, RowId>& rows,
                   const batch<T>& asked) {
  const auto points_there = at.upload(asked.points);
  auto out = at.upload(std::vector<RowId>(asked.points.size(), static_cast<RowId>(0xdead'beef)));
  built.first(at, points(column(points_there)), std::span(out.data(), out.size()));
  const auto found = at.download(out);
  for (std::size_t i = 0; i < asked.points.size(); ++i) {
    ASSERT_EQ(found[i], rows.first(asked.points[i]))
        << "point " << i << ", place " << i % tile << " of tile " << i / tile;
  }
}

// ---- batches

// Points over the column: half of them keys of it, half their neighbours; some repeat.
template <class T, class RowId>
std::vector<T> ascending_points(const table<T, RowId>& rows, std::size_t size,
                                std::mt19937_64& random) {
  std::vector<T> all;
  while (all.size() < size) {
    const T& key = rows.cell(test::below(random, rows.size()));
    all.push_back(key);
    if (all.size() < size) all.push_back(test::neighbour(key, test::below(random, 2) == 0));
  }
  std::sort(all.begin(), all.end(), test::key_less{});
  return all;
}

// Swaps ascending point `i` with the next smaller one, so that only point `i` is below its
// predecessor.
template <class T>
std::vector<T> with_descent_at(std::vector<T> points, std::size_t i) {
  const test::key_less less;
  const auto at = points.begin() + static_cast<std::ptrdiff_t>(i);
  const auto equal = std::lower_bound(points.begin(), at, *at, less);
  EXPECT_NE(equal, points.begin()) << "all points up to " << i << " are equal";
  if (equal != points.begin()) {
    std::iter_swap(at, equal - 1);
    std::sort(equal - 1, at, less);
  }
  return points;
}

template <class T, class RowId>
std::vector<batch<T>> batches(const table<T, RowId>& rows, std::size_t size,
                              std::mt19937_64& random) {
  const auto ascending = ascending_points(rows, size, random);
  const std::size_t tiles = (size + tile - 1) / tile;
  std::vector<batch<T>> all{{"ascending", ascending}};
  const auto descent = [&](const std::string& where, std::size_t i) {
    all.push_back({"a descent " + where, with_descent_at(ascending, i)});
  };
  for (const std::size_t number : {std::size_t{0}, tiles / 2, tiles / 2 + 1})
    descent("in tile " + std::to_string(number),
            number * tile + tile / 2 + test::below(random, tile / 2));
  // For any share of a walk: its first tiles, and others.
  const std::size_t from = 1 + test::below(random, tiles - 6);
  for (std::size_t number = from; number < from + 5; ++number)
    descent("before tile " + std::to_string(number), number * tile);
  descent("before the last tile", (tiles - 1) * tile);
  descent("at the end", size - 1);
  descent("in the last tile", (tiles - 1) * tile + (size - (tiles - 1) * tile) / 2);
  auto rotated = ascending;
  std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(3 * tile),
              rotated.end());
  all.push_back({"an end before the beginning", rotated});
  auto descending = ascending;
  std::reverse(descending.begin(), descending.end());
  all.push_back({"descending", descending});
  all.push_back({"one key", std::vector<T>(size, rows.cell(0))});
  all.push_back({"the smallest key", std::vector<T>(size, ascending.front())});
  all.push_back({"the largest key", std::vector<T>(size, ascending.back())});
  // All entries between two neighbouring points: too many to merge unless there are few.
  auto apart = ascending;
  std::fill(apart.begin() + 1, apart.begin() + static_cast<std::ptrdiff_t>(size / 2), apart[0]);
  std::fill(apart.begin() + static_cast<std::ptrdiff_t>(size / 2), apart.end(), apart.back());
  all.push_back({"two keys", apart, false});
  auto repeated = ascending;
  for (std::size_t i = 0; i < size; ++i)
    repeated[i] = ascending[i / 300 * 300];
  all.push_back({"hundreds of some keys", repeated});
  return all;
}

// ---- what is tested with what

class merging : public testing::Test {
 protected:
  // Lanes in any order, so that a missing wait shows.
  merging() { emulation::set_schedule_seed(test::seed() | 1); }
  ~merging() override { emulation::set_schedule_seed(0); }

  template <class T, class RowId, structure Structure, layout Layout>
  void check(const std::vector<T>& cells, const std::vector<std::size_t>& sizes,
             std::mt19937_64& random) {
    const table<T, RowId> rows(at_, cells, random);
    const auto built = build<Structure, Layout>(at_, rows.keys(), rows.row_ids(), {});
    const auto view = view_of<Structure, Layout, encoded_t<T>, RowId>(*built);
    for (const std::size_t size : sizes) {
      for (const batch<T>& asked : batches(rows, size, random)) {
        SCOPED_TRACE(asked.name + ", " + std::to_string(size) + " points over " +
                     std::to_string(cells.size()) + " cells");
        check_merging(at_, view, rows, asked);
        check_answers(at_, *built, rows, asked);
        if (HasFatalFailure()) return;
      }
    }
  }

  const session at_{backend::cuda};
};

// Cells in random order, a few of them equal to others.
template <class T>
std::vector<T> cells_of_type(std::size_t size, std::mt19937_64& random) {
  std::vector<T> cells;
  while (cells.size() < size) {
    cells.push_back(test::random_key<T>(random));
    if (test::below(random, 20) == 0 && cells.size() < size) cells.push_back(cells.back());
  }
  std::shuffle(cells.begin(), cells.end(), random);
  return cells;
}

// About the fewest points that are merged; and enough that a walk has several tiles, the last of
// them not full.
const std::vector<std::size_t> some_sizes{(1 << 14) + 1, 40'000};

TEST_F(merging, lines_of_rows) {
  auto random = test::generator();
  check<std::uint32_t, std::uint32_t, structure::lines, layout::row>(
      cells_of_type<std::uint32_t>(20'000, random), some_sizes, random);
}
TEST_F(merging, lines_of_wide_keys) {
  auto random = test::generator();
  check<double, std::uint32_t, structure::lines, layout::row>(cells_of_type<double>(20'000, random),
                                                              some_sizes, random);
}
TEST_F(merging, groups_of_rows) {
  auto random = test::generator();
  check<std::int64_t, std::uint32_t, structure::groups, layout::row>(
      cells_of_type<std::int64_t>(20'000, random), some_sizes, random);
}
TEST_F(merging, groups_of_columns) {
  auto random = test::generator();
  check<float, std::uint32_t, structure::groups, layout::column>(
      cells_of_type<float>(20'000, random), some_sizes, random);
}
TEST_F(merging, sorted_rows) {
  auto random = test::generator();
  check<std::array<char, 5>, std::uint32_t, structure::sorted, layout::row>(
      cells_of_type<std::array<char, 5>>(20'000, random), some_sizes, random);
}
TEST_F(merging, sorted_columns) {
  auto random = test::generator();
  check<std::int32_t, std::uint32_t, structure::sorted, layout::column>(
      cells_of_type<std::int32_t>(20'000, random), some_sizes, random);
}

TEST_F(merging, fewer_entries_than_points) {
  auto random = test::generator();
  check<std::uint64_t, std::uint32_t, structure::sorted, layout::column>(
      cells_of_type<std::uint64_t>(5'000, random), {20'000}, random);
}
TEST_F(merging, more_entries_than_points) {
  auto random = test::generator();
  check<std::uint32_t, std::uint32_t, structure::lines, layout::row>(
      cells_of_type<std::uint32_t>(60'000, random), {20'000}, random);
}
TEST_F(merging, more_entries_of_the_widest_kind_than_points) {
  auto random = test::generator();
  check<std::uint64_t, std::uint32_t, structure::sorted, layout::row>(
      cells_of_type<std::uint64_t>(60'000, random), {20'000}, random);
  check<std::uint64_t, std::uint32_t, structure::sorted, layout::row>(
      cells_of_type<std::uint64_t>(79'999, random), {20'000}, random);
}

// Columns that are not random: batches are built by hand.
template <class T>
class merging_few_keys : public testing::Test {};
using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(merging_few_keys, widths);

TYPED_TEST(merging_few_keys, equal_ones_and_points_beside_them) {
  using limits = std::numeric_limits<TypeParam>;
  auto random = test::generator();
  const session at(backend::cuda);
  for (const TypeParam key : {TypeParam{0}, TypeParam{1000}, limits::max()}) {
    for (const std::size_t size : {1UL, 300UL, 40'000UL}) {
      const table<TypeParam, std::uint32_t> rows(at, std::vector<TypeParam>(size, key), random);
      const auto built = build<structure::lines, layout::row>(at, rows.keys(), rows.row_ids(), {});
      const auto view = view_of<structure::lines, layout::row, TypeParam, std::uint32_t>(*built);
      const TypeParam below = test::neighbour(key, false);
      const TypeParam above = test::neighbour(key, true);
      std::vector<batch<TypeParam>> all;
      all.push_back({"below", std::vector<TypeParam>(20'000, below)});
      all.push_back({"equal", std::vector<TypeParam>(20'000, key)});
      all.push_back({"above", std::vector<TypeParam>(20'000, above)});
      std::vector<TypeParam> each(20'000, key);
      std::fill(each.begin(), each.begin() + 4097, below);
      std::fill(each.begin() + 15'000, each.end(), above);
      all.push_back({"each", each, false});
      for (const auto& asked : all) {
        SCOPED_TRACE(std::to_string(size) + " times " + std::to_string(key) + ", " + asked.name);
        check_merging(at, view, rows, asked);
        check_answers(at, *built, rows, asked);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(merging_few_keys, points_below_and_above_all_keys) {
  auto random = test::generator();
  const session at(backend::cuda);
  std::vector<TypeParam> cells(20'000);
  for (auto& cell : cells)
    cell = static_cast<TypeParam>(1'000'000 + test::below(random, 50'000));
  const table<TypeParam, std::uint32_t> rows(at, cells, random);
  const auto built = build<structure::groups, layout::column>(at, rows.keys(), rows.row_ids(), {});
  const auto view = view_of<structure::groups, layout::column, TypeParam, std::uint32_t>(*built);
  std::vector<TypeParam> below(30'000);
  std::iota(below.begin(), below.end(), TypeParam{0});
  std::vector<TypeParam> above(30'000);
  std::iota(above.begin(), above.end(), TypeParam{2'000'000});
  auto both = below;
  std::copy(above.begin() + 11'000, above.end(), both.begin() + 11'000);
  for (const auto& asked : {batch<TypeParam>{"below", below}, batch<TypeParam>{"above", above},
                            batch<TypeParam>{"below, then above", both, false}}) {
    SCOPED_TRACE(asked.name);
    check_merging(at, view, rows, asked);
    check_answers(at, *built, rows, asked);
    if (this->HasFatalFailure()) return;
  }
}

// ---- what is left of a batch is in parts of the search kernel that need not be tiles

TEST_F(merging, leaves_every_other_tile_to_the_search_whatever_its_parts) {
  auto random = test::generator();
  const table<std::uint32_t, std::uint32_t> rows(at_, cells_of_type<std::uint32_t>(5'000, random),
                                                 random);
  const auto ascending = ascending_points(rows, 40'000, random);
  std::vector<batch<std::uint32_t>> all;
  for (const std::size_t every : {2UL, 5UL, 100UL}) {
    auto points = ascending;
    for (std::size_t number = every / 2; number * tile + 5 < points.size(); number += every)
      points = with_descent_at(points, number * tile + 5);
    all.push_back({"a descent in every so manieth tile: " + std::to_string(every), points});
  }
  for (const unsigned threads : {128U, 1024U}) {
    for (const unsigned lookups : {1U, 3U, 8U, 16U}) {
      if (test::small_scale() && lookups != 8) continue;
      for (const reordering reorder : {reordering::none, reordering::twice}) {
        batch_schedule schedule;
        schedule.threads = threads;
        schedule.lookups = lookups;
        const auto lines =
            build<structure::lines, layout::row>(at_, rows.keys(), rows.row_ids(), schedule);
        schedule.reorder = reorder;
        const auto groups =
            build<structure::groups, layout::column>(at_, rows.keys(), rows.row_ids(), schedule);
        for (const auto& asked : all) {
          SCOPED_TRACE(lines->info().options + ", " + asked.name);
          check_answers(at_, *lines, rows, asked);
          check_answers(at_, *groups, rows, asked);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// ---- what is not merged at all

TEST_F(merging, is_not_tried_with_few_points_many_entries_or_missing_points) {
  auto random = test::generator();
  std::size_t most = 0;  // entries per probe
  const auto tried = [&](std::size_t entries, std::size_t size, bool missing) {
    const table<std::uint32_t, std::uint32_t> rows(
        at_, cells_of_type<std::uint32_t>(entries, random), random);
    const auto built = build<structure::sorted, layout::row>(at_, rows.keys(), rows.row_ids(), {});
    const auto view = view_of<structure::sorted, layout::row, std::uint32_t, std::uint32_t>(*built);
    const auto there = at_.upload(std::vector<std::uint32_t>(size, 5));
    const auto bits = at_.upload(std::vector<std::uint8_t>(size / 8 + 1, 0xff));
    const column cells(there, missing ? bits.data() : nullptr);
    buffer<std::uint32_t> out(at_, size);
    const core::first_of_points<std::remove_const_t<decltype(view)>> operation{
        view, probes_of<std::uint32_t>(points(cells)), out.data()};
    most = cuda::most_entries_per_probe(view, cuda::memory_bandwidth());
    EXPECT_EQ(cuda::most_entries_per_probe(view, 2 * cuda::memory_bandwidth()) / 2, most);
    EXPECT_EQ(cuda::most_entries_per_probe(view, 1e9), 4);  // of 8 bytes, in a sector
    return cuda::merge_ascending(at_, operation).progress().answered != nullptr;
  };
  constexpr std::size_t least = cuda::merge_policy::least_tiles * tile * 2;  // multiprocessors
  EXPECT_TRUE(tried(1, least, false));
  EXPECT_GT(most, 1);
  EXPECT_TRUE(tried(most * least - 1, least, false));
  EXPECT_FALSE(tried(most * least, least, false));
  EXPECT_FALSE(tried(100, least - 1, false));
  EXPECT_FALSE(tried(100, least, true));
}

}  // namespace
}  // namespace raydex
