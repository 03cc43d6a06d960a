// SPDX-License-Identifier: Apache-2.0
// Waves of insertions and deletions, with lookups in between, against a std::multimap.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

// An index, and what it should hold.
template <class Key, class RowId>
class edited_index {
 public:
  using entries = std::vector<std::pair<Key, RowId>>;

  edited_index(const session& at, const entries& first, const cgrx_options& options)
      : at_(at), held_(first.begin(), first.end()) {
    const auto keys = at.upload(keys_of(first));
    const auto rows = at.upload(rows_of(first));
    built_ = build_cgrx(at.where(), at, column(keys), column(rows), options);
  }

  // Deletes first; a pair in both lists is left out.
  void edit(const entries& insert, const entries& erase, bool by_row) {
    const auto insert_keys = at_.upload(keys_of(insert));
    const auto insert_rows = at_.upload(rows_of(insert));
    const auto erase_keys = at_.upload(keys_of(erase));
    const auto erase_rows = at_.upload(rows_of(erase));
    built_->edit(context(at_).stream,
                 {.insert = column(insert_keys),
                  .insert_rows = column(insert_rows),
                  .erase = column(erase_keys),
                  .erase_rows = by_row ? std::optional(column(erase_rows)) : std::nullopt});
    const auto is_in = [](const entries& all, const std::pair<const Key, RowId>& one) {
      return std::find(all.begin(), all.end(), std::pair<Key, RowId>(one)) != all.end();
    };
    for (const auto& one : erase) {
      if (by_row && is_in(insert, one)) continue;
      const auto [begin, end] = held_.equal_range(one.first);
      for (auto it = begin; it != end;)
        it = !by_row || it->second == one.second ? held_.erase(it) : std::next(it);
    }
    for (const auto& one : insert)
      if (!by_row || !is_in(erase, one)) held_.insert(one);
  }

  // Asks for these keys, and for ranges from one to the next.
  void check(const std::vector<Key>& asked) const {
    ASSERT_EQ(built_->info().entries, held_.size());
    std::vector<Key> upper = asked;
    std::rotate(upper.begin(), upper.begin() + (asked.empty() ? 0 : 1), upper.end());
    const auto lower_cells = at_.upload(asked);
    const auto upper_cells = at_.upload(upper);
    for (const bool as_points : {true, false}) {
      const probes batch = as_points ? points(column(lower_cells))
                                     : ranges(column(lower_cells), column(upper_cells));
      buffer<RowId> firsts(at_, asked.size());
      built_->first(at_, batch, std::span(firsts.data(), firsts.size()));
      const auto got_firsts = at_.download(firsts);
      const matches all = built_->rows(at_, batch);
      const auto offsets = at_.download(all.offsets);
      std::vector<RowId> rows(all.total);
      at_.copy_out(rows.data(), all.rows.data(), all.rows.bytes());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::vector<RowId> wanted = rows_between(asked[i], as_points ? asked[i] : upper[i]);
        const std::vector<RowId> got(rows.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                                     rows.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
        ASSERT_EQ(got, wanted) << +asked[i] << " to " << +(as_points ? asked[i] : upper[i]);
        ASSERT_EQ(got_firsts[i], wanted.empty() ? not_found<RowId>
                                                : *std::min_element(wanted.begin(), wanted.end()));
      }
    }
  }

  const std::multimap<Key, RowId>& held() const { return held_; }
  cgrx& index() { return *built_; }

  static std::vector<Key> keys_of(const entries& all) {
    std::vector<Key> keys;
    for (const auto& one : all)
      keys.push_back(one.first);
    return keys;
  }
  static std::vector<RowId> rows_of(const entries& all) {
    std::vector<RowId> rows;
    for (const auto& one : all)
      rows.push_back(one.second);
    return rows;
  }

 private:
  // By key, then by row id.
  std::vector<RowId> rows_between(Key lower, Key upper) const {
    if (upper < lower) return {};
    entries found(held_.lower_bound(lower), held_.upper_bound(upper));
    std::sort(found.begin(), found.end());
    return rows_of(found);
  }

  const session& at_;
  std::multimap<Key, RowId> held_;
  std::unique_ptr<cgrx> built_;
};

class cgrx_edits : public test::backend_test {
 protected:
  template <class Key, class RowId>
  using entries = typename edited_index<Key, RowId>::entries;

  // New entries whose keys have only these bits.
  template <class Key, class RowId>
  entries<Key, RowId> random_entries(std::uint64_t size, std::uint64_t bits) {
    entries<Key, RowId> all(size);
    for (auto& one : all)
      one = {static_cast<Key>(random_() & bits), static_cast<RowId>(next_row_++)};
    std::shuffle(all.begin(), all.end(), random_);
    return all;
  }
  template <class Key, class RowId>
  entries<Key, RowId> some_of(const std::multimap<Key, RowId>& held, std::uint64_t size) {
    entries<Key, RowId> all(held.begin(), held.end());
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(std::min<std::uint64_t>(size, all.size()));
    return all;
  }
  template <class Key, class RowId>
  std::vector<Key> probes_for(const edited_index<Key, RowId>& of,
                              const entries<Key, RowId>& edited) {
    std::vector<Key> asked{0, static_cast<Key>(-1), static_cast<Key>(random_())};
    for (const auto& [key, row] : some_of(of.held(), 60))
      asked.insert(asked.end(), {key, static_cast<Key>(key + 1), static_cast<Key>(key - 1)});
    for (std::size_t i = 0; i < edited.size() && i < 60; ++i)
      asked.push_back(edited[i].first);
    std::shuffle(asked.begin(), asked.end(), random_);
    return asked;
  }

  // Grows an index to 2.2 times its size in waves, and shrinks it to nothing.
  template <class Key, class RowId>
  void grow_and_shrink(std::uint64_t size, std::uint64_t bits, const cgrx_options& options) {
    edited_index<Key, RowId> own(at(), random_entries<Key, RowId>(size, bits), options);
    SCOPED_TRACE(own.index().info().options);
    constexpr int waves = 5;
    for (int wave = 0; wave < 3 * waves; ++wave) {
      SCOPED_TRACE(wave);
      const bool grows = wave < waves;
      const bool by_row = random_() % 2 == 0;
      auto insert = random_entries<Key, RowId>(grows ? size * 12 / 50 : size / 50, bits);
      auto erase = some_of(own.held(), grows ? size / 50 : size / 4);
      // Some are both inserted and erased, and some are not there.
      for (std::size_t i = 0; i < insert.size() / 8; ++i)
        erase.push_back(insert[i]);
      erase.push_back({static_cast<Key>(random_()), RowId{7}});
      insert.push_back({erase[0].first, static_cast<RowId>(next_row_++)});
      if (wave % 3 == 1) erase.clear();
      own.edit(insert, erase, by_row);
      own.check(probes_for(own, insert));
      if (HasFatalFailure()) return;
      if (wave == waves) {
        own.index().rebuild(context(at()).stream);
        own.check(probes_for(own, insert));
      }
    }
    own.edit({}, entries<Key, RowId>(own.held().begin(), own.held().end()), false);
    own.check({0, 1, static_cast<Key>(-1)});
    own.edit(random_entries<Key, RowId>(40, bits), {}, true);
    own.check(probes_for(own, {}));
  }

  std::mt19937_64 random_ = test::generator();
  std::uint64_t next_row_ = 1000;
};

std::vector<cgrx_options> tested_options() {
  return {
      {.scene = core::bucket_scene::optimised},
      {.bucket = 2, .scene = core::bucket_scene::naive, .parts = 3},
      {.bucket = 5, .mapping = cgrx_mapping::bits, .search = core::bucket_search::linear},
      {.bucket = 3, .mapping = cgrx_mapping::bits, .parts = 2, .order = rx_order::sorted},
      {.bucket = 4, .rebuild = 2},
      {.bucket = 7, .search = core::bucket_search::interpolated, .parts = 2},
      {.node = 32},
      {.bucket = 2, .node = 2, .scene = core::bucket_scene::naive, .parts = 3},
      {.bucket = 3,
       .node = 6,
       .mapping = cgrx_mapping::bits,
       .search = core::bucket_search::linear},
      {.bucket = 3, .node = 4, .order = rx_order::sorted, .rebuild = 3},
      {.bucket = 4, .node = 8, .scan = scanning::single, .order = rx_order::tiles, .rebuild = 0},
      {.bucket = 16, .order = rx_order::tiles, .rebuild = 0},
      {.bucket = 3,
       .layout = cgrx_layout::packed,
       .scan = scanning::single,
       .order = rx_order::sorted},
      {.bucket = 4, .layout = cgrx_layout::aligned, .rebuild = 2}};
}

TEST_F(cgrx_edits, waves) {
  for (const cgrx_options& options : tested_options()) {
    for (const std::uint64_t bits :
         {~std::uint64_t{0}, std::uint64_t{0xff}, std::uint64_t{0x8000'4000'0010'0001}}) {
      grow_and_shrink<std::uint64_t, std::uint32_t>(500, bits, options);
      if (HasFatalFailure()) return;
    }
    grow_and_shrink<std::uint32_t, std::uint32_t>(300, ~std::uint64_t{0}, options);
    grow_and_shrink<std::uint64_t, std::uint32_t>(300, random_() | random_(), options);
    grow_and_shrink<std::uint32_t, std::uint32_t>(200, random_(), options);
  }
}

TEST_F(cgrx_edits, many_entries) {
  if (test::small_scale()) GTEST_SKIP() << "takes long under a sanitizer";
  using own = edited_index<std::uint64_t, std::uint32_t>;
  for (const unsigned node : {0U, 32U}) {
    own index(at(), random_entries<std::uint64_t, std::uint32_t>(100'000, ~std::uint64_t{0}),
              {.node = node});
    for (int wave = 0; wave < 4; ++wave) {
      const auto insert = random_entries<std::uint64_t, std::uint32_t>(30'000, ~std::uint64_t{0});
      index.edit(insert, {}, false);
      index.edit({}, some_of(index.held(), 20'000), true);
      index.check(probes_for(index, insert));
    }
  }
}

TEST_F(cgrx_edits, keys_beyond_the_ends_and_into_one_bucket) {
  using own = edited_index<std::uint64_t, std::uint32_t>;
  for (const cgrx_options& options : tested_options()) {
    own::entries middle;
    for (std::uint64_t i = 0; i < 200; ++i)
      middle.push_back({(1ULL << 40) + i * 1000, static_cast<std::uint32_t>(i)});
    own index(at(), middle, options);
    SCOPED_TRACE(index.index().info().options);
    own::entries insert;
    for (std::uint64_t i = 0; i < 300; ++i) {
      insert.push_back({i, static_cast<std::uint32_t>(next_row_++)});
      insert.push_back({~i, static_cast<std::uint32_t>(next_row_++)});
      insert.push_back({(1ULL << 40) + 7003 + i % 100, static_cast<std::uint32_t>(next_row_++)});
    }
    index.edit(insert, {}, false);
    index.check(probes_for(index, insert));
    index.edit({}, middle, true);
    index.check(probes_for(index, middle));
    if (HasFatalFailure()) return;
  }
}

TEST_F(cgrx_edits, starts_empty_and_takes_copies) {
  using own = edited_index<std::uint64_t, std::uint32_t>;
  own index(at(), {}, {.bucket = 4});
  index.check({0, 5});
  own::entries copies;
  for (std::uint32_t i = 0; i < 100; ++i)
    copies.push_back({i % 3, 1000 - i});
  index.edit(copies, {}, false);
  index.check({0, 1, 2, 3});
  index.edit({{1, 7}, {1, 8}}, {{1, 7}, {2, 1000 - 5}, {0, 1}}, true);
  index.check({0, 1, 2, 3});
  index.edit({{1, 7}}, {{1, 0}}, false);
  index.check({0, 1, 2, 3});
}

// Entries of one key in three buckets; an erased pair lies in two of them.
TEST_F(cgrx_edits, an_erased_pair_goes_from_all_buckets) {
  using own = edited_index<std::uint32_t, std::uint32_t>;
  const auto of_one_key = [](const std::vector<std::uint32_t>& rows) {
    own::entries all;
    for (const std::uint32_t row : rows)
      all.push_back({7, row});
    return all;
  };
  for (const unsigned node : {0U, 32U, 8U}) {
    own index(at(), of_one_key({0, 0, 0, 1, 2, 2, 2, 5, 5, 6, 8, 9, 12}),
              {.bucket = 8, .node = node});
    SCOPED_TRACE(index.index().info().options);
    index.edit({}, of_one_key({0, 0, 5, 5}), true);
    index.check({6, 7, 8});
    index.edit(of_one_key({5, 5, 5, 2, 9}), of_one_key({2, 12, 12, 8}), true);
    index.check({6, 7, 8});
    index.edit(of_one_key({1}), of_one_key({5}), true);
    index.check({6, 7, 8});
  }
}

TEST_F(cgrx_edits, pairs_named_both_ways_cancel_and_leave_what_was_there) {
  using own = edited_index<std::uint32_t, std::uint32_t>;
  for (const cgrx_options& options : tested_options()) {
    own index(at(), {{1, 4}, {1, 4}, {2, 5}}, options);
    index.edit({{1, 4}, {1, 4}, {1, 4}, {2, 6}}, {{1, 4}, {2, 6}, {2, 6}, {2, 5}}, true);
    ASSERT_EQ(index.held(), (std::multimap<std::uint32_t, std::uint32_t>{{1, 4}, {1, 4}}));
    index.check({0, 1, 2, 3});
    // Keys without row ids cancel nothing: old entries go, inserted ones come.
    index.edit({{1, 4}, {1, 4}, {1, 4}}, {{1, 0}, {1, 0}}, false);
    index.check({0, 1, 2, 3});
  }
}

// So few keys and row ids that equal pairs fill buckets and nodes, lie at their ends, and are named
// again and again.
TEST_F(cgrx_edits, repeated_pairs) {
  using own = edited_index<std::uint64_t, std::uint32_t>;
  const std::vector<std::uint64_t> keys{0, 5, 6, ~std::uint64_t{0}};
  const auto some = [&](std::uint64_t most, std::uint64_t rows) {
    own::entries all(test::below(random_, most));
    for (auto& one : all) {
      const auto row = static_cast<std::uint32_t>(test::below(random_, rows));
      one = {keys[test::below(random_, keys.size())],
             row == 0 ? not_found<std::uint32_t> - 1 : row};
    }
    return all;
  };
  for (const cgrx_options& options : tested_options()) {
    for (const unsigned rows : {1U, 2U, 6U}) {
      own index(at(), some(120, rows), options);
      SCOPED_TRACE(index.index().info().options);
      for (int wave = 0; wave < 20; ++wave) {
        SCOPED_TRACE(wave);
        // Now and then a pair has more copies than nodes have room for.
        auto insert = some(wave % 5 == 0 ? 400 : 30, rows);
        auto erase = some(wave % 7 == 3 ? 200 : 3, rows);
        if (wave % 3 == 0) insert.clear();
        index.edit(insert, erase, wave % 4 != 0);
        index.check({0, 1, 4, 5, 6, 7, ~std::uint64_t{0} - 1, ~std::uint64_t{0}});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// If each bucket, or each name, went over all names of its key, this would take minutes.
TEST_F(cgrx_edits, many_copies_named_many_times) {
  using own = edited_index<std::uint32_t, std::uint32_t>;
  const std::uint32_t copies = test::small_scale() ? 20'000 : 300'000;
  own::entries all;
  for (std::uint32_t i = 0; i < copies; ++i)
    all.push_back({9, i / 2});
  all.push_back({10, 0});
  for (const unsigned node : {0U, 2U}) {
    own index(at(), all, {.bucket = 2, .node = node});
    index.edit({}, own::entries(copies, {9, 1}), false);
    index.check({8, 9, 10});
  }
}

// Batches of copies would else read and write all entries each time: a rebuild leaves no memory of
// added nodes.
TEST_F(cgrx_edits, copies_of_a_key_rebuild_nodes_only_now_and_then) {
  using own = edited_index<std::uint32_t, std::uint32_t>;
  constexpr std::uint32_t size = 16'000;
  own::entries first;
  for (std::uint32_t i = 0; i < size; ++i)
    first.push_back({2 * i, i});
  own index(at(), first, {.node = 32});
  const std::uint64_t usual = index.index().info().resident_bytes;
  unsigned rebuilds = 0;
  for (std::uint32_t wave = 0; wave < 6; ++wave) {
    own::entries copies(900);
    for (auto& one : copies)
      one = {1001 + 600 * (wave % 2), static_cast<std::uint32_t>(next_row_++)};
    index.edit(copies, {}, false);
    index.check({1000, 1001, 1002, 1600, 1601, 1602});
    rebuilds += index.index().info().resident_bytes < usual + usual / 8 ? 1U : 0U;
  }
  EXPECT_LE(rebuilds, 4U);
}

// Memory of what is gone, and lists of empty nodes.
TEST_F(cgrx_edits, nodes_are_rebuilt_when_most_entries_are_gone) {
  using own = edited_index<std::uint32_t, std::uint32_t>;
  const std::uint32_t size = test::small_scale() ? 3000 : 100'000;
  own::entries all;
  for (std::uint32_t i = 0; i < size; ++i)
    all.push_back({i, i});
  for (const cgrx_options& options : {cgrx_options{.node = 32}, cgrx_options{.node = 0}}) {
    own index(at(), all, options);
    index.edit({}, own::entries(all.begin() + 10, all.end()), true);
    own few(at(), own::entries(all.begin(), all.begin() + 10), options);
    EXPECT_LE(index.index().info().resident_bytes, 2 * few.index().info().resident_bytes);
    index.check({0, 9, 10, 11});
  }
}

TEST_F(cgrx_edits, missing_keys_are_passed_over) {
  const auto keys = at().upload(std::vector<std::uint32_t>{1, 2, 3});
  const auto built = build_cgrx(at().where(), at(), column(keys));
  const auto more = at().upload(std::vector<std::uint32_t>{4, 5, 6});
  const auto rows = at().upload(std::vector<std::uint32_t>{10, 11, 12});
  const auto valid = at().upload(std::vector<std::uint8_t>{0b101});
  built->edit(context(at()).stream, {.insert = column(more, valid.data()),
                                     .insert_rows = column(rows),
                                     .erase = column(keys, valid.data())});
  EXPECT_EQ(built->info().entries, 3);
  buffer<std::uint32_t> found(at(), 3);
  built->first(at(), points(column(keys)), std::span(found.data(), 3));
  EXPECT_EQ(at().download(found),
            (std::vector{not_found<std::uint32_t>, std::uint32_t{1}, not_found<std::uint32_t>}));
  built->first(at(), points(column(more)), std::span(found.data(), 3));
  EXPECT_EQ(at().download(found),
            (std::vector{std::uint32_t{10}, not_found<std::uint32_t>, std::uint32_t{12}}));
}

TEST_F(cgrx_edits, bad_arguments_are_refused) {
  const auto keys = at().upload(std::vector<std::uint32_t>{1, 2, 3});
  const auto wide = at().upload(std::vector<std::uint64_t>{1, 2, 3});
  const auto two = at().upload(std::vector<std::uint32_t>{1, 2});
  const auto none = at().upload(std::vector<std::uint32_t>{1, 2, not_found<std::uint32_t>});
  const auto built = build_cgrx(at().where(), at(), column(keys));
  const auto edit = [&](const edits& batch) { built->edit(context(at()).stream, batch); };
  const auto refused = [&](const edits& batch, const char* reason) {
    test::expect_error<invalid_argument>([&] { edit(batch); }, {reason});
  };
  refused({.insert = column(wide), .insert_rows = column(keys)}, "insert: they are uint64");
  refused({.insert = column(keys), .insert_rows = column(wide)}, "insert rows: they are uint64");
  refused({.insert = column(keys), .insert_rows = column(two)}, "there are 2, but 3 keys");
  refused({.insert = column(keys)}, "there are 0, but 3 keys");
  refused({.insert = column(keys), .insert_rows = column(none)}, "row id");
  refused({.erase = column(wide)}, "erase: they are uint64");
  refused({.erase = column(keys), .erase_rows = column(two)}, "there are 2, but 3 keys");
  edit({});
  EXPECT_EQ(built->info().entries, 3);
}

TEST_F(cgrx_edits, an_edit_that_runs_out_changes_nothing) {
  const context plain = at();
  const auto random_column = [&](std::uint64_t size) {
    std::vector<std::uint32_t> keys(size);
    std::generate(keys.begin(), keys.end(), [&] { return static_cast<std::uint32_t>(random_()); });
    return keys;
  };
  const auto keys = at().upload(random_column(3000));
  const auto more = at().upload(random_column(2000));
  std::vector<std::uint32_t> ids(2000);
  for (std::uint32_t i = 0; i < 2000; ++i)
    ids[i] = 5000 + i;
  const auto rows = at().upload(ids);
  const edits batch{.insert = column(more), .insert_rows = column(rows), .erase = column(keys)};
  for (const cgrx_options& options :
       {cgrx_options{.bucket = 4}, cgrx_options{.bucket = 4, .rebuild = 2},
        cgrx_options{.bucket = 4, .layout = cgrx_layout::aligned},
        cgrx_options{.bucket = 4, .layout = cgrx_layout::packed, .rebuild = 2},
        cgrx_options{.bucket = 4, .node = 8}, cgrx_options{.bucket = 4, .node = 4, .rebuild = 2}}) {
    const auto build_in = [&](memory_resource& memory) {
      return build_cgrx(at().where(), {memory, plain.stream}, column(keys), {}, options);
    };
    std::size_t peak = 0;
    {
      const auto built = build_in(plain.memory);
      peak = built->info().build_peak_bytes;
      built->edit(plain.stream, batch);
      EXPECT_EQ(built->info().entries, 2000);
    }
    for (std::size_t limit = peak; limit < 4 * peak; limit += peak / 20) {
      test::limited_resource scarce(plain.memory, limit);
      const auto built = build_in(scarce);
      const std::size_t held = scarce.held();
      bool failed = false;
      try {
        built->edit(plain.stream, batch);
      } catch (const out_of_memory&) {
        failed = true;
        EXPECT_EQ(scarce.held(), held);
      }
      buffer<std::uint64_t> counts(plain, keys.size());
      built->count(plain, points(column(keys)), std::span(counts.data(), counts.size()));
      for (const std::uint64_t count : at().download(counts))
        EXPECT_EQ(count != 0, failed);
      if (!failed) break;
    }
  }
}

}  // namespace
}  // namespace raydex
