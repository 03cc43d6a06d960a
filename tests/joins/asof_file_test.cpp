// SPDX-License-Identifier: Apache-2.0
// Build sides of as-of joins that go through files, whole, damaged and made by somebody to do harm.
// What loaded ones find is in asof_test.cpp.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/joins/tables.hpp"
#include "tests/lookups/index_file/damaged_files.hpp"
#include "tests/lookups/index_file/kept_indexes.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t size = 300;

// Rows by a number and a string; some of all three are missing.
struct quotes {
  placed<std::int64_t> times;
  placed_table by;

  quotes(const session& at, std::mt19937_64& random)
      : times(at, times_of(random)),
        by(at,
           make_table({cells_of<std::int32_t>{}, cells_of<std::string>{}}, size, 9, true, random)) {
  }

  static cells_of<std::int64_t> times_of(std::mt19937_64& random) {
    cells_of<std::int64_t> all(size);
    for (auto& cell : all)
      if (below(random, 20) != 0) cell = static_cast<std::int64_t>(below(random, 900));
    return all;
  }
};

class asof_file : public backend_test {
 protected:
  void SetUp() override {
    backend_test::SetUp();
    if (IsSkipped()) return;
    auto random = generator();
    own_.emplace(at(), random);
    probe_.emplace(at(), random);
    built_ = build_asof_join(tested_backend(), at(), own_->times.view, own_->by.parts);
  }

  loaded_asof_join loaded(const bytes& from, bool verify) const {
    return asof_join_from_bytes(tested_backend(), at(), from, {.verify = verify});
  }

  std::vector<std::uint32_t> answers(const asof_join& of) const {
    buffer<std::uint32_t> out(at(), size);
    of.match(at(), probe_->times.view, probe_->by.parts, {}, out);
    return at().download(out);
  }

  std::optional<quotes> own_;
  std::optional<quotes> probe_;
  std::unique_ptr<asof_join> built_;
};

TEST_F(asof_file, says_what_it_holds_and_is_loaded_from_there) {
  const temporary_folder folder;
  const std::string path = folder.path("quotes");
  save(at(), *built_, path, std::string_view("a\0b", 3));
  const index_file_info found = inspect(path);
  EXPECT_TRUE(found.is_asof_join);
  EXPECT_FALSE(found.is_minima || found.is_aggregate);
  EXPECT_EQ(found.key, format_of<std::int64_t>);
  EXPECT_EQ(found.n, size);
  EXPECT_EQ(found.entries, built_->info().entries);
  const std::vector<std::uint32_t> expected = answers(*built_);
  own_.reset();  // it reads them no more
  built_.reset();
  for (const bool verify : {true, false}) {
    const auto other = load_asof_join(tested_backend(), at(), path, {.verify = verify});
    EXPECT_EQ(other.note, std::string("a\0b", 3));
    EXPECT_EQ(other.times, format_of<std::int64_t>);
    EXPECT_EQ(other.rows, size);
    ASSERT_EQ(other.key.size(), 2);
    EXPECT_EQ(other.key[0], format_of<std::int32_t>);
    EXPECT_FALSE(other.key[1]);
    EXPECT_EQ(answers(*other.held), expected);
    const auto again = loaded(to_bytes(at(), *other.held), !verify);
    EXPECT_EQ(answers(*again.held), expected);
  }
}

TEST_F(asof_file, one_file_is_for_all_backends) {
  const session host(backend::cpu);
  for (const bool verify : {true, false}) {
    const auto there =
        asof_join_from_bytes(backend::cpu, host, to_bytes(at(), *built_), {.verify = verify});
    const auto back = loaded(to_bytes(host, *there.held), verify);
    EXPECT_EQ(answers(*back.held), answers(*built_));
  }
}

TEST_F(asof_file, a_loaded_one_takes_rows) {
  const auto other = loaded(to_bytes(at(), *built_), true);
  other.held->append(context(at()).stream, probe_->times.view, probe_->by.parts);
  built_->append(context(at()).stream, probe_->times.view, probe_->by.parts);
  EXPECT_EQ(answers(*other.held), answers(*built_));
}

TEST_F(asof_file, refuses_other_files_and_is_refused_as_one) {
  const bytes own = to_bytes(at(), *built_);
  expect_error<invalid_argument>([&] { from_bytes(tested_backend(), at(), own); },
                                 {"directory: it has the build side", "load_asof_join opens it"});
  const session host(backend::cpu);
  const std::vector<float> keys{3, 1, 2};
  const bytes other = to_bytes(host, *build("btree", backend::cpu, host, column(keys)));
  for (const bool verify : {true, false}) {
    expect_error<invalid_argument>([&] { loaded(other, verify); },
                                   {"directory: it has no build side of as-of joins"});
  }
}

TEST_F(asof_file, refuses_changed_bits) {
  expect_changed_bits_refused(to_bytes(at(), *built_), tested_by_emulation() ? 50 : 1000,
                              [&](const bytes& file) { return answers(*loaded(file, true).held); });
}

TEST_F(asof_file, refuses_what_is_cut_off_or_appended_to) {
  expect_cut_files_refused(to_bytes(at(), *built_),
                           [&](const bytes& file, bool verify) { loaded(file, verify); });
}

TEST_F(asof_file, survives_files_that_were_made_to_do_harm) {
  auto random = generator(47);
  expect_no_harm(to_bytes(at(), *built_), tested_by_emulation() ? 30 : 600, 11, random,
                 [&](const bytes& file) {
                   const auto other = loaded(file, true);
                   if (other.times == format_of<std::int64_t> && other.key.size() == 2 &&
                       other.key[0] == format_of<std::int32_t> && !other.key[1])
                     answers(*other.held);
                 });
}

}  // namespace
}  // namespace raydex::test
