// SPDX-License-Identifier: Apache-2.0
// What tests of joins share: columns in the backend's memory, and what a join must answer, given
// the build rows of each probe row.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raydex/join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/raydex.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {

inline constexpr std::array join_kinds{join_kind::inner, join_kind::left, join_kind::semi,
                                       join_kind::anti};
// Of joins by equal keys of columns, ranges, intervals and two inequalities.
inline constexpr std::array all_join_kinds{join_kind::inner, join_kind::left, join_kind::right,
                                           join_kind::full,  join_kind::semi, join_kind::anti};

// Whether each combination takes long; then fewer are tested.
inline bool few_combinations() {
  return tested_by_emulation() || small_scale();
}

// Whether this run leaves out a case of that name, since each takes long and others are like it.
inline bool left_to_other_runs(std::string_view name) {
  return few_combinations() && !is_drawn(name);
}

// The cells of a column; some may be missing.
template <class T>
using cells_of = std::vector<std::optional<T>>;

template <class T>
bool any_missing(const cells_of<T>& content) {
  return std::any_of(content.begin(), content.end(), [](const auto& cell) { return !cell; });
}

// A column in the backend's memory.
template <class T>
struct placed {
  buffer<T> all;
  buffer<std::uint8_t> bits;
  column view;

  placed(const session& at, const cells_of<T>& content)
      : all(at.upload(cells(content))),
        bits(at.upload(bitmap(content))),
        view(all, any_missing(content) ? bits.data() : nullptr) {}
};

// A structure and its options.
struct join_subject {
  std::string structure;
  option_map options;
  bool sparse;  // whether it takes keys that lie any distance apart
  bool ordered;

  join_options for_join() const { return {.structure = structure, .options = options}; }
  std::string name() const {
    std::string all = structure;
    for (const auto& [option, value] : options)
      all.append(" ").append(option).append("=").append(value);
    return all;
  }
};

// The structures of the tested backend that take keys of a type.
inline std::vector<join_subject> join_subjects(key_type type) {
  std::vector<join_subject> all;
  for (const capability& can : capabilities()) {
    if (can.where != tested_backend() || std::ranges::find(can.keys, type) == can.keys.end())
      continue;
    const option_map wide_spans{{"limit", "1024"}};
    all.push_back({can.structure, can.sparse ? option_map{} : wide_spans, can.sparse, can.ranges});
  }
  return all;
}

// The build rows of each probe row, in order.
using found_rows = std::vector<std::vector<std::uint64_t>>;

// Row ids as they are where none are given.
inline std::vector<std::uint64_t> positions(std::size_t size) {
  std::vector<std::uint64_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The build rows with the key of each probe.
template <class T>
found_rows find_equal(const cells_of<T>& build, const std::vector<std::uint64_t>& row_ids,
                      const cells_of<T>& probe) {
  const oracle<T> entries(build, row_ids);
  found_rows found;
  for (const auto& key : probe)
    found.push_back(entries.rows(key, key));
  return found;
}

// The build rows that `matches(build key, probe key)` holds for, by key, then by row.
template <class T, class Predicate>
found_rows find_where(const cells_of<T>& build, const std::vector<std::uint64_t>& row_ids,
                      const cells_of<T>& probe, const Predicate& matches) {
  std::vector<std::pair<T, std::uint64_t>> entries;
  for (std::size_t i = 0; i < build.size(); ++i) {
    if (build[i]) entries.emplace_back(*build[i], row_ids[i]);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    if (key_less{}(a.first, b.first)) return true;
    return !key_less{}(b.first, a.first) && a.second < b.second;
  });
  found_rows found(probe.size());
  for (std::size_t i = 0; i < probe.size(); ++i) {
    if (!probe[i]) continue;
    for (const auto& [key, row] : entries) {
      if (matches(key, *probe[i])) found[i].push_back(row);
    }
  }
  return found;
}

// All rows of a join, and how many each probe row has.
struct expected_rows {
  std::vector<std::uint64_t> probe_rows;
  std::vector<std::uint64_t> build_rows;
  std::vector<std::uint64_t> counts;
  std::uint64_t unmatched = 0;
  bool pairs;  // whether there are build rows

  // `builds`: build rows there are, which only right and full joins need.
  expected_rows(const found_rows& found, join_kind kind, std::uint64_t builds)
      : pairs(kind != join_kind::semi && kind != join_kind::anti) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::vector<std::uint64_t> rows = found[i];
      if (kind == join_kind::semi && rows.size() > 1) rows.erase(rows.begin() + 1, rows.end());
      const bool alone =
          kind == join_kind::left || kind == join_kind::full || kind == join_kind::anti;
      if (kind == join_kind::anti && !rows.empty()) {
        rows.clear();
      } else if (alone && rows.empty()) {
        rows.push_back(not_found<std::uint64_t>);
      }
      probe_rows.insert(probe_rows.end(), rows.size(), i);
      build_rows.insert(build_rows.end(), rows.begin(), rows.end());
      counts.push_back(rows.size());
    }
    if (kind == join_kind::right || kind == join_kind::full) add_unmatched(found, builds);
  }
  std::uint64_t size() const { return probe_rows.size(); }

 private:
  void add_unmatched(const found_rows& found, std::uint64_t builds) {
    std::vector<bool> matched(builds);
    for (const auto& rows : found) {
      for (const std::uint64_t row : rows)
        matched[row] = true;
    }
    for (std::uint64_t row = 0; row < builds; ++row) {
      if (matched[row]) continue;
      probe_rows.push_back(not_found<std::uint64_t>);
      build_rows.push_back(row);
      ++unmatched;
    }
  }
};

// Checks rows of a join from number `first` on, and that nothing beside them is written.
template <class RowId>
void check_rows(const session& at, const joined& tested, const expected_rows& expected,
                std::uint64_t first, std::uint64_t size) {
  SCOPED_TRACE(std::to_string(size) + " rows of " + std::to_string(8 * sizeof(RowId)) +
               " bits from " + std::to_string(first) + " on");
  const std::vector<RowId> untouched(size + 2, RowId{77});
  buffer<RowId> probe_rows = at.upload(untouched);
  buffer<RowId> build_rows = at.upload(untouched);
  tested.rows(at, first,
              gather_maps(row_id_span(probe_rows).type, probe_rows.data() + 1,
                          expected.pairs ? build_rows.data() + 1 : nullptr, size));
  const auto placed_between = [&](const std::vector<std::uint64_t>& rows) {
    std::vector<RowId> all = untouched;
    for (std::uint64_t i = 0; i < size; ++i)
      all[i + 1] = static_cast<RowId>(rows[first + i]);
    return all;
  };
  ASSERT_EQ(at.download(probe_rows), placed_between(expected.probe_rows));
  ASSERT_EQ(at.download(build_rows),
            expected.pairs ? placed_between(expected.build_rows) : untouched);
}

// The same in stretches of sizes that are no multiples of anything.
inline void check_stretches(const session& at, const joined& tested,
                            const expected_rows& expected) {
  auto random = generator(expected.size());
  for (const std::uint64_t size :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000}, (std::uint64_t{1} << 14) + 1}) {
    if (size > expected.size()) break;
    const std::uint64_t last = expected.size() - size;
    const std::uint64_t of_probes = expected.size() - expected.unmatched;
    std::vector<std::uint64_t> firsts{0, below(random, last + 1), below(random, last + 1)};
    if (size == 1000 && expected.size() <= 30 * size) {
      firsts.clear();
      for (std::uint64_t first = 0; first < last; first += size)
        firsts.push_back(first);
    }
    firsts.push_back(last);
    if (expected.unmatched != 0) {
      for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{1}, size / 2, size})
        firsts.push_back(std::min(of_probes - std::min(of_probes, before), last));
    }
    for (const std::uint64_t first : firsts) {
      check_rows<std::uint32_t>(at, tested, expected, first, size);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  check_rows<std::uint64_t>(at, tested, expected, expected.size(), 0);
}

// Which rows of a join are compared.
enum class asked_rows : std::uint8_t {
  wide,          // all, as 64-bit numbers; for row ids that 32 bits do not hold
  both,          // all, as 32-bit numbers, too
  in_stretches,  // and parts of them
};

// Checks all that a batch answers.
inline void check_joined(const session& at, const joined& tested, join_kind kind,
                         const found_rows& found, asked_rows asked = asked_rows::both,
                         std::uint64_t builds = 0) {
  SCOPED_TRACE(to_string(kind));
  const expected_rows expected(found, kind, builds);
  ASSERT_EQ(tested.kind(), kind);
  ASSERT_EQ(tested.probes(), found.size());
  ASSERT_EQ(tested.size(), expected.size());
  ASSERT_EQ(tested.unmatched(), expected.unmatched);
  buffer<std::uint64_t> counts(at, found.size());
  tested.counts(at, counts);
  ASSERT_EQ(at.download(counts), expected.counts);
  check_rows<std::uint64_t>(at, tested, expected, 0, expected.size());
  if (testing::Test::HasFatalFailure() || asked == asked_rows::wide) return;
  check_rows<std::uint32_t>(at, tested, expected, 0, expected.size());
  if (testing::Test::HasFatalFailure() || asked == asked_rows::both) return;
  check_stretches(at, tested, expected);
}

}  // namespace raydex::test
