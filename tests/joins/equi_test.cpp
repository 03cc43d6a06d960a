// SPDX-License-Identifier: Apache-2.0
// Joins by equal keys of one column: every structure of the backend finds the rows that a sorted
// list of the build rows has, in any stretches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/joins/joined_rows.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

// Cells that `make` makes.
template <class Make>
auto filled(std::size_t size, const Make& make) {
  std::vector<std::invoke_result_t<Make>> all(size);
  for (auto& cell : all)
    cell = make();
  return all;
}

// Both sides of a join.
template <class T>
struct workload {
  std::string name;
  cells_of<T> build;
  cells_of<T> probe;
  bool dense = true;  // whether the build keys lie close to each other
};

template <class T>
std::vector<workload<T>> workloads(std::mt19937_64& random) {
  const auto of = [&](std::size_t size, std::uint64_t keys) {
    return filled(size, [&] { return std::optional(dense_key<T>(below(random, keys))); });
  };
  const auto some_of = [&](std::size_t size, std::uint64_t keys) {
    return filled(size, [&] {
      return below(random, 3) != 0 ? std::optional(dense_key<T>(below(random, keys)))
                                   : std::nullopt;
    });
  };
  const auto half_of_one = [&](std::size_t size) {
    return filled(size, [&] {
      return std::optional(dense_key<T>(below(random, 2) != 0 ? 7 : below(random, 1000)));
    });
  };
  // Each key once, with a gap behind it.
  const auto different = [&](std::size_t size, std::uint64_t first) {
    std::uint64_t next = first;
    auto all = filled(size, [&] {
      next += 2;
      return std::optional(dense_key<T>(next));
    });
    std::shuffle(all.begin(), all.end(), random);
    return all;
  };
  const std::vector<T> extremes = extreme_keys<T>();
  const auto of_extremes = [&](std::size_t size) {
    return filled(size, [&] {
      return below(random, 10) != 0 ? std::optional(extremes[below(random, extremes.size())])
                                    : std::nullopt;
    });
  };
  const std::size_t asked = few_combinations() ? 100 : 1025;
  return {{"nothing", {}, {}},
          {"no build rows", {}, of(1025, 50)},
          {"no probe rows", of(3000, 50), {}},
          {"a row each", of(1, 1), of(1, 1)},
          {"one build row", of(1, 1), of(1024, 2)},
          {"different build keys", different(3000, 0), of(1025, 7000)},
          {"the same keys on both sides, different", different(1024, 0), different(1024, 0)},
          {"repeated keys", of(1024, 300), of(1023, 300)},
          {"one key in half of all rows", half_of_one(1025), half_of_one(asked)},
          {"one key", of(1023, 1), of(40, 1)},
          {"no hits", different(1025, 0), different(1024, 1)},
          {"some missing", some_of(3000, 3000), some_of(3000, 3000)},
          {"all build rows missing", cells_of<T>(1025), of(100, 50)},
          {"all probe rows missing", of(1025, 50), cells_of<T>(100)},
          {"extremes", of_extremes(200), of_extremes(100), false}};
}

// How many build rows can match, and whether no two of their keys are equal.
template <class T>
std::pair<std::uint64_t, bool> facts_of(const cells_of<T>& build) {
  std::set<T, key_less> keys;
  std::uint64_t entries = 0;
  for (const auto& cell : build) {
    if (!cell) continue;
    keys.insert(*cell);
    ++entries;
  }
  return {entries, keys.size() == entries};
}

template <class T>
class equi_join : public backend_test {
 protected:
  // The structures, with options that find rows in other ways.
  static std::vector<join_subject> subjects() {
    std::vector<join_subject> all = join_subjects(format_of<T>.type);
    const std::vector<std::pair<std::string, option_map>> more{
        {"sorted_array", {{"layout", "row"}}},
        {"hash_open", {{"placement", "choices"}}},
        {"rx", {{"inverse", "on"}}},
        {"rx", {{"hits", "any"}, {"duplicates", "keep"}}},
        {"cgrx", {{"mapping", "bits"}}}};
    const bool some_types = few_combinations() && !std::is_same_v<T, std::uint64_t>;
    const std::size_t usual = all.size();
    for (std::size_t i = 0; !some_types && i < usual; ++i) {
      for (const auto& [structure, options] : more) {
        if (all[i].structure == structure)
          all.push_back({structure, options, all[i].sparse, all[i].ordered});
      }
    }
    return all;
  }

  void check(const join_subject& subject, const workload<T>& of) const {
    SCOPED_TRACE(subject.name() + ": " + of.name);
    const placed build(at(), of.build);
    const placed probe(at(), of.probe);
    const auto tested =
        build_join(tested_backend(), at(), key_parts{build.view}, subject.for_join());
    const auto [entries, differ] = facts_of(of.build);
    EXPECT_EQ(tested->info().structure, subject.structure);
    EXPECT_EQ(tested->info().where, tested_backend());
    EXPECT_EQ(tested->info().keys, key_comparison::column);
    EXPECT_EQ(tested->info().keys_differ, differ);
    EXPECT_EQ(tested->info().entries, entries);
    const found_rows found = find_equal(of.build, positions(of.build.size()), of.probe);
    for (const join_kind kind : all_join_kinds) {
      const bool pairs = kind != join_kind::semi && kind != join_kind::anti;
      check_joined(at(), *tested->match(at(), key_parts{probe.view}, kind), kind, found,
                   pairs ? asked_rows::in_stretches : asked_rows::both, of.build.size());
      if (this->HasFatalFailure()) return;
    }
    // Points are the same.
    for (const join_kind kind : {join_kind::inner, join_kind::full}) {
      check_joined(at(), *tested->match(at(), points(probe.view), kind), kind, found,
                   asked_rows::both, of.build.size());
    }
  }
};

using key_types = testing::Types<std::int32_t, std::uint64_t, float, double, std::array<char, 5>>;
TYPED_TEST_SUITE(equi_join, key_types);

TYPED_TEST(equi_join, finds_all_equal_keys) {
  auto random = generator();
  const auto all = workloads<TypeParam>(random);
  for (const join_subject& subject : this->subjects()) {
    for (const workload<TypeParam>& of : all) {
      if (!of.dense && !subject.sparse) continue;
      if (left_to_other_runs(subject.name() + of.name)) continue;
      this->check(subject, of);
      if (this->HasFatalFailure()) return;
    }
  }
}

class one_join : public backend_test {
 protected:
  using key = std::uint32_t;

  static cells_of<key> random_keys(std::size_t size, std::uint64_t keys, std::mt19937_64& random) {
    return filled(size, [&] {
      return below(random, 10) != 0 ? std::optional(static_cast<key>(below(random, keys)))
                                    : std::nullopt;
    });
  }

  // Checks joins over an index with these entries. The probe columns are gone when rows are asked
  // for.
  void check_over(const index& over, const cells_of<key>& build,
                  const std::vector<std::uint64_t>& row_ids, const cells_of<key>& asked,
                  asked_rows which = asked_rows::in_stretches) const {
    const auto tested = build_join(at(), over);
    const auto [entries, differ] = facts_of(build);
    EXPECT_EQ(tested->info().structure, over.info().structure);
    EXPECT_EQ(tested->info().options, over.info().options);
    EXPECT_EQ(tested->info().keys, key_comparison::column);
    EXPECT_EQ(tested->info().entries, entries);
    EXPECT_EQ(tested->info().keys_differ, differ);
    const found_rows found = find_equal(build, row_ids, asked);
    for (const join_kind kind : join_kinds) {
      const auto got = [&] {
        const placed probe(at(), asked);
        return tested->match(at(), key_parts{probe.view}, kind);
      }();
      check_joined(at(), *got, kind, found, which);
      if (HasFatalFailure()) return;
    }
  }
};

// More rows of one probe than one group of threads writes.
TEST_F(one_join, writes_many_rows_of_a_probe) {
  auto random = generator();
  cells_of<key> build;
  build.insert(build.end(), 20'000, key{5});
  build.insert(build.end(), 70'000, key{9});
  for (key i = 0; i < 1000; ++i)
    build.emplace_back(10 + i);
  std::shuffle(build.begin(), build.end(), random);
  cells_of<key> probe;
  for (key i = 0; i < 1500; ++i)
    probe.emplace_back(10 + static_cast<key>(below(random, 1100)));
  probe.insert(probe.end(), 2, key{5});
  probe.insert(probe.end(), 1, key{9});
  std::shuffle(probe.begin(), probe.end(), random);
  const found_rows found = find_equal(build, positions(build.size()), probe);
  const placed build_there(at(), build);
  const placed probe_there(at(), probe);
  std::vector<join_subject> subjects = join_subjects(key_type::uint32);
  if (std::ranges::find(subjects, "rx", &join_subject::structure) != subjects.end())
    subjects.push_back({"rx", {{"inverse", "on"}}, true, true});
  for (const join_subject& subject : subjects) {
    SCOPED_TRACE(subject.name());
    const auto tested =
        build_join(tested_backend(), at(), key_parts{build_there.view}, subject.for_join());
    for (const join_kind kind : all_join_kinds) {
      if (left_to_other_runs(subject.name() + std::string(to_string(kind)))) continue;
      check_joined(at(), *tested->match(at(), key_parts{probe_there.view}, kind), kind, found,
                   asked_rows::in_stretches, build.size());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(one_join, is_over_an_index_with_its_row_ids) {
  auto random = generator();
  for (const bool repeated : {false, true}) {
    cells_of<key> entries = random_keys(2000, 700, random);
    if (!repeated) {
      for (key i = 0; i < entries.size(); ++i)
        entries[i] = entries[i] ? std::optional(3 * i) : std::nullopt;
    }
    const cells_of<key> probe = random_keys(1025, repeated ? 800 : 7000, random);
    const placed keys(at(), entries);
    std::vector<std::uint32_t> narrow(entries.size());
    for (std::uint32_t& id : narrow)
      id = static_cast<std::uint32_t>(below(random, 5000));
    std::vector<std::uint64_t> wide(narrow.begin(), narrow.end());
    std::vector<std::uint64_t> huge = wide;
    for (std::uint64_t& id : huge)
      id += 0xffff'f000;
    const auto narrow_there = at().upload(narrow);
    const auto wide_there = at().upload(wide);
    const auto huge_there = at().upload(huge);
    for (const join_subject& subject : join_subjects(key_type::uint32)) {
      SCOPED_TRACE(subject.name() + (repeated ? ", repeated keys" : ", different keys"));
      const auto built = [&](const std::optional<column>& row_ids) {
        return build(subject.structure, tested_backend(), at(), keys.view, row_ids,
                     subject.options);
      };
      check_over(*built(std::nullopt), entries, positions(entries.size()), probe);
      check_over(*built(column(narrow_there)), entries, wide, probe);
      check_over(*built(column(wide_there)), entries, wide, probe);
      check_over(*built(column(huge_there)), entries, huge, probe, asked_rows::wide);
      if (HasFatalFailure()) return;
    }
  }
}

// Numbers of 32 bits do not hold them.
TEST_F(one_join, refuses_maps_that_are_too_narrow) {
  const std::vector<key> keys{1, 2, 3};
  const auto keys_there = at().upload(keys);
  for (const std::uint64_t largest : {0xffff'fffeULL, 0xffff'ffffULL, 0x1'0000'0000ULL}) {
    const auto row_ids = at().upload(std::vector<std::uint64_t>{7, largest, 9});
    const auto over = build("auto", tested_backend(), at(), column(keys_there), column(row_ids));
    const auto tested = build_join(at(), *over);
    const auto got = tested->match(at(), key_parts{column(keys_there)}, join_kind::inner);
    buffer<std::uint64_t> wide_probes(at(), 3);
    buffer<std::uint64_t> wide_builds(at(), 3);
    got->rows(at(), gather_maps(wide_probes, wide_builds));
    EXPECT_EQ(at().download(wide_builds), (std::vector<std::uint64_t>{7, largest, 9}));
    buffer<std::uint32_t> probe_rows(at(), 3);
    buffer<std::uint32_t> build_rows(at(), 3);
    const gather_maps narrow(probe_rows, build_rows);
    if (largest < not_found<std::uint32_t>) {
      got->rows(at(), narrow);
      EXPECT_EQ(at().download(build_rows), (std::vector<std::uint32_t>{7, 0xffff'fffe, 9}));
    } else {
      EXPECT_THROW(got->rows(at(), narrow), invalid_argument);
    }
  }
}

// An index does not know which rows the table has.
TEST_F(one_join, over_an_index_gives_no_build_rows_without_a_match) {
  const auto keys = at().upload(std::vector<key>{3, 1, 2});
  const auto over = build("auto", tested_backend(), at(), column(keys));
  const auto tested = build_join(at(), *over);
  for (const join_kind kind : {join_kind::right, join_kind::full}) {
    expect_error<unsupported>([&] { tested->match(at(), key_parts{column(keys)}, kind); },
                              {std::string(to_string(kind)), "index", "over its column"});
    EXPECT_THROW(tested->match(at(), points(column(keys)), kind), unsupported);
  }
}

TEST_F(one_join, is_not_over_nodes) {
  if (tested_backend() == backend::cuda) GTEST_SKIP() << "cgrx is not offered there";
  const auto keys = at().upload(std::vector<key>{3, 1, 2});
  const option_map nodes{{"node", "32"}};
  const auto over = build("cgrx", tested_backend(), at(), column(keys), std::nullopt, nodes);
  EXPECT_THROW(build_join(at(), *over), unsupported);
  EXPECT_THROW(build_join(tested_backend(), at(), key_parts{column(keys)},
                          {.structure = "cgrx", .options = nodes}),
               unsupported);
}

TEST_F(one_join, follows_an_edited_index) {
  auto random = generator();
  const cells_of<key> first = random_keys(2000, 1000, random);
  const cells_of<key> probe = random_keys(1500, 1100, random);
  const std::vector<key> erased{3, 14, 159, 265, 358};
  const cells_of<key> more = random_keys(300, 1000, random);
  std::vector<std::uint32_t> more_rows(more.size());
  std::iota(more_rows.begin(), more_rows.end(), 2000);
  cells_of<key> after = first;
  for (auto& cell : after) {
    if (cell && std::ranges::find(erased, *cell) != erased.end()) cell.reset();
  }
  after.insert(after.end(), more.begin(), more.end());
  const placed first_there(at(), first);
  const placed more_there(at(), more);
  const placed probe_there(at(), probe);
  const auto rows_there = at().upload(more_rows);
  const auto erased_there = at().upload(erased);
  for (const capability& can : capabilities()) {
    if (can.where != tested_backend() || !can.updates) continue;
    SCOPED_TRACE(can.structure);
    const auto over = build(can.structure, tested_backend(), at(), first_there.view);
    check_over(*over, first, positions(first.size()), probe, asked_rows::both);
    const auto old = build_join(at(), *over);
    over->edit(context(at()).stream, {.insert = more_there.view,
                                      .insert_rows = column(rows_there),
                                      .erase = column(erased_there)});
    EXPECT_THROW(old->match(at(), key_parts{probe_there.view}, join_kind::inner), invalid_argument);
    check_over(*over, after, positions(after.size()), probe, asked_rows::both);
    if (HasFatalFailure()) return;
  }
}

// Where nobody names a structure, an ordered one is taken, that answers all.
TEST_F(one_join, chooses_an_ordered_structure) {
  auto random = generator();
  const cells_of<key> build = random_keys(1500, 400, random);
  const cells_of<key> probe = random_keys(1025, 500, random);
  const placed build_there(at(), build);
  const placed probe_there(at(), probe);
  const found_rows found = find_equal(build, positions(build.size()), probe);
  const auto tested = build_join(tested_backend(), at(), key_parts{build_there.view});
  EXPECT_GT(tested->info().resident_bytes, 0);
  for (const join_kind kind : join_kinds) {
    check_joined(at(), *tested->match(at(), key_parts{probe_there.view}, kind), kind, found);
    check_joined(at(), *tested->match(at(), ranges(probe_there.view, probe_there.view), kind), kind,
                 found);
  }
}

}  // namespace
}  // namespace raydex::test
