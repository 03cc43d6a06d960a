// SPDX-License-Identifier: Apache-2.0
// Files of indexes at their paths: written whole or not at all.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/interface/xxh64.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/size_limit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::test {
namespace {

namespace fs = std::filesystem;

class index_path : public testing::Test {
 protected:
  std::string path(const char* name = "an.index") const { return folder_.path(name); }
  std::unique_ptr<index> built(std::uint32_t begin) const {
    std::vector<std::uint32_t> keys(3000);
    for (std::uint32_t& key : keys)
      key = begin++;
    return build("btree", backend::cpu, at_, column(at_.upload(keys)));
  }
  std::uint64_t count(const index& of, std::uint32_t key) const {
    std::uint64_t found = 0;
    of.count(at_, points(column(std::span(&key, 1))), std::span(&found, 1));
    return found;
  }
  std::ptrdiff_t files() const { return folder_.files(); }

  session at_{backend::cpu};
  temporary_folder folder_;
};

TEST_F(index_path, a_file_may_be_replaced_while_it_is_open) {
  save(at_, *built(0), path(), "first");
  const loaded_index one = load(backend::cpu, at_, path());
  save(at_, *built(10'000), path(), "second");
  const loaded_index other = load(backend::cpu, at_, path(), {.verify = false});
  EXPECT_EQ(one.note, "first");
  EXPECT_EQ(other.note, "second");
  EXPECT_EQ(count(*one.held, 5), 1);
  EXPECT_EQ(count(*other.held, 5), 0);
  EXPECT_EQ(count(*other.held, 10'005), 1);
  EXPECT_EQ(files(), 1);
}

TEST_F(index_path, edits_do_not_reach_the_file) {
  save(at_, *built(0), path());
  const auto edited = load(backend::cpu, at_, path(), {.verify = false}).held;
  const std::vector<std::uint32_t> gone{5};
  edited->edit(
      nullptr,
      {.insert = {}, .insert_rows = {}, .erase = column(gone), .erase_rows = std::nullopt});
  EXPECT_EQ(count(*edited, 5), 0);
  EXPECT_EQ(count(*load(backend::cpu, at_, path()).held, 5), 1);
}

TEST_F(index_path, what_cannot_be_written_leaves_what_was_there) {
  const auto other = built(10'000);
  const std::size_t size = to_bytes(at_, *other).size();
  for (std::size_t most = 0; most < size; most += 1 + most / 7) {
    save(at_, *built(0), path());
    {
      const size_limit full(most);
      expect_error<error>([&] { save(at_, *other, path()); }, {"an.index", "write"});
      expect_error<error>([&] { save(at_, *other, path("new")); }, {"new", "write"});
    }
    EXPECT_EQ(count(*load(backend::cpu, at_, path()).held, 5), 1);
    EXPECT_EQ(files(), 1);
  }
}

TEST_F(index_path, links_are_followed) {
  fs::create_symlink("an.index", path("link"));
  save(at_, *built(0), path("link"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_regular_file(path()));
  EXPECT_EQ(count(*load(backend::cpu, at_, path("link")).held, 5), 1);
}

TEST_F(index_path, paths_that_are_none_are_refused) {
  const auto one = built(0);
  expect_error<invalid_argument>([&] { save(at_, *one, ""); }, {"no name"});
  expect_error<invalid_argument>([&] { save(at_, *one, folder_.path()); }, {"not a regular file"});
  expect_error<invalid_argument>([&] { save(at_, *one, path("none/here")); }, {"none/here"});
  expect_error<invalid_argument>([&] { save(at_, *one, "/dev/null"); }, {"not a regular file"});
  const auto opened = [&](const std::string& from) { load(backend::cpu, at_, from); };
  expect_error<invalid_argument>([&] { opened(path("none")); }, {"cannot be read", "No such file"});
  expect_error<invalid_argument>([&] { opened(folder_.path()); }, {"not a regular file"});
  expect_error<invalid_argument>([&] { opened("/dev/zero"); }, {"not a regular file"});
  std::ofstream(path("short")) << "hello";
  expect_error<invalid_argument>([&] { opened(path("short")); }, {"short: header"});
  std::ofstream(path("text")) << std::string(1000, 'x');
  expect_error<invalid_argument>([&] { opened(path("text")); }, {"no index file"});
}

TEST_F(index_path, a_file_says_what_is_in_it) {
  save(at_, *built(0), path(), "a note");
  const index_file_info found = inspect(path());
  const index_info loaded = load(backend::cpu, at_, path()).held->info();
  EXPECT_EQ(found.version, 1);
  EXPECT_EQ(found.bytes, fs::file_size(path()));
  EXPECT_EQ(found.structure, loaded.structure);
  EXPECT_EQ(found.options, loaded.options);
  EXPECT_EQ(found.key, format_of<std::uint32_t>);
  EXPECT_EQ(found.row_id_bits, 32);
  EXPECT_EQ(found.n, 3000);
  EXPECT_EQ(found.entries, 3000);
  EXPECT_EQ(found.max_row_id, 2999);
  EXPECT_EQ(found.note, "a note");
  expect_error<invalid_argument>([&] { inspect(path("none")); }, {"none: it cannot be read"});
  expect_error<invalid_argument>([&] { inspect(""); }, {"no name"});
  // Each bit of header, directory and note counts, those of arrays do not.
  std::ifstream from(path(), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(from), {});
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{20}, whole.find("a note"), whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(path("changed"), std::ios::binary) << changed;
    expect_error<invalid_argument>([&] { inspect(path("changed")); }, {"changed: "});
  }
  std::string other = whole;
  other[300] = static_cast<char>(other[300] ^ 1);
  std::ofstream(path("changed"), std::ios::binary) << other;
  EXPECT_EQ(inspect(path("changed")).entries, 3000);
}

TEST(xxh64_test, known_sums) {
  const auto sum = [](const std::string& of) { return xxh64::of(std::as_bytes(std::span(of))); };
  EXPECT_EQ(sum(""), 0xef46'db37'51d8'e999);
  EXPECT_EQ(sum("a"), 0xd24e'c4f1'a98c'6e5b);
  EXPECT_EQ(sum("abc"), 0x44bc'2cf5'ad77'0999);
  EXPECT_EQ(sum("Nobody inspects the spammish repetition"), 0xfbce'a83c'8a37'8bf1);
  const std::string all(1000, 'r');
  xxh64 parts;
  for (std::size_t at = 0, size = 1; at < all.size(); at += size, ++size) {
    size = std::min(size, all.size() - at);
    parts.add(std::as_bytes(std::span(all).subspan(at, size)));
  }
  EXPECT_EQ(parts.sum(), sum(all));
}

}  // namespace
}  // namespace raydex::test
