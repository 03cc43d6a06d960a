// SPDX-License-Identifier: Apache-2.0
// Indexes over keys when calls fail: the error is raydex's own, nothing leaks, and the index
// answers as before until the same call succeeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/failures/sweep.hpp"

namespace raydex::test {
namespace {

using key = std::uint64_t;
using row = std::uint32_t;
using entries = std::vector<std::pair<key, row>>;

// A structure and its options.
struct subject {
  std::string structure;
  option_map options;
};
std::ostream& operator<<(std::ostream& out, const subject& tested) {
  out << tested.structure;
  for (const auto& [name, value] : tested.options)
    out << ' ' << name << '=' << value;
  return out;
}

// All structures of the backend, with options that allocate in other ways.
std::vector<subject> subjects() {
  const std::multimap<std::string, option_map> more{
      {"sorted_array", {{"layout", "row"}}},
      {"eytzinger", {{"layout", "column"}, {"k", "3"}}},
      {"pivot_tree", {{"nodes", "quantised"}}},
      {"pivot_tree", {{"search", "groups"}, {"reorder", "double"}}},
      {"btree", {{"fill", "100"}}},
      {"hash_open", {{"load", "95"}, {"bucket", "128"}}},
      {"hash_open", {{"placement", "choices"}, {"reading", "single"}}},
      {"hash_bucket", {{"occupancy", "300"}, {"reading", "single"}}},
      {"rx", {{"hits", "any"}, {"order", "sorted"}}},
      {"rx", {{"parts", "3"}}},
      {"rx", {{"primitive", "sphere"}, {"order", "tiles"}}},
      {"rx", {{"primitive", "box"}, {"inverse", "on"}}},
      {"cgrx", {{"bucket", "4"}, {"order", "sorted"}, {"layout", "packed"}}},
      {"cgrx", {{"mapping", "bits"}, {"parts", "3"}, {"order", "tiles"}, {"rebuild", "2"}}},
      {"cgrx", {{"bucket", "4"}, {"node", "16"}}},
      {"cgrx", {{"bucket", "4"}, {"node", "4"}, {"rebuild", "2"}}}};
  std::vector<subject> all;
  for (const capability& one : capabilities()) {
    if (one.where != tested_backend()) continue;
    all.push_back({one.structure, {}});
    const auto [begin, end] = more.equal_range(one.structure);
    for (auto it = begin; it != end; ++it)
      all.push_back({one.structure, it->second});
  }
  return all;
}

// The answers to queries of all kinds.
struct answers {
  std::vector<row> first;
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> sums;
  std::vector<std::uint64_t> offsets;
  std::vector<row> rows;
  friend bool operator==(const answers&, const answers&) = default;
};

class failing_keys : public failures, public testing::WithParamInterface<subject> {
 protected:
  void SetUp() override {
    failures::SetUp();
    if (IsSkipped()) return;
    meter_.emplace(context(at()).memory);
    for (row i = 0; i < size; ++i)
      first_.push_back({3 * below(random_, size / 2), i});
    lower_ = probes_near();
    upper_ = probes_near();
  }

  // Keys of the column and their neighbours.
  std::vector<key> probes_near() {
    std::vector<key> all(probes_size);
    for (key& one : all)
      one = below(random_, 3 * size / 2 + 5);
    return all;
  }

  // An index whose memory is counted.
  std::unique_ptr<index> make() const {
    const auto keys = at().upload(keys_of(first_));
    return make(column(keys));
  }
  std::unique_ptr<index> make(const column& keys) const {
    const context plain = at();
    return build(GetParam().structure, at().where(), {*meter_, plain.stream}, keys, std::nullopt,
                 GetParam().options);
  }

  static std::vector<key> keys_of(const entries& all) {
    std::vector<key> keys;
    for (const auto& one : all)
      keys.push_back(one.first);
    return keys;
  }
  static std::vector<row> rows_of(const entries& all) {
    std::vector<row> rows;
    for (const auto& one : all)
      rows.push_back(one.second);
    return rows;
  }

  // Of points, and where the structure takes them, of ranges.
  std::vector<bool> kinds_of_probes() const {
    for (const capability& one : capabilities())
      if (one.structure == GetParam().structure && !one.ranges) return {true};
    return {true, false};
  }

  // The right answers of an index with these entries.
  answers expect(entries held, bool as_points) const {
    std::sort(held.begin(), held.end());
    answers all;
    all.offsets.push_back(0);
    for (std::size_t i = 0; i < lower_.size(); ++i) {
      const key last = as_points ? lower_[i] : upper_[i];
      auto it = std::lower_bound(held.begin(), held.end(), std::pair(lower_[i], row{0}));
      row smallest = not_found<row>;
      std::uint64_t sum = 0;
      const std::size_t before = all.rows.size();
      for (; it != held.end() && it->first <= last; ++it) {
        smallest = std::min(smallest, it->second);
        sum += it->second;
        all.rows.push_back(it->second);
      }
      all.first.push_back(smallest);
      all.counts.push_back(all.rows.size() - before);
      all.sums.push_back(sum);
      all.offsets.push_back(all.rows.size());
    }
    return all;
  }

  // Checks all answers of an index that should hold these entries.
  void check(const index& tested, const entries& held) const {
    ASSERT_EQ(tested.info().entries, held.size());
    const auto lower = at().upload(lower_);
    const auto upper = at().upload(upper_);
    for (const bool as_points : kinds_of_probes()) {
      SCOPED_TRACE(as_points ? "points" : "ranges");
      const probes batch = as_points ? points(column(lower)) : ranges(column(lower), column(upper));
      answers got;
      buffer<row> firsts(at(), batch.size());
      tested.first(at(), batch, std::span(firsts.data(), firsts.size()));
      got.first = at().download(firsts);
      buffer<std::uint64_t> numbers(at(), batch.size());
      tested.count(at(), batch, std::span(numbers.data(), numbers.size()));
      got.counts = at().download(numbers);
      tested.sum(at(), batch, std::span(numbers.data(), numbers.size()));
      got.sums = at().download(numbers);
      const matches found = tested.rows(at(), batch);
      got.offsets = at().download(found.offsets);
      got.rows.resize(found.total);
      at().copy_out(got.rows.data(), found.rows.data(), found.rows.bytes());
      ASSERT_TRUE(got == expect(held, as_points));
    }
  }

  // Makes an operation fail that turns an index with `before` into one with `after`.
  template <class Operation>
  void check_change(const std::string& name, const entries& before, const entries& after,
                    Operation&& operation) {
    std::unique_ptr<index> changed = make();
    const index_info info = changed->info();
    std::size_t bytes = meter_->current();
    fail_in_turn(
        name, [&] { operation(*changed); },
        [&] {
          EXPECT_EQ(meter_->current(), bytes);
          EXPECT_EQ(changed->info().n, info.n);
          EXPECT_EQ(changed->info().max_row_id, info.max_row_id);
          check(*changed, before);
        },
        [&] {
          check(*changed, after);
          changed = make();
          bytes = meter_->current();
        });
  }

  static constexpr row size = 1500;
  static constexpr std::size_t probes_size = 300;

  std::mt19937_64 random_ = generator();
  mutable std::optional<tracking_resource> meter_;
  entries first_;
  std::vector<key> lower_;
  std::vector<key> upper_;
};

INSTANTIATE_TEST_SUITE_P(all, failing_keys, testing::ValuesIn(subjects()));

TEST_P(failing_keys, build) {
  const auto keys = at().upload(keys_of(first_));
  std::unique_ptr<index> built;
  fail_in_turn(
      "build", [&] { built = make(column(keys)); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        check(*built, first_);
        built.reset();
      });
}

TEST_P(failing_keys, queries) {
  const auto built = make();
  const auto lower = at().upload(lower_);
  const auto upper = at().upload(upper_);
  for (const bool as_points : kinds_of_probes()) {
    SCOPED_TRACE(as_points ? "points" : "ranges");
    const probes batch = as_points ? points(column(lower)) : ranges(column(lower), column(upper));
    const answers expected = expect(first_, as_points);
    const context plain = at();
    const context metered{*meter_, plain.stream};
    const std::size_t bytes = meter_->current();
    const auto asks = [&]<class T>(const std::string& name, const std::vector<T>& wanted,
                                   const auto& ask) {
      // What a failed call must not touch.
      const std::vector<T> untouched(wanted.size(), T{77});
      buffer<T> out = at().upload(untouched);
      fail_in_turn(
          name, [&] { ask(metered, std::span<T>(out.data(), out.size())); },
          [&] {
            EXPECT_EQ(meter_->current(), bytes);
            // On a device, work queued before the failure may have been done.
            if (!tested_by_emulation()) {
              EXPECT_EQ(at().download(out), untouched);
            }
          },
          [&] {
            EXPECT_EQ(at().download(out), wanted);
            out = at().upload(untouched);
          });
      check(*built, first_);
    };
    asks("first", expected.first,
         [&](const context& on, auto out) { built->first(on, batch, out); });
    asks("count", expected.counts,
         [&](const context& on, auto out) { built->count(on, batch, out); });
    asks("sum", expected.sums, [&](const context& on, auto out) { built->sum(on, batch, out); });
    asks("offsets", expected.offsets,
         [&](const context& on, auto out) { built->offsets(on, batch, out); });
    const auto offsets = at().upload(expected.offsets);
    asks("rows", expected.rows, [&](const context& on, auto out) {
      built->rows(on, batch, std::span(offsets.data(), offsets.size()), out);
    });
    fail_in_turn(
        "all rows", [&] { EXPECT_EQ(built->rows(metered, batch).total, expected.rows.size()); },
        [&] { EXPECT_EQ(meter_->current(), bytes); }, [] {});
    std::vector<std::uint32_t> bits(built->info().max_row_id / 32 + 1);
    for (const row id : expected.rows)
      bits[id / 32] |= std::uint32_t{1} << id % 32;
    auto words = at().upload(bits);
    fail_in_turn(
        "bitset", [&] { built->bitset(metered, batch, built->info().max_row_id + 1, words); },
        [&] { EXPECT_EQ(meter_->current(), bytes); },
        [&] { EXPECT_EQ(at().download(words), bits); });
  }
}

TEST_P(failing_keys, changes) {
  if (tested_by_emulation() && !is_drawn(testing::PrintToString(GetParam())))
    GTEST_SKIP() << "left to other runs, since a subject takes long";
  const auto built = make();
  stream_t stream = context(at()).stream;
  if (dynamic_cast<rx*>(built.get()) != nullptr) {
    entries after = first_;
    for (auto& one : after)
      one.first += one.first / 7;
    const auto keys = at().upload(keys_of(after));
    check_change("update", first_, after,
                 [&](index& changed) { dynamic_cast<rx&>(changed).update(stream, column(keys)); });
    entries fewer(first_.begin(), first_.begin() + size / 2);
    const auto fewer_keys = at().upload(keys_of(fewer));
    check_change("update by fewer", first_, fewer, [&](index& changed) {
      dynamic_cast<rx&>(changed).update(stream, column(fewer_keys));
    });
  }
  if (dynamic_cast<cgrx*>(built.get()) != nullptr) {
    check_change("rebuild", first_, first_,
                 [&](index& changed) { dynamic_cast<cgrx&>(changed).rebuild(stream); });
  }
  // All over the column, so that no bucket of a cgrx grows enough for a rebuild of its scene.
  entries insert;
  for (row i = 0; i < size; ++i)
    insert.push_back({below(random_, 3 * size / 2), size + i});
  entries erase(first_.begin(), first_.begin() + size / 3);
  const auto insert_keys = at().upload(keys_of(insert));
  const auto insert_rows = at().upload(rows_of(insert));
  const auto erase_keys = at().upload(keys_of(erase));
  const auto erase_rows = at().upload(rows_of(erase));
  edits batch{.insert = column(insert_keys), .insert_rows = column(insert_rows)};
  entries after = first_;
  after.insert(after.end(), insert.begin(), insert.end());
  check_change("insertions", first_, after, [&](index& changed) { changed.edit(stream, batch); });
  batch.erase = column(erase_keys);
  batch.erase_rows = column(erase_rows);
  after.erase(after.begin(), after.begin() + size / 3);
  check_change("pairs", first_, after, [&](index& changed) { changed.edit(stream, batch); });
  batch.erase_rows.reset();
  std::vector<key> gone = keys_of(erase);
  std::sort(gone.begin(), gone.end());
  std::erase_if(after, [&](const auto& one) {
    return one.second < size && std::binary_search(gone.begin(), gone.end(), one.first);
  });
  check_change("keys", first_, after, [&](index& changed) { changed.edit(stream, batch); });
}

// Through the bytes of a file and back.
TEST_P(failing_keys, files) {
  const auto built = make();
  const context plain = at();
  fail_through_a_file(
      *built, [&] { return to_bytes(at(), *built); },
      [&](const std::vector<std::byte>& file, bool verify) {
        return from_bytes(at().where(), {*meter_, plain.stream}, file, {.verify = verify}).held;
      },
      [&](const index& held) { check(held, first_); }, [&] { return meter_->current(); });
}

// A table without repeated keys is edited in a copy, not built anew.
TEST_P(failing_keys, changes_of_single_keys) {
  if (GetParam().structure.find("hash_") != 0) GTEST_SKIP() << "the same as other changes";
  first_.resize(size / 2);
  for (row i = 0; i < first_.size(); ++i)
    first_[i] = {3 * i, i};
  entries insert;
  entries after = first_;
  for (row i = 0; i < 50; ++i) {
    insert.push_back({3 * i + 1, size + i});
    after.push_back(insert.back());
  }
  entries erase(first_.begin(), first_.begin() + 40);
  after.erase(after.begin(), after.begin() + 40);
  const auto insert_keys = at().upload(keys_of(insert));
  const auto insert_rows = at().upload(rows_of(insert));
  const auto erase_keys = at().upload(keys_of(erase));
  const edits batch{.insert = column(insert_keys),
                    .insert_rows = column(insert_rows),
                    .erase = column(erase_keys)};
  check_change("a few", first_, after,
               [&](index& changed) { changed.edit(context(at()).stream, batch); });
}

// Columns of a key that take rows which they have no place for.
TEST_P(failing_keys, keys_that_grow) {
  if (GetParam().structure == "direct") GTEST_SKIP() << "the numbers are too far apart";
  const context plain = at();
  const context counted{*meter_, plain.stream};
  const std::vector<key> keys{3, 4, 4, 6};
  const auto begins = at().upload(std::vector<std::uint64_t>{0, 4, 8, 13, 13});
  const auto letters = at().upload(std::string_view("morelessagain"));
  const auto new_letters = at().upload(std::string_view("more words"));
  const string_column words{letters.data(), begins.data(), true, keys.size(), {}};
  const auto first = at().upload(keys);
  packed_keys packed;
  const composite_keys columns(at().where(), counted, {column(first), key_part(words)}, &packed);
  const auto built = build(GetParam().structure, at().where(), counted, packed.view(), std::nullopt,
                           GetParam().options);
  const auto more = at().upload(std::vector<key>{key{1} << 40});
  const key_parts added{column(more),
                        string_column{new_letters.data(), begins.data() + 1, true, 1, {}}};
  const auto rows = at().upload(std::vector<row>{4});
  const std::size_t bytes = meter_->current();
  std::optional<grown_index> grown;
  fail_in_turn(
      "grown", [&] { grown.emplace(columns.grown(counted, *built, added, column(rows))); },
      [&] {
        EXPECT_EQ(meter_->current(), bytes);
        EXPECT_EQ(built->info().entries, keys.size());
      },
      [&] {
        EXPECT_EQ(grown->over->info().entries, keys.size() + 1);
        EXPECT_TRUE(grown->keys.holds(at(), added));
        grown.reset();
      });
}

}  // namespace
}  // namespace raydex::test
