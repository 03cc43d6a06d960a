// SPDX-License-Identifier: Apache-2.0
// Structures for minima that go through the bytes of a file, whole, damaged and made by somebody to
// do harm. The conformance suite asks more of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/lookups/index_file/damaged_files.hpp"
#include "tests/lookups/index_file/kept_indexes.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/random.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

// What it answers to ranges of all lengths: values, then positions, as bytes.
bytes answers(const session& at, const rmq& of) {
  auto random = generator(7);
  std::vector<std::uint64_t> lower;
  std::vector<std::uint64_t> upper;
  for (int i = 0; i < (tested_by_emulation() ? 60 : 500); ++i) {
    lower.push_back(below(random, of.info().n + 2));
    upper.push_back(lower.back() + below(random, std::uint64_t{2} << below(random, 14)));
  }
  const auto low = at.upload(lower);
  const auto high = at.upload(upper);
  const probes batch = ranges(column(low), column(high));
  const std::uint64_t width = of.info().value.width;
  buffer<std::byte> values(at, lower.size() * width);
  buffer<std::uint64_t> positions(at, lower.size());
  const value_span to(of.info().value, values.data(), lower.size());
  of.info().extreme == rmq_extreme::maximum ? of.maximum(at, batch, to) : of.minimum(at, batch, to);
  of.position(at, batch, positions);
  bytes all = at.download(values);
  for (const std::uint64_t position : at.download(positions)) {
    const auto as_bytes = std::as_bytes(std::span(&position, 1));
    all.insert(all.end(), as_bytes.begin(), as_bytes.end());
  }
  return all;
}

void expect_alike(const session& at, const rmq& one, const rmq& other) {
  const rmq_info& a = one.info();
  const rmq_info& b = other.info();
  EXPECT_EQ(a.structure, b.structure);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.extreme, b.extreme);
  EXPECT_EQ(a.n, b.n);
  // Embree lays a scene out by how its threads come to run.
  if (a.structure != "rmq_rx") {
    EXPECT_EQ(a.resident_bytes, b.resident_bytes);
  }
  ASSERT_EQ(answers(at, one), answers(at, other));
}

class rmq_file : public backend_test {
 protected:
  // A structure, and the array that it reads.
  template <class T>
  struct over_array {
    buffer<T> array;
    std::unique_ptr<rmq> held;
  };

  std::unique_ptr<rmq> loaded(const bytes& from, bool verify) const {
    return rmq_from_bytes(tested_backend(), at(), from, {.verify = verify}).held;
  }

  // Over an array that begins `before` values behind a boundary.
  template <class T>
  over_array<T> built(const subject& of, std::size_t size, std::size_t before = 0) const {
    auto random = generator(size);
    const std::vector<T> extremes = extreme_keys<T>();
    std::vector<T> values(before + size);
    for (T& value : values)
      value = below(random, 4) == 0 ? extremes[below(random, extremes.size())]
                                    : static_cast<T>(below(random, 1000));
    auto array = at().upload(values);
    const column cells(format_of<T>, array.data() + before, size);
    auto held = build_rmq(of.structure, tested_backend(), at(), cells, of.options);
    return {std::move(array), std::move(held)};
  }

  // All structures, as they are and with other options.
  std::vector<subject> subjects() const {
    std::vector<subject> all;
    for (const rmq_capability& can : rmq_capabilities()) {
      if (can.where != tested_backend()) continue;
      all.push_back({can.structure, {}});
      all.push_back({can.structure, {{"ties", "rightmost"}, {"extreme", "maximum"}}});
    }
    return all;
  }

  template <class T>
  void check_kept(const subject& of) const {
    const std::vector<std::size_t> few{0, 1, 33, 600};
    const std::vector<std::size_t> all{0, 1, 15, 16, 17, 511, 512, 513, 1025, 20'000};
    for (const std::size_t size : tested_by_emulation() ? few : all) {
      SCOPED_TRACE(std::to_string(size) + " of " + to_string(format_of<T>));
      over_array<T> own = built<T>(of, size, size % (16 / sizeof(T)));
      const bytes file = to_bytes(at(), *own.held);
      for (const bool verify : {true, false}) {
        const auto other = loaded(file, verify);
        expect_alike(at(), *own.held, *other);
        const auto again = loaded(to_bytes(at(), *other), !verify);
        expect_alike(at(), *own.held, *again);
      }
      // The array is not needed any more.
      const bytes expected = answers(at(), *own.held);
      const auto other = loaded(file, false);
      own = {};
      ASSERT_EQ(answers(at(), *other), expected);
    }
  }
};

class rmq_cover_file : public rmq_file {
 protected:
  void SetUp() override {
    rmq_file::SetUp();
    if (tested_backend() == backend::optix) GTEST_SKIP() << "rmq_cover is not offered there";
  }
};

TEST_F(rmq_file, keeps_all_structures_and_types_of_values) {
  for (const subject& of : subjects()) {
    SCOPED_TRACE(of.structure);
    check_kept<float>(of);
    check_kept<double>(of);
    check_kept<std::int32_t>(of);
    check_kept<std::uint32_t>(of);
    check_kept<std::int64_t>(of);
    check_kept<std::uint64_t>(of);
    if (HasFatalFailure()) return;
  }
}

TEST_F(rmq_file, one_file_is_for_all_backends) {
  const session host(backend::cpu);
  for (const subject& of : subjects()) {
    SCOPED_TRACE(of.structure);
    const auto own = built<float>(of, 3000, 1);
    for (const bool verify : {true, false}) {
      const auto there =
          rmq_from_bytes(backend::cpu, host, to_bytes(at(), *own.held), {.verify = verify}).held;
      ASSERT_EQ(answers(at(), *own.held), answers(host, *there));
      const auto back = loaded(to_bytes(host, *there), verify);
      ASSERT_EQ(answers(at(), *own.held), answers(at(), *back));
    }
  }
}

// Its array is read again where it is said to have changed.
TEST_F(rmq_cover_file, a_loaded_structure_is_refreshed_and_viewed) {
  const auto own = built<float>({"rmq_cover", {}}, 5000);
  const auto other = loaded(to_bytes(at(), *own.held), false);
  const auto positions = at().upload(std::vector<std::uint32_t>{0, 17, 4999});
  other->refresh(context(at()).stream, column(positions));
  expect_alike(at(), *own.held, *other);
  ASSERT_NE(dynamic_cast<const rmq_cover*>(other.get()), nullptr);
}

TEST_F(rmq_cover_file, says_what_it_holds) {
  const temporary_folder folder;
  const std::string path = folder.path("lows");
  const auto own = built<double>({"rmq_cover", {{"memory", "small"}}}, 700);
  save(at(), *own.held, path, std::string_view("a\0b", 3));
  const index_file_info found = inspect(path);
  EXPECT_TRUE(found.is_minima);
  EXPECT_EQ(found.structure, "rmq_cover");
  EXPECT_EQ(found.options, own.held->info().options);
  EXPECT_EQ(found.key, format_of<double>);
  EXPECT_EQ(found.row_id_bits, 0);
  EXPECT_EQ(found.n, 700);
  EXPECT_EQ(found.note, std::string("a\0b", 3));
  const loaded_rmq other = load_rmq(tested_backend(), at(), path);
  EXPECT_EQ(other.note, found.note);
  expect_alike(at(), *own.held, *other.held);
}

TEST_F(rmq_cover_file, refuses_an_index_over_keys_and_is_refused_as_one) {
  const auto own = built<float>({"rmq_cover", {}}, 70);
  const bytes of_minima = to_bytes(at(), *own.held);
  expect_error<invalid_argument>([&] { from_bytes(tested_backend(), at(), of_minima); },
                                 {"directory: it has no keys", "load_rmq opens it"});
  const session host(backend::cpu);
  const std::vector<std::uint32_t> keys{3, 1, 2};
  const bytes of_keys = to_bytes(host, *build("btree", backend::cpu, host, column(keys)));
  for (const bool verify : {true, false}) {
    expect_error<invalid_argument>([&] { loaded(of_keys, verify); },
                                   {"directory: it has no range minima", "load opens it"});
  }
}

TEST_F(rmq_file, refuses_changed_bits) {
  for (const subject& of : subjects()) {
    SCOPED_TRACE(of.structure);
    const auto own = built<std::uint32_t>(of, 600);
    expect_changed_bits_refused(
        to_bytes(at(), *own.held), tested_by_emulation() ? 50 : 1000,
        [&](const bytes& file) { return answers(at(), *loaded(file, true)); });
  }
}

TEST_F(rmq_cover_file, refuses_what_is_cut_off_or_appended_to) {
  const auto own = built<std::uint32_t>({"rmq_cover", {}}, 600);
  expect_cut_files_refused(to_bytes(at(), *own.held),
                           [&](const bytes& file, bool verify) { loaded(file, verify); });
}

// Right checksums, and an array or tables of another size than the directory says.
TEST_F(rmq_cover_file, refuses_parts_of_other_sizes_unverified) {
  const auto own = built<std::uint32_t>({"rmq_cover", {}}, 600);
  const bytes file = to_bytes(at(), *own.held);
  for (const std::uint64_t before : {1U, 4U, 15U, 16U}) {
    file_parts parts(file);
    parts.put(parts.numbers().front(), before);
    expect_error<invalid_argument>([&] { loaded(parts.summed(), false); },
                                   {before == 16 ? "number 'before'" : "section 'values'"});
  }
  for (const std::size_t section : {0U, 1U, 2U}) {
    file_parts parts(file);
    const std::uint64_t bytes_at = parts.sections()[section] + 8;
    parts.put(bytes_at, parts.number(bytes_at) - 4);
    expect_error<invalid_argument>([&] { loaded(parts.summed(), false); }, {"section '"});
  }
}

TEST_F(rmq_file, survives_files_that_were_made_to_do_harm) {
  auto random = generator(47);
  for (const subject& of : subjects()) {
    SCOPED_TRACE(of.structure);
    const auto own = built<std::uint32_t>(of, 700, below(random, 4));
    expect_no_harm(to_bytes(at(), *own.held), tested_by_emulation() ? 10 : 200, 16, random,
                   [&](const bytes& file) { answers(at(), *loaded(file, true)); });
  }
}

}  // namespace
}  // namespace raydex::test
