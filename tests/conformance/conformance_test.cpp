// SPDX-License-Identifier: Apache-2.0
// Every structure answers every query like the oracle: structure x options x key type x column, on
// the backend that this program was built for. A test's name lists what it combines, so a failure
// says where to look.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "raydex/raydex.hpp"
#include "tests/conformance/columns.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/conformance/tested_options.hpp"
#include "tests/support/repairs.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

// Whether each combination takes long; then fewer are tested.
bool sparse() {
  return tested_by_emulation() || small_scale();
}

// ---- one column, all queries

// A column in the backend's memory.
template <class T>
struct uploaded {
  buffer<T> cells;
  buffer<std::uint8_t> bits;
  column view;

  uploaded(const session& at, const std::vector<std::optional<T>>& content, bool with_bits)
      : cells(at.upload(test::cells(content))),
        bits(at.upload(bitmap(content))),
        view(cells, with_bits ? bits.data() : nullptr) {}
};

template <class T>
bool any_missing(const std::vector<std::optional<T>>& column) {
  return std::any_of(column.begin(), column.end(), [](const auto& cell) { return !cell; });
}

// Checks all queries of one index against expected rows.
class checker {
 public:
  checker(const session& at, const index& tested, const probes& batch,
          const std::vector<std::vector<std::uint64_t>>& expected)
      : at_(at), index_(tested), batch_(batch), expected_(expected) {}

  template <class RowId>
  void first() const {
    buffer<RowId> out(at_, batch_.size());
    index_.first(at_, batch_, std::span<RowId>(out.data(), out.size()));
    const std::vector<RowId> first = at_.download(out);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const auto& wanted = expected_[i];
      ASSERT_EQ(first[i], wanted.empty()
                              ? not_found<RowId>
                              : static_cast<RowId>(*std::min_element(wanted.begin(), wanted.end())))
          << "first of probe " << i;
    }
  }

  template <class RowId>
  void rows() const {
    const matches found = index_.rows(at_, batch_);
    const std::vector<std::uint64_t> offsets = at_.download(found.offsets);
    std::vector<RowId> rows(found.total);
    at_.copy_out(rows.data(), found.rows.data(), found.rows.bytes());
    ASSERT_EQ(offsets.size(), expected_.size() + 1);
    ASSERT_EQ(offsets.front(), 0);
    ASSERT_EQ(offsets.back(), found.total);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const std::vector<std::uint64_t> got(
          rows.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
          rows.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
      ASSERT_EQ(got, expected_[i]) << "rows of probe " << i;
    }
  }

  // Row ids of 64 bits, which all indexes give; what is behind them stays as it was.
  void wide_rows() const {
    constexpr std::uint64_t untouched = 77;
    std::vector<std::uint64_t> all;
    for (const auto& wanted : expected_)
      all.insert(all.end(), wanted.begin(), wanted.end());
    all.insert(all.end(), 3, untouched);

    buffer<std::uint64_t> offsets(at_, batch_.size() + 1);
    index_.offsets(at_, batch_, offsets);
    auto rows = at_.upload(std::vector<std::uint64_t>(all.size(), untouched));
    index_.rows(at_, batch_, offsets, rows);
    ASSERT_EQ(at_.download(rows), all) << "wide rows";
  }

  // Bits of rows; those of words that were something else before.
  void bitset() const {
    const std::uint64_t size = index_.info().max_row_id + 1;
    std::vector<std::uint32_t> bits((size + 31) / 32);
    std::uint64_t matched = 0;  // one more than the largest row
    for (const auto& wanted : expected_) {
      for (const std::uint64_t row : wanted) {
        bits[row / 32] |= std::uint32_t{1} << row % 32;
        matched = std::max(matched, row + 1);
      }
    }
    auto words = at_.upload(std::vector<std::uint32_t>(bits.size(), 77));
    index_.bitset(at_, batch_, size, words);
    ASSERT_EQ(at_.download(words), bits) << "bitset";

    if (matched == 0) return;
    const std::span too_few(words.data(), (matched + 30) / 32);
    EXPECT_THROW(index_.bitset(at_, batch_, matched - 1, too_few), invalid_argument);
  }

  void contains() const {
    buffer<std::uint8_t> out(at_, batch_.size());
    index_.contains(at_, batch_, {reinterpret_cast<bool*>(out.data()), out.size()});
    const std::vector<std::uint8_t> found = at_.download(out);
    for (std::size_t i = 0; i < expected_.size(); ++i)
      ASSERT_EQ(found[i], expected_[i].empty() ? 0 : 1) << "contains of probe " << i;
  }

  void count() const {
    buffer<std::uint64_t> out(at_, batch_.size());
    index_.count(at_, batch_, std::span(out.data(), out.size()));
    const auto counts = at_.download(out);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      ASSERT_EQ(counts[i], expected_[i].size()) << "count of probe " << i;
    }
  }

  void sum_of_row_ids() const {
    buffer<std::uint64_t> out(at_, batch_.size());
    index_.sum(at_, batch_, std::span(out.data(), out.size()));
    const auto sums = at_.download(out);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const auto& rows = expected_[i];
      ASSERT_EQ(sums[i], std::accumulate(rows.begin(), rows.end(), std::uint64_t{0}))
          << "sum of probe " << i;
    }
  }

  // Sums of values of type V: integers modulo 2^64, floats that long double adds up exactly.
  template <class V>
  void sum_of_values(std::size_t values, std::mt19937_64& random) const {
    constexpr bool floating = std::is_floating_point_v<V>;
    using out_type =
        std::conditional_t<floating, double,
                           std::conditional_t<std::is_signed_v<V>, std::int64_t, std::uint64_t>>;
    using exact_sum = std::conditional_t<floating, long double, std::uint64_t>;
    std::vector<std::optional<V>> content(values);
    for (auto& cell : content) {
      if (below(random, 5) == 0) continue;
      if constexpr (floating) {
        cell = static_cast<V>(static_cast<std::int64_t>(random() >> 40) - (1 << 23)) / V(64);
      } else {
        cell = static_cast<V>(random());
      }
    }
    const uploaded<V> column(at_, content, true);
    buffer<out_type> out(at_, batch_.size());
    index_.sum(at_, batch_, column.view, std::span(out.data(), out.size()));
    const auto sums = at_.download(out);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      exact_sum wanted = 0;
      for (const std::uint64_t row : expected_[i]) {
        if (content[row]) wanted += static_cast<exact_sum>(*content[row]);
      }
      ASSERT_EQ(sums[i], static_cast<out_type>(wanted)) << "sum of values of probe " << i;
    }
  }

 private:
  const session& at_;
  const index& index_;
  const probes& batch_;
  const std::vector<std::vector<std::uint64_t>>& expected_;
};

struct subject {
  std::string structure;
  backend where;
  option_map options;
};

// Repairs of all columns of a test together: one probe is asked in ten ways, so that of a batch of
// one either none is repaired or each.
struct repair_tally {
  std::uint64_t repaired = 0;
  std::uint64_t most = 0;

  // Counts those of an index that had so many probes, each asked in five ways at least.
  void add(const session& at, const index& of, std::uint64_t probes) {
    repaired += repairs(of, context(at).stream);
    const std::uint64_t more = most_repairs(of, 5 * probes);
    most = std::max(more, most + more);  // the largest number stays what it is
  }
};

// What a structure can do.
capability ability_of(std::string_view structure, backend where) {
  for (const capability& can : capabilities())
    if (can.structure == structure && can.where == where) return can;
  throw invalid_argument("no such structure");
}

// Whether it is an `rx` without a sorted column.
bool is_by_rows(const index& tested) {
  return tested.info().options.find("primitives=rows") != std::string::npos;
}

// Whether a structure knows the order of its keys.
bool has_order(const index& tested) {
  return ability_of(tested.info().structure, tested.info().where).ranges;
}

// Asks where points lie among the keys.
template <class RowId, class T>
void check_places(const session& at, const index& tested, const oracle<T>& expected,
                  const std::vector<std::optional<T>>& asked, const probes& batch) {
  // A cgrx with nodes knows no ranks, either.
  const std::string& options = tested.info().options;
  const bool in_nodes =
      options.find(" node=") != std::string::npos && options.find(" node=off") == std::string::npos;
  const bool refused = in_nodes || is_by_rows(tested) || !has_order(tested);
  buffer<std::uint64_t> ranks(at, asked.size());
  buffer<RowId> rows(at, asked.size());
  for (const bool second : {false, true}) {
    const auto rank = [&] {
      second ? tested.rank_right(at, batch, ranks) : tested.rank(at, batch, ranks);
    };
    if (refused) {
      EXPECT_THROW(rank(), unsupported);
      EXPECT_THROW(tested.predecessor(at, batch, rows), unsupported);
      EXPECT_THROW(tested.successor(at, batch, rows), unsupported);
      continue;
    }
    rank();
    const auto got = at.download(ranks);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const std::uint64_t wanted =
          asked[i] ? expected.rank(*asked[i], second) : not_found<std::uint64_t>;
      ASSERT_EQ(got[i], wanted) << (second ? "rank_right" : "rank") << " of probe " << i;
    }
    for (const closeness which : {closeness::or_equal, closeness::strict}) {
      second ? tested.successor(at, batch, rows, which)
             : tested.predecessor(at, batch, rows, which);
      const auto closest = at.download(rows);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto wanted = static_cast<RowId>(
            asked[i] ? expected.closest(*asked[i], !second, which == closeness::strict)
                     : not_found<std::uint64_t>);
        ASSERT_EQ(closest[i], wanted)
            << (second ? "successor" : "predecessor")
            << (which == closeness::strict ? ", strictly," : "") << " of probe " << i;
      }
    }
  }
}

// Compares all that an index holds.
template <class T>
void check_entries(const session& at, const index& tested, const oracle<T>& expected) {
  using code_and_row = std::pair<std::uint64_t, std::uint64_t>;
  buffer<std::uint64_t> codes(at, expected.entries().size());
  buffer<std::uint64_t> rows(at, expected.entries().size());
  // One with wider row ids has its keys to find them by.
  if (is_by_rows(tested) && tested.info().row_ids == row_id_type::uint32) {
    EXPECT_THROW(tested.entries(at, codes, rows), unsupported);
    return;
  }
  tested.entries(at, codes, rows);
  const auto own_codes = at.download(codes);
  const auto own_rows = at.download(rows);
  std::vector<code_and_row> own;
  std::vector<code_and_row> wanted;
  for (std::size_t i = 0; i < own_codes.size(); ++i) {
    own.emplace_back(own_codes[i], own_rows[i]);
    wanted.emplace_back(encode(expected.entries()[i].key), expected.entries()[i].row);
  }
  std::sort(own.begin(), own.end());
  std::sort(wanted.begin(), wanted.end());
  ASSERT_TRUE(own == wanted) << "entries";
}

// Asks everything of one batch, of points where there are no upper ends.
template <class T>
void check_batch(const session& at, const index& tested, row_id_kind kind,
                 const oracle<T>& expected, const std::vector<std::optional<T>>& lower,
                 const std::optional<std::vector<std::optional<T>>>& upper, std::size_t values,
                 std::mt19937_64& random) {
  SCOPED_TRACE(upper ? "ranges" : "points");
  const std::vector<std::optional<T>>& last = upper ? *upper : lower;
  std::vector<std::vector<std::uint64_t>> rows;
  for (std::size_t i = 0; i < lower.size(); ++i)
    rows.push_back(expected.rows(lower[i], last[i]));

  const uploaded<T> lower_cells(at, lower, any_missing(lower));
  const uploaded<T> upper_cells(at, last, any_missing(last));
  const probes batch =
      upper ? ranges(lower_cells.view, upper_cells.view) : points(lower_cells.view);
  if (upper && !has_order(tested)) {
    buffer<std::uint64_t> counts(at, batch.size());
    EXPECT_THROW(tested.count(at, batch, counts), unsupported);
    EXPECT_THROW(static_cast<void>(tested.rows(at, batch)), unsupported);
    return;
  }
  if (upper && is_by_rows(tested) && sizeof(T) == 8) {
    // Keys may lie too far apart.
    buffer<std::uint64_t> counts(at, batch.size());
    try {
      tested.count(at, batch, counts);
    } catch (const unsupported&) {
      return;
    }
  }
  const checker check(at, tested, batch, rows);
  if (kind != row_id_kind::wide) check.first<std::uint32_t>();
  check.first<std::uint64_t>();
  if (is_by_rows(tested) && kind != row_id_kind::wide) {
    EXPECT_THROW(static_cast<void>(tested.rows(at, batch)), unsupported);
  } else if (kind == row_id_kind::wide) {
    // Listed by position, whatever the structure itself can do.
    check.rows<std::uint64_t>();
    check.wide_rows();
    check.bitset();
  } else {
    check.rows<std::uint32_t>();
    check.wide_rows();
    check.bitset();
  }
  check.contains();
  check.count();
  check.sum_of_row_ids();
  check.sum_of_values<double>(values, random);
  if (!upper && kind == row_id_kind::wide)
    check_places<std::uint64_t>(at, tested, expected, lower, batch);
  if (!upper && kind != row_id_kind::wide)
    check_places<std::uint32_t>(at, tested, expected, lower, batch);
  if (sparse()) return;
  check.sum_of_values<std::uint32_t>(values, random);
  check.sum_of_values<std::uint64_t>(values, random);
  check.sum_of_values<std::int32_t>(values, random);
  check.sum_of_values<std::int64_t>(values, random);
  check.sum_of_values<float>(values, random);
}

// Builds find keys that ascend, and do not sort them. Missing ones may lie anywhere.
template <class T>
void ascend(std::vector<std::optional<T>>& column_content) {
  std::vector<T> keys;
  for (const auto& cell : column_content)
    if (cell) keys.push_back(*cell);
  std::sort(keys.begin(), keys.end(), key_less{});
  auto next = keys.begin();
  for (auto& cell : column_content)
    if (cell) cell = *next++;
}

template <class T>
void check_column(const subject& tested, const session& at, content what, row_id_kind kind,
                  std::size_t size, std::size_t probe_count, repair_tally& tally) {
  SCOPED_TRACE("size " + std::to_string(size) + ", " + std::to_string(probe_count) + " probes");
  auto random = generator(size * 31 + static_cast<std::uint64_t>(what));
  auto column_content = make_column<T>(what, size, random);
  const auto layout = tested.options.find("layout");
  const bool keys_alone = layout != tested.options.end() && layout->second == "keys";
  if (size % 2 == 0 || keys_alone) ascend<T>(column_content);
  const std::size_t values = size + 1 + below(random, 100);
  const auto ids = make_row_ids(kind, size, values, random);
  const oracle<T> expected(column_content, ids);

  const uploaded<T> keys(at, column_content, any_missing(column_content));
  const std::vector<std::uint32_t> narrow_ids(ids.begin(), ids.end());
  const auto narrow = at.upload(narrow_ids);
  const auto wide = at.upload(ids);
  std::optional<column> row_ids;
  if (kind == row_id_kind::narrow) {
    row_ids = column(narrow);
  } else if (kind == row_id_kind::wide) {
    row_ids = column(wide);
  }
  std::unique_ptr<index> built;
  try {
    built = build(tested.structure, tested.where, at, keys.view, row_ids, tested.options);
  } catch (const unsupported& e) {
    const bool not_dense =
        tested.structure == "direct" && (what == content::random || what == content::extremes);
    const bool not_ranks =
        keys_alone && (kind == row_id_kind::narrow || any_missing(column_content));
    ASSERT_TRUE(not_dense || not_ranks) << e.what();
    return;
  }
  // Wide row ids lie beside the structure.
  ASSERT_FALSE(keys_alone && kind == row_id_kind::narrow);
  ASSERT_EQ(built->info().n, size);
  // Some go through the bytes of a file.
  if (size % 4 == 1 && !is_by_rows(*built))
    built = from_bytes(tested.where, at, to_bytes(at, *built), {.verify = size % 8 == 1}).held;

  check_entries(at, *built, expected);

  // A range of keys far apart is one ray per row of a scene that has no sorted column.
  const bool far_apart = what == content::random || what == content::extremes;
  const std::size_t range_count =
      far_apart && is_by_rows(*built) ? std::min(probe_count, 65ul) : probe_count;
  for (const bool as_points : {true, false}) {
    const std::size_t count = as_points ? probe_count : range_count;
    const auto lower = make_probes<T>(column_content, count, random);
    std::optional<std::vector<std::optional<T>>> upper;
    if (!as_points) upper = make_probes<T>(column_content, count, random);
    check_batch<T>(at, *built, kind, expected, lower, upper, values, random);
  }
  tally.add(at, *built, probe_count + range_count);
}

// Sizes around 0, tiles and blocks; a larger one where that is not too slow.
std::vector<std::size_t> sizes() {
  if (sparse()) return {0, 1, 33, 257, 1000};
  return {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 70'001};
}

template <class T>
class conformance : public testing::Test {
 public:
  conformance(subject tested, content what, row_id_kind kind)
      : tested_(std::move(tested)), what_(what), kind_(kind) {}

  void TestBody() override {
    if (const std::string reason = why_unavailable(tested_.where); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    const session at(tested_.where);
    repair_tally tally;
    for (const std::size_t size : sizes()) {
      // A probe may match every row, so this bounds the matches that are compared.
      const std::size_t probe_count = std::min({size * 2 + 7, 1'000'000 / (size + 1), 1001ul});
      check_column<T>(tested_, at, what_, kind_, size, probe_count, tally);
      if (HasFatalFailure()) return;
    }
    // Around the tiles that batches are cut into.
    const std::vector<std::size_t> all{0, 1, 16, 17, 511, 512, 513, 1024, 1025, 3073};
    const std::vector<std::size_t> few{0, 17, 1025};
    for (const std::size_t probe_count : sparse() ? few : all) {
      check_column<T>(tested_, at, what_, kind_, 50, probe_count, tally);
      if (HasFatalFailure()) return;
    }
    ASSERT_LE(tally.repaired, tally.most);
  }

 private:
  subject tested_;
  content what_;
  row_id_kind kind_;
};

// Numbers of matches around those where long ranges are divided among threads.
std::vector<std::size_t> long_ones() {
  if (small_scale()) return {31, 32, 33, 65, 2047, 2048, 2049};
  return {31,   32,   33,   63,   64,   65,   1023,  1024,  1025, 2047,
          2048, 2049, 4095, 4096, 4097, 8192, 16383, 16384, 16385};
}

// Batches whose matches are spread unevenly: few long ranges and heavy keys among many short ones,
// and each alone. `giant` is how often the heaviest key comes.
template <class T>
class uneven : public testing::Test {
 public:
  uneven(subject tested, row_id_kind kind, std::size_t giant)
      : tested_(std::move(tested)), kind_(kind), giant_(giant) {}

  void TestBody() override {
    if (const std::string reason = why_unavailable(tested_.where); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    const session at(tested_.where);
    auto random = generator(giant_);
    make_column(random);
    const std::size_t size = column_.size();
    const auto ids = make_row_ids(kind_, size, size, random);
    const oracle<T> expected(column_, ids);
    const uploaded<T> keys(at, column_, false);
    const auto wide = at.upload(ids);
    const std::unique_ptr<index> built = build(
        tested_.structure, tested_.where, at, keys.view,
        kind_ == row_id_kind::wide ? std::optional(column(wide)) : std::nullopt, tested_.options);
    repair_tally tally;
    const auto check = [&](const std::vector<range>& batch, bool as_points) {
      std::vector<std::optional<T>> lower;
      std::vector<std::optional<T>> upper;
      for (const range& one : batch) {
        lower.emplace_back(dense_key<T>(one.first));
        upper.emplace_back(dense_key<T>(one.second));
      }
      SCOPED_TRACE(std::to_string(batch.size()) + " probes");
      check_batch<T>(at, *built, kind_, expected, lower,
                     as_points ? std::nullopt : std::optional(upper), size, random);
      tally.add(at, *built, batch.size());
    };

    std::vector<range> points = make_points(random);
    std::vector<range> ranges = make_ranges(random);
    for (const bool as_points : {true, false}) {
      std::vector<range>& batch = as_points ? points : ranges;
      const range longest = batch.front();
      check({longest}, as_points);
      std::shuffle(batch.begin(), batch.end(), random);
      check(batch, as_points);
      if (HasFatalFailure()) return;
    }
    std::sort(points.begin(), points.end());  // may take another path
    check(points, true);
    ASSERT_LE(tally.repaired, tally.most);
  }

 private:
  using range = std::pair<std::uint64_t, std::uint64_t>;  // of numbers of keys

  // Keys 0, 2, 4, ... come as often as `long_ones` says, the next one `giant_` times, and those
  // from `singles_` on once.
  void make_column(std::mt19937_64& random) {
    std::vector<std::size_t> often = long_ones();
    often.push_back(giant_);
    for (std::size_t i = 0; i < often.size(); ++i)
      column_.insert(column_.end(), often[i], dense_key<T>(2 * i));
    singles_ = 2 * often.size();
    single_count_ = long_ones().back() + 100;
    for (std::size_t i = 0; i < single_count_; ++i)
      column_.emplace_back(dense_key<T>(singles_ + i));
    std::shuffle(column_.begin(), column_.end(), random);
  }

  // The heaviest key first, all others that are heavy, some single ones, and misses.
  std::vector<range> make_points(std::mt19937_64& random) const {
    std::vector<range> points;
    for (std::uint64_t key = singles_; key-- > 0;)
      points.emplace_back(key, key);
    std::swap(points[0], points[1]);
    for (int i = 0; i < 90; ++i) {
      const std::uint64_t key = singles_ + below(random, single_count_ + 20);
      points.emplace_back(key, key);
    }
    return points;
  }

  // All keys first, then so many single ones, then short ranges and empty ones.
  std::vector<range> make_ranges(std::mt19937_64& random) const {
    std::vector<range> ranges{{0, singles_ + single_count_}};
    for (const std::size_t length : long_ones()) {
      const std::uint64_t first = singles_ + below(random, single_count_ - length);
      ranges.emplace_back(first, first + length - 1);
    }
    for (int i = 0; i < 150; ++i) {
      const std::uint64_t first = singles_ + below(random, single_count_);
      ranges.emplace_back(first, first + below(random, 6) - 1);
    }
    return ranges;
  }

  subject tested_;
  row_id_kind kind_;
  std::size_t giant_;
  std::vector<std::optional<T>> column_;
  std::uint64_t singles_ = 0;
  std::size_t single_count_ = 0;
};

std::string suite_of(const subject& tested) {
  std::string suite = tested.structure + "_" + std::string(to_string(tested.where));
  for (const auto& [option, value] : tested.options)
    suite += "_" + option + "_" + value;
  return suite;
}

template <class T>
void register_uneven(const std::string& test, const subject& tested, row_id_kind kind,
                     std::size_t giant) {
  if (!is_drawn(suite_of(tested) + test)) return;
  testing::RegisterTest(suite_of(tested).c_str(), test.c_str(), nullptr, nullptr, __FILE__,
                        __LINE__,
                        [=]() -> testing::Test* { return new uneven<T>(tested, kind, giant); });
}

// Structures see keys as unsigned integers, whatever their type: with other types, what a type can
// change is tested, and narrow row ids are not.
template <class T>
void register_key_type(const std::string& name, const subject& tested) {
  constexpr bool encoded = !std::is_unsigned_v<T>;
  const std::vector<std::pair<content, std::string>> few{{content::few_distinct, "duplicates"},
                                                         {content::extremes, "extremes"},
                                                         {content::with_missing, "missing"}};
  std::vector<std::pair<content, std::string>> some = few;
  some.emplace_back(content::random, "random");
  const std::vector<std::pair<content, std::string>> all{{content::dense, "dense"},
                                                         {content::random, "random"},
                                                         {content::few_distinct, "duplicates"},
                                                         {content::all_equal, "all_equal"},
                                                         {content::extremes, "extremes"},
                                                         {content::with_missing, "missing"},
                                                         {content::all_missing, "all_missing"}};
  const std::string suite = suite_of(tested);
  const std::vector<std::pair<row_id_kind, std::string>> kinds{{row_id_kind::implicit, ""},
                                                               {row_id_kind::narrow, "_rows32"},
                                                               {row_id_kind::wide, "_rows64"}};
  for (const auto& [what, content_name] : sparse() ? few : encoded ? some : all) {
    for (const auto& [kind, kind_name] : kinds) {
      if ((sparse() || encoded) && kind == row_id_kind::narrow) continue;
      std::string test = name;
      test.append("_").append(content_name).append(kind_name);
      if (!is_drawn(suite + test)) continue;
      testing::RegisterTest(suite.c_str(), test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [tested, what = what, kind = kind]() -> testing::Test* {
                              return new conformance<T>(tested, what, kind);
                            });
    }
  }
}

}  // namespace
}  // namespace raydex::test

void register_tests() {
  using namespace raydex;
  using namespace raydex::test;
  const backend where = tested_backend();
  for (const capability& can : capabilities()) {
    if (can.where != where) continue;
    const auto options = tested_options().find(can.structure);
    const std::vector<option_map> sets =
        options != tested_options().end() ? options->second : std::vector<option_map>{{}};
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const subject tested{can.structure, where, sets[i]};
      // With options, a CPU or an emulation at small scale takes one width each, in turn.
      const bool both_widths = i == 0 || (where != backend::cpu && !small_scale());
      if (both_widths || i % 2 == 0) register_key_type<std::uint32_t>("uint32", tested);
      if (both_widths || i % 2 == 1) register_key_type<std::uint64_t>("uint64", tested);
      if (i % 2 == 0) {
        register_uneven<std::uint32_t>("uint32_uneven", tested, row_id_kind::implicit, 5000);
      } else {
        register_uneven<std::uint64_t>("uint64_uneven_rows64", tested, row_id_kind::wide, 5000);
      }
      if (i == 0 && !small_scale()) {
        constexpr std::size_t giant = (1u << 20) + 1;
        register_uneven<std::uint32_t>("uint32_giant", tested, row_id_kind::implicit, giant);
      }
      if (tested_by_emulation() || i != 0) continue;
      register_key_type<std::int32_t>("int32", tested);
      register_key_type<std::int64_t>("int64", tested);
      if (std::ranges::find(can.keys, key_type::bytes) == can.keys.end()) continue;
      register_key_type<float>("float", tested);
      register_key_type<double>("double", tested);
      register_key_type<std::array<char, 1>>("bytes1", tested);
      register_key_type<std::array<char, 3>>("bytes3", tested);
      register_key_type<std::array<char, 4>>("bytes4", tested);
      register_key_type<std::array<char, 5>>("bytes5", tested);
      register_key_type<std::array<char, 8>>("bytes8", tested);
    }
  }
}
