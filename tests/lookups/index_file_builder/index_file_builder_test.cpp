// SPDX-License-Identifier: Apache-2.0
// Files that are built by chunks have the bytes that `save` writes of the whole column.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/interface/column_slice.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/random.hpp"
#include "tests/support/size_limit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t least = index_file_options::least_memory;

// Entries of a run in so much memory; see sorted_runs.hpp.
std::uint64_t run_of(std::uint64_t entry_bytes) {
  return least / 64 * 63 / (2 * entry_bytes);
}

template <class Key>
std::uint64_t entry_bytes() {
  return column(std::vector<Key>{}).format.encoded_bits() == 64 ? 12 : 8;
}

class index_file_builder_test : public testing::Test {
 protected:
  std::string path(const char* name = "built") const { return folder_.path(name); }
  std::string bytes(const char* name) const { return read_file(path(name)); }
  std::ptrdiff_t files() const { return folder_.files(); }

  // Builds a file by chunks of some sizes, one after the other and again, and expects that of
  // `save`. Returns the bytes that were spilled.
  std::uint64_t expect_same(const column& keys, const std::optional<column>& rows = std::nullopt,
                            const std::vector<std::uint64_t>& chunks = {1, 70'001, 0, 9000}) {
    tracking_resource counted(memory_);
    const context on{counted};
    std::uint64_t spilled = 0;
    {
      index_file_builder builder(on, path(), keys.format, {.memory = least});
      std::size_t chunk = 0;
      for (std::uint64_t at = 0, size = 0; at < keys.size; at += size) {
        size = std::min(keys.size - at, chunks[chunk++ % chunks.size()]);
        column part = slice(keys, at, size);
        std::optional<column> part_rows;
        if (rows) part_rows = slice(*rows, at, size);
        builder.append(part, part_rows);
      }
      spilled = builder.spilled_bytes();
      builder.finish("a note");
    }
    EXPECT_LE(counted.peak(), least);
    EXPECT_EQ(counted.current(), 0);
    save(on, *build("sorted_array", backend::cpu, on, keys, rows), path("saved"), "a note");
    EXPECT_TRUE(bytes("built") == bytes("saved")) << keys.size << " " << to_string(keys.format);
    EXPECT_EQ(files(), 2);
    load(backend::cpu, on, path());
    return spilled;
  }

  host_memory_resource memory_;
  temporary_folder folder_;
};

template <class T>
std::vector<T> random_keys(std::uint64_t size, std::uint64_t salt) {
  auto random = generator(salt);
  std::vector<T> keys(size);
  for (T& key : keys)
    key = random_key<T>(random);
  return keys;
}

template <class T>
class index_file_builder_keys : public index_file_builder_test {};
using key_types =
    testing::Types<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t, float, double,
                   std::array<char, 1>, std::array<char, 3>, std::array<char, 8>>;
TYPED_TEST_SUITE(index_file_builder_keys, key_types);

TYPED_TEST(index_file_builder_keys, many_runs_are_merged) {
  using key = TypeParam;
  const std::uint64_t run = run_of(entry_bytes<key>());
  std::vector<key> keys = random_keys<key>(5 * run + 17, sizeof(key));
  const std::vector<key> extremes = extreme_keys<key>();
  for (std::size_t i = 0; i < keys.size(); i += 11)
    keys[i] = extremes[i / 11 % extremes.size()];
  EXPECT_GT(this->expect_same(column(keys)), 0);
}

TYPED_TEST(index_file_builder_keys, equal_keys_are_in_the_order_of_their_rows) {
  using key = TypeParam;
  const std::uint64_t run = run_of(entry_bytes<key>());
  const std::vector<key> keys(3 * run, extreme_keys<key>().back());
  EXPECT_GT(this->expect_same(column(keys)), 0);
}

TEST_F(index_file_builder_test, what_fits_is_not_spilled) {
  const std::uint64_t run = run_of(12);
  for (const std::uint64_t size : std::vector<std::uint64_t>{0, 1, 2, 1000, run - 1, run})
    EXPECT_EQ(expect_same(column(random_keys<std::int64_t>(size, size))), 0) << size;
}

TEST_F(index_file_builder_test, sizes_about_those_of_runs) {
  const std::uint64_t run = run_of(12);
  for (const std::uint64_t size : {run + 1, 2 * run - 1, 2 * run, 2 * run + 1}) {
    const auto keys = random_keys<std::int64_t>(size, size);
    EXPECT_EQ(expect_same(column(keys), {}, {size}), 12 * run * ((size - 1) / run)) << size;
  }
}

TEST_F(index_file_builder_test, sorted_columns) {
  std::vector<std::uint32_t> keys(4 * run_of(8));
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    keys[i] = i / 3;
  expect_same(column(keys));
  std::ranges::reverse(keys);
  expect_same(column(keys));
}

TEST_F(index_file_builder_test, missing_cells_are_counted) {
  const auto keys = random_keys<double>(4 * run_of(12), 1);
  std::vector<std::uint8_t> there(keys.size() / 8 + 2);
  for (const unsigned share : {0u, 1u, 128u, 256u}) {
    auto random = generator(share);
    for (std::uint8_t& one : there)
      one = static_cast<std::uint8_t>(share == 256 ? 255 : below(random, 256) < share ? 90 : 0);
    expect_same(column(keys, validity_bitmap(there.data(), 3)));
  }
}

TEST_F(index_file_builder_test, cells_may_lie_apart) {
  const auto cells = random_keys<std::int64_t>(9 * run_of(12), 1);
  column keys(cells);
  keys.size /= 3;
  keys.stride = 24;
  expect_same(keys);
}

template <class Row>
std::vector<Row> random_rows(std::uint64_t size, Row most) {
  auto random = generator(size);
  std::vector<Row> rows(size);
  for (Row& row : rows)
    row = static_cast<Row>(below(random, most));
  rows[size / 2] = most - 1;
  return rows;
}

TEST_F(index_file_builder_test, explicit_row_ids) {
  auto keys = random_keys<std::uint64_t>(4 * run_of(12), 1);
  for (std::size_t i = 0; i < keys.size(); i += 2)
    keys[i] %= 5;
  const std::vector<std::uint8_t> there(keys.size() / 8 + 1, 0xb7);
  const column some(keys, there.data());
  const auto narrow = random_rows<std::uint32_t>(keys.size(), not_found<std::uint32_t>);
  expect_same(column(keys), column(narrow));
  expect_same(some, column(narrow));
  const auto wide = random_rows<std::uint64_t>(keys.size(), not_found<std::uint64_t>);
  expect_same(column(keys), column(wide));
  expect_same(some, column(wide));
  std::vector<std::uint32_t> ascending(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    ascending[i] = 5 * i;
  expect_same(column(keys), column(ascending));
  // Equal entries, too.
  const std::vector<std::uint32_t> same(keys.size(), 7);
  std::ranges::fill(keys, 9);
  expect_same(column(keys), column(same));
}

TEST_F(index_file_builder_test, rows_beyond_32_bits_are_of_64) {
  if (small_scale()) GTEST_SKIP() << "2^32 cells";
  constexpr std::uint64_t many = std::uint64_t{1} << 28;
  const std::vector<std::uint32_t> room(many);
  const std::vector<std::uint8_t> none(many / 8);
  const column missing(room, none.data());
  const std::vector<std::uint32_t> keys{5, 3, 5, 4};
  const context on{memory_};
  index_file_builder builder(on, path(), column(keys).format, {.memory = least});
  builder.append(column(keys));
  for (int chunk = 0; chunk < 16; ++chunk)
    builder.append(missing);
  builder.append(column(keys));
  builder.finish();
  const auto found = load(backend::cpu, on, path()).held;
  const std::uint64_t before = 16 * many + 4;
  EXPECT_EQ(found->info().n, before + 4);
  EXPECT_EQ(found->info().entries, 8);
  EXPECT_EQ(found->info().max_row_id, before + 3);
  EXPECT_EQ(found->info().row_ids, row_id_type::uint64);
  const std::vector<std::uint32_t> wanted{5, 4};
  const matches all = found->rows(on, points(column(wanted)));
  const auto rows = all.rows_as<std::uint64_t>();
  EXPECT_EQ(std::vector(rows.begin(), rows.end()),
            (std::vector<std::uint64_t>{0, 2, before, before + 2, 3, before + 3}));
}

TEST_F(index_file_builder_test, arguments_that_are_none) {
  const context on{memory_};
  const key_format key(key_type::int64);
  const auto begin = [&](const std::string& to, index_file_options how) {
    index_file_builder(on, to, key, how);
  };
  expect_error<invalid_argument>([&] { begin(path(), {.memory = least - 1}); },
                                 {"memory: 1048575 bytes", "1048576"});
  expect_error<invalid_argument>([&] { begin(path("no/file"), {}); }, {"no/file", "written"});
  expect_error<invalid_argument>([&] { begin(path(), {.spill = path("none")}); },
                                 {"spill", "none", "No such file"});
  EXPECT_EQ(files(), 0);

  index_file_builder builder(on, path(), key);
  const std::vector<std::int64_t> keys{3, 1, 2};
  const std::vector<double> other{1};
  const std::vector<std::uint32_t> rows{1, 2, not_found<std::uint32_t>};
  const std::vector<std::uint64_t> wide{1, 2, 3};
  expect_error<invalid_argument>([&] { builder.append(column(other)); },
                                 {"keys: they are double", "int64"});
  expect_error<invalid_argument>([&] { builder.append(column(keys), column(keys)); }, {"row ids"});
  builder.append(column(keys), column(std::span(wide)));
  expect_error<invalid_argument>([&] { builder.append(column(keys)); }, {"row ids", "none"});
  expect_error<invalid_argument>([&] { builder.append(column(keys), column(rows)); },
                                 {"row ids", "uint32", "uint64"});
  builder.finish();
  EXPECT_EQ(load(backend::cpu, on, path()).held->info().n, 3);
  expect_error<invalid_argument>([&] { builder.finish(); }, {"finished"});
  expect_error<invalid_argument>([&] { builder.append(column(keys)); }, {"finished"});

  index_file_builder narrow(on, path(), key);
  expect_error<invalid_argument>([&] { narrow.append(column(keys), column(rows)); },
                                 {"row ids", "not found"});
}

TEST_F(index_file_builder_test, more_rows_than_the_memory_serves) {
  const context on{memory_};
  index_file_builder builder(on, path(), key_format(key_type::uint32), {.memory = least});
  const std::vector<std::uint32_t> keys(1'000'000);
  expect_error<invalid_argument>(
      [&] {
        for (int chunk = 0; chunk < 100; ++chunk)
          builder.append(column(keys));
      },
      {"memory: 1048576 bytes are too few", "2097152"});
  EXPECT_GT(builder.spilled_bytes(), 5'000'000 * 8);
}

TEST_F(index_file_builder_test, a_full_disk_leaves_what_was_there) {
  const context on{memory_};
  const std::vector<std::uint32_t> old{1, 2};
  save(on, *build("sorted_array", backend::cpu, on, column(old)), path());
  const std::string before = bytes("built");
  const auto keys = random_keys<std::uint32_t>(4 * run_of(8), 1);
  const auto write = [&] {
    index_file_builder builder(on, path(), column(keys).format, {.memory = least});
    builder.append(column(keys));
    builder.finish();
  };
  for (const rlim_t most : {0u, 100'000u, 1'000'000u}) {
    const size_limit full(most);
    expect_error<error>(write, {"spill: " + folder_.path(), "write", "File too large"});
  }
  {
    // Spilled are but entries.
    const size_limit full(keys.size() * 8);
    expect_error<error>(write, {"built: write", "File too large"});
  }
  EXPECT_EQ(bytes("built"), before);
  EXPECT_EQ(files(), 1);
  write();
  EXPECT_EQ(load(backend::cpu, on, path()).held->info().n, keys.size());
}

TEST_F(index_file_builder_test, what_is_not_finished_leaves_nothing) {
  const context on{memory_};
  {
    index_file_builder builder(on, path(), key_format(key_type::uint32), {.memory = least});
    const auto keys = random_keys<std::uint32_t>(4 * run_of(8), 1);
    builder.append(column(keys));
    EXPECT_GT(builder.spilled_bytes(), 0);
    EXPECT_EQ(files(), 0);
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(index_file_builder_test, an_interrupt_ends_it) {
  const context on{memory_};
  const auto keys = random_keys<std::uint32_t>(20 * run_of(8), 1);
  index_file_builder builder(on, path(), key_format(key_type::uint32), {.memory = least});
  builder.append(column(keys));
  {
    const interruptible stop([](const progress&) { return true; }, std::chrono::milliseconds(0));
    EXPECT_THROW(builder.finish(), interrupted);
  }
  EXPECT_EQ(files(), 0);
  expect_error<invalid_argument>([&] { builder.finish(); }, {"failed"});
}

}  // namespace
}  // namespace raydex::test
