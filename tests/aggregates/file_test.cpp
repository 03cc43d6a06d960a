// SPDX-License-Identifier: Apache-2.0
// Aggregates that go through files, whole, damaged and made by somebody to do harm. What loaded
// ones answer is in aggregate_test.cpp.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/lookups/index_file/damaged_files.hpp"
#include "tests/lookups/index_file/kept_indexes.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

// Ranges of keys up to 1,000, and what one answers to them, as bytes.
bytes answers(const session& at, const aggregate& of) {
  auto random = generator(7);
  std::vector<std::uint32_t> lower;
  std::vector<std::uint32_t> upper;
  for (int i = 0; i < (tested_by_emulation() ? 40 : 300); ++i) {
    lower.push_back(static_cast<std::uint32_t>(below(random, 1000)));
    upper.push_back(lower.back() + static_cast<std::uint32_t>(below(random, 300)));
  }
  const auto low = at.upload(lower);
  const auto high = at.upload(upper);
  const probes batch = ranges(column(low), column(high));
  bytes all;
  const auto ask = [&]<class T>(T, const auto& call) {
    buffer<T> out(at, lower.size());
    call(out);
    const auto answered = at.download(out);
    const auto as_bytes = std::as_bytes(std::span(answered));
    all.insert(all.end(), as_bytes.begin(), as_bytes.end());
  };
  ask(std::uint64_t{}, [&](auto& out) { of.count_values(at, batch, out); });
  ask(double{}, [&](auto& out) { of.sum(at, batch, out); });
  ask(float{}, [&](auto& out) { of.minimum(at, batch, value_span(out)); });
  ask(float{}, [&](auto& out) { of.maximum(at, batch, value_span(out)); });
  ask(std::uint32_t{}, [&](auto& out) { of.first(at, batch, out); });
  return all;
}

class aggregate_file : public backend_test {
 protected:
  struct aggregated {
    std::unique_ptr<index> over;
    std::unique_ptr<aggregate> held;
  };

  const char* structure() const {
    return tested_backend() == backend::optix ? "rx" : "sorted_array";
  }

  // Of values that are missing, infinite and NaN, too.
  aggregated built(std::size_t size, const aggregate_options& options = {}) const {
    auto random = generator(size);
    std::vector<std::uint32_t> keys;
    std::vector<float> values;
    std::vector<std::uint8_t> bits(size / 8 + 1);
    for (std::size_t i = 0; i < size; ++i) {
      keys.push_back(static_cast<std::uint32_t>(below(random, 1000)));
      values.push_back(i % 50 == 7 ? std::numeric_limits<float>::infinity()
                                   : static_cast<float>(below(random, 4000)) / 4);
    }
    for (std::uint8_t& byte : bits)
      byte = static_cast<std::uint8_t>(random());
    const auto keys_there = at().upload(keys);
    const auto values_there = at().upload(values);
    const auto bits_there = at().upload(bits);
    auto over = build(structure(), tested_backend(), at(), column(keys_there));
    auto held = build_aggregate(at(), *over, column(values_there, bits_there.data()), options);
    return {std::move(over), std::move(held)};
  }

  loaded_aggregate loaded(const bytes& from, bool verify) const {
    return aggregate_from_bytes(tested_backend(), at(), from, {.verify = verify});
  }
};

TEST_F(aggregate_file, says_what_it_holds_and_is_loaded_from_there) {
  const temporary_folder folder;
  const std::string path = folder.path("sums");
  const auto own = built(700);
  save(at(), *own.held, path, std::string_view("a\0b", 3));
  const index_file_info found = inspect(path);
  EXPECT_TRUE(found.is_aggregate);
  EXPECT_FALSE(found.is_minima);
  EXPECT_EQ(found.structure, structure());
  EXPECT_EQ(found.key, format_of<std::uint32_t>);
  EXPECT_EQ(found.n, 700);
  EXPECT_EQ(found.note, std::string("a\0b", 3));
  for (const bool verify : {true, false}) {
    const loaded_aggregate other = load_aggregate(tested_backend(), at(), path, {.verify = verify});
    EXPECT_EQ(other.note, found.note);
    EXPECT_EQ(other.held->info().value, format_of<float>);
    EXPECT_EQ(other.held->info().entries, 700);
    EXPECT_EQ(other.over->info().n, 700);
    EXPECT_EQ(answers(at(), *other.held), answers(at(), *own.held));
    // As often as one likes.
    const auto again = loaded(to_bytes(at(), *other.held), !verify);
    EXPECT_EQ(answers(at(), *again.held), answers(at(), *own.held));
  }
}

TEST_F(aggregate_file, keeps_what_it_was_built_for_and_no_more) {
  const auto refuses = [&](const auto& call) {
    expect_error<unsupported>(call, {"it was built without"});
  };
  const std::uint64_t all = to_bytes(at(), *built(900).held).size();
  for (unsigned without = 0; without < 16; ++without) {
    SCOPED_TRACE(without);
    const auto is_wanted = [&](unsigned bit) { return (without >> bit & 1) == 0; };
    const auto own = built(900, {.sums = is_wanted(0),
                                 .minima = is_wanted(1),
                                 .maxima = is_wanted(2),
                                 .first_rows = is_wanted(3)});
    const bytes file = to_bytes(at(), *own.held);
    if (without != 0) {
      EXPECT_LT(file.size(), all);
    }
    for (const bool verify : {true, false}) {
      const auto other = loaded(file, verify);
      EXPECT_EQ(other.held->info().resident_bytes, own.held->info().resident_bytes);
      const auto point = at().upload(std::vector<std::uint32_t>{5});
      const probes batch = points(column(point));
      buffer<double> sum(at(), 1);
      buffer<float> extreme(at(), 1);
      buffer<std::uint32_t> row(at(), 1);
      const auto sums = [&] { other.held->sum(at(), batch, sum); };
      const auto minima = [&] { other.held->minimum(at(), batch, value_span(extreme)); };
      const auto maxima = [&] { other.held->maximum(at(), batch, value_span(extreme)); };
      const auto firsts = [&] { other.held->first(at(), batch, row); };
      is_wanted(0) ? sums() : refuses(sums);
      is_wanted(1) ? minima() : refuses(minima);
      is_wanted(2) ? maxima() : refuses(maxima);
      is_wanted(3) ? firsts() : refuses(firsts);
    }
  }
}

TEST_F(aggregate_file, keeps_one_without_values) {
  const auto keys = at().upload(std::vector<std::uint32_t>{7, 3, 7, 9});
  const auto over = build(structure(), tested_backend(), at(), column(keys));
  const bytes file = to_bytes(at(), *build_aggregate(at(), *over));
  for (const bool verify : {true, false}) {
    const auto other = loaded(file, verify);
    EXPECT_FALSE(other.held->info().value);
    const auto point = at().upload(std::vector<std::uint32_t>{7});
    buffer<std::uint32_t> row(at(), 1);
    other.held->first(at(), points(column(point)), row);
    EXPECT_EQ(at().download(row).front(), 0);
  }
}

TEST_F(aggregate_file, one_file_is_for_all_backends) {
  const session host(backend::cpu);
  const auto own = built(3000);
  for (const bool verify : {true, false}) {
    const auto there =
        aggregate_from_bytes(backend::cpu, host, to_bytes(at(), *own.held), {.verify = verify});
    ASSERT_EQ(answers(at(), *own.held), answers(host, *there.held));
    const auto back = loaded(to_bytes(host, *there.held), verify);
    ASSERT_EQ(answers(at(), *own.held), answers(at(), *back.held));
  }
}

TEST_F(aggregate_file, is_not_saved_once_its_index_was_edited) {
  const session host(backend::cpu);
  const std::vector<std::uint32_t> keys{7, 3};
  const auto over = build("sorted_array", backend::cpu, host, column(keys));
  const auto held = build_aggregate(host, *over);
  const std::vector<std::uint32_t> rows{2, 3};
  over->edit(nullptr, {.insert = column(keys), .insert_rows = column(rows)});
  expect_error<invalid_argument>([&] { to_bytes(host, *held); }, {"its index was edited"});
}

TEST_F(aggregate_file, refuses_other_files_and_is_refused_as_one) {
  const bytes own = to_bytes(at(), *built(70).held);
  expect_error<invalid_argument>([&] { from_bytes(tested_backend(), at(), own); },
                                 {"directory: it has aggregates", "load_aggregate opens it"});
  expect_error<invalid_argument>([&] { rmq_from_bytes(tested_backend(), at(), own); },
                                 {"directory: it has no range minima"});
  const session host(backend::cpu);
  const std::vector<float> values{3, 1, 2};
  for (const bytes& other :
       {to_bytes(host, *build("btree", backend::cpu, host, column(values))),
        to_bytes(host, *build_rmq("rmq_scan", backend::cpu, host, column(values)))}) {
    for (const bool verify : {true, false}) {
      expect_error<invalid_argument>([&] { loaded(other, verify); },
                                     {"directory: it has no aggregates"});
    }
  }
}

TEST_F(aggregate_file, refuses_changed_bits) {
  const auto own = built(600);
  expect_changed_bits_refused(
      to_bytes(at(), *own.held), tested_by_emulation() ? 50 : 1000,
      [&](const bytes& file) { return answers(at(), *loaded(file, true).held); });
}

TEST_F(aggregate_file, refuses_what_is_cut_off_or_appended_to) {
  const auto own = built(600);
  expect_cut_files_refused(to_bytes(at(), *own.held),
                           [&](const bytes& file, bool verify) { loaded(file, verify); });
}

// What finds minima and first rows is made anew, so that no place of a file is followed, and no row
// is beyond those of the index.
TEST_F(aggregate_file, takes_no_places_and_rows_that_are_verified) {
  const auto own = built(700);
  const bytes file = to_bytes(at(), *own.held);
  const file_parts whole(file);
  int changed = 0;
  for (std::size_t s = 0; s < whole.names().size(); ++s) {
    const std::string& name = whole.names()[s];
    const std::uint64_t section = whole.sections()[s];
    const bool is_made_anew =
        name == "aggregate: rows" || name.starts_with("aggregate: minima: ") ||
        name.starts_with("aggregate: maxima: ") || name.starts_with("aggregate: first rows: ");
    if (!is_made_anew || whole.number(section + 8) == 0) continue;
    SCOPED_TRACE(name);
    file_parts parts(file);
    for (std::uint64_t at_byte = 0; at_byte + 8 <= whole.number(section + 8); at_byte += 8)
      parts.put(whole.number(section) + at_byte, ~std::uint64_t{0});
    EXPECT_EQ(answers(at(), *loaded(parts.summed(), true).held), answers(at(), *own.held));
    ++changed;
  }
  EXPECT_GT(changed, 10);
}

TEST_F(aggregate_file, survives_files_that_were_made_to_do_harm) {
  auto random = generator(47);
  const auto own = built(700);
  expect_no_harm(to_bytes(at(), *own.held), tested_by_emulation() ? 30 : 600, 3, random,
                 [&](const bytes& file) {
                   const auto other = loaded(file, true);
                   if (other.held->info().value == format_of<float>) answers(at(), *other.held);
                 });
}

}  // namespace
}  // namespace raydex::test
