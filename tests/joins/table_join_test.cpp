// SPDX-License-Identifier: Apache-2.0
// Joins of two tables that are made once: the rows of an index, in the same order, of tables that
// are gone by then.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raydex/core/lookups/hashing.hpp"
#include "raydex/join.hpp"
#include "tests/joins/joined_rows.hpp"
#include "tests/joins/tables.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

class table_join : public backend_test {
 protected:
  // Rows of different keys, but every `heavy`-th has the same one, and every ninth may be missing.
  template <class T>
  static cells_of<T> column_of(std::size_t size, std::uint64_t keys, unsigned heavy, bool missing,
                               std::mt19937_64& random) {
    cells_of<T> made(size);
    for (auto& cell : made) {
      if (missing && below(random, 9) == 0) continue;
      const bool is_heavy = heavy != 0 && below(random, heavy) == 0;
      const std::uint64_t key = is_heavy ? 5 : below(random, keys);
      if constexpr (std::is_same_v<T, std::string>) {
        cell = std::string(key % 33, 'x') + std::to_string(key);
      } else {
        cell = static_cast<T>(key * 0x9e37'79b1);
      }
    }
    return made;
  }

  void check(const table& build, const table& probe, bool missing_equal,
             const std::string& structure = "auto",
             const std::optional<std::uint32_t>& seed = std::nullopt) {
    const found_rows found = find_equal(build, probe, missing_equal);
    for (const join_kind kind : all_join_kinds) {
      const std::unique_ptr<joined> got = [&] {
        const placed_table build_there(at(), build, true);
        const placed_table probe_there(at(), probe);
        return match_tables(tested_backend(), at(), build_there.parts, probe_there.parts, kind,
                            {.structure = structure, .missing_equal = missing_equal, .seed = seed});
      }();
      check_joined(at(), *got, kind, found, asked_rows::both, rows_in(build));
      if (HasFatalFailure()) return;
      if (structure == "auto") check_in_any_order(build, probe, missing_equal, kind, *got);
      if (HasFatalFailure()) return;
    }
  }

  // The rows of a join, as pairs.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_of(const joined& got) const {
    buffer<std::uint64_t> probes(at(), got.size());
    buffer<std::uint64_t> builds(at(), got.size());
    if (got.kind() == join_kind::semi || got.kind() == join_kind::anti) {
      got.rows(at(), gather_maps(probes));
      builds = at().upload(std::vector<std::uint64_t>(got.size()));
    } else {
      got.rows(at(), gather_maps(probes, builds));
    }
    const auto probe_rows = at().download(probes);
    const auto build_rows = at().download(builds);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
    for (std::size_t i = 0; i < probe_rows.size(); ++i)
      pairs.emplace_back(probe_rows[i], build_rows[i]);
    return pairs;
  }

  // The same rows, and the same counts.
  void check_in_any_order(const table& build, const table& probe, bool missing_equal,
                          join_kind kind, const joined& in_order) const {
    const placed_table build_there(at(), build, true);
    const placed_table probe_there(at(), probe);
    const auto got = match_tables(tested_backend(), at(), build_there.parts, probe_there.parts,
                                  kind, {.missing_equal = missing_equal, .order = join_order::any});
    ASSERT_EQ(got->size(), in_order.size());
    ASSERT_EQ(got->unmatched(), in_order.unmatched());
    auto pairs = pairs_of(*got);
    auto expected = pairs_of(in_order);
    std::ranges::sort(pairs);
    std::ranges::sort(expected);
    ASSERT_EQ(pairs, expected);
    buffer<std::uint64_t> counts(at(), got->probes());
    buffer<std::uint64_t> expected_counts(at(), got->probes());
    got->counts(at(), counts);
    in_order.counts(at(), expected_counts);
    ASSERT_EQ(at().download(counts), at().download(expected_counts));
  }
};

TEST_F(table_join, another_number_stands_for_no_row) {
  const auto replaced = [&]<class RowId>(std::vector<RowId> rows, RowId number) {
    buffer<RowId> there = at().upload(rows);
    replace_not_found(tested_backend(), at(), there, number);
    std::replace(rows.begin(), rows.end(), not_found<RowId>, number);
    EXPECT_EQ(at().download(there), rows);
  };
  replaced(std::vector<std::uint32_t>{7, not_found<std::uint32_t>, 0}, 0x8000'0000U);
  replaced(std::vector<std::uint64_t>{not_found<std::uint32_t>, not_found<std::uint64_t>},
           std::uint64_t{5});
  replaced(std::vector<std::uint32_t>{}, 5U);
}

// From 2^14 build rows on the cpu backend divides them.
TEST_F(table_join, of_tables_of_many_sizes) {
  auto random = generator();
  std::vector<std::pair<std::size_t, std::size_t>> sizes{{0, 0}, {0, 3}, {3, 0}, {1, 1}, {700, 65}};
  if (!few_combinations()) {
    sizes.insert(sizes.end(), {{16'384, 500}, {16'385, 0}, {16'385, 3000}});
  }
  for (const auto& [builds, probes] : sizes) {
    for (const bool missing : {false, true}) {
      SCOPED_TRACE(std::to_string(builds) + " by " + std::to_string(probes));
      const std::uint64_t keys = builds + 1;
      const auto both = [&]<class T>(T) {
        check({column_of<T>(builds, keys, 0, missing, random)},
              {column_of<T>(probes, keys, 0, missing, random)}, false);
      };
      both(std::int32_t{});
      both(std::int64_t{});
      both(std::string{});
      check({column_of<std::int32_t>(builds, keys, 0, missing, random)},
            {column_of<std::int32_t>(probes, keys, 0, missing, random)}, true);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(table_join, of_keys_that_many_rows_have) {
  auto random = generator();
  const std::size_t builds = few_combinations() ? 500 : 17'000;
  const auto both = [&]<class T>(T) {
    check({column_of<T>(builds, builds, 2, false, random)},
          {column_of<T>(60, builds, 30, false, random)}, false);
    check({column_of<T>(builds, builds, static_cast<unsigned>(builds / 4), true, random)},
          {column_of<T>(2 * builds, builds, 2, false, random)}, false);
    check({column_of<T>(builds, 1, 0, false, random)}, {column_of<T>(4, 2, 0, false, random)},
          false);
  };
  both(std::int32_t{});
  both(std::uint64_t{});
  both(std::string{});
}

// From 2^18 build rows on a GPU finds the pairs of far fewer probe rows by the build rows.
TEST_F(table_join, of_few_probes) {
  auto random = generator();
  const std::size_t builds = std::size_t{1} << 18;
  const auto check_pairs = [&](const table& build, const table& probe) {
    const placed_table build_there(at(), build, true);
    const placed_table probe_there(at(), probe);
    const auto in_order =
        match_tables(tested_backend(), at(), build_there.parts, probe_there.parts);
    check_in_any_order(build, probe, false, join_kind::inner, *in_order);
    const auto left =
        match_tables(tested_backend(), at(), build_there.parts, probe_there.parts, join_kind::left);
    check_in_any_order(build, probe, false, join_kind::left, *left);
  };
  const auto both = [&]<class T>(T) {
    if (left_to_other_runs(typeid(T).name())) return;
    const auto many = [&](std::uint64_t keys, bool missing) {
      return table{column_of<T>(builds, keys, 0, missing, random)};
    };
    check_pairs(many(builds / 3, true), {column_of<T>(1500, builds, 10, true, random)});
    check_pairs(many(2, false), {column_of<T>(3, 3, 0, false, random)});
    check_pairs(many(builds, false), {cells_of<T>{}});
  };
  both(std::int32_t{});
  both(std::int64_t{});
  both(std::string{});
  if (left_to_other_runs("two columns")) return;
  const table shape{cells_of<std::int64_t>{}, cells_of<std::string>{}};
  check_pairs(make_table(shape, builds, builds / 3, true, random),
              make_table(shape, 1500, builds, true, random));
}

// Of a fourth of the build rows and less the cpu backend makes a table of the probes of semi and
// anti joins, in which build rows of equal hashes are compared.
TEST_F(table_join, of_few_probes_with_hashed_keys) {
  auto random = generator();
  const std::size_t builds = few_combinations() ? 400 : 2000;
  const table pair{cells_of<std::int64_t>{}, cells_of<std::int64_t>{}};
  const table mixed{cells_of<std::int64_t>{}, cells_of<std::string>{}, cells_of<double>{}};
  for (const std::size_t probes : {std::size_t{1}, builds / 40, builds / 4}) {
    for (const std::uint64_t keys : {builds / 50, 4 * builds}) {
      for (const bool missing : {false, true}) {
        SCOPED_TRACE(std::to_string(probes) + " probes, " + std::to_string(keys) + " keys");
        for (const table& shape : {pair, mixed}) {
          check(make_table(shape, builds, keys, missing, random),
                make_table(shape, probes, keys + 1, missing, random), missing);
        }
        check({column_of<std::string>(builds, keys, 3, missing, random)},
              {column_of<std::string>(probes, keys + 1, 0, missing, random)}, false);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Of more than 2^14 probes of a part several blocks of a GPU look up some each.
TEST_F(table_join, of_a_key_that_most_probes_ask_for) {
  auto random = generator();
  const auto both = [&]<class T>(T) {
    for (const std::uint64_t copies : {1U, 3U}) {
      if (left_to_other_runs(typeid(T).name() + std::to_string(copies))) continue;
      const std::size_t builds = few_combinations() ? 6'000 : 9'000;
      check({column_of<T>(builds, builds / copies, 0, false, random)},
            {column_of<T>(20'000, builds / copies, 20, true, random)}, false);
      if (HasFatalFailure()) return;
      cells_of<T> probes = column_of<T>(20'000, builds / copies, 0, false, random);
      for (std::size_t i = 0; i < 18'000; ++i)
        probes[i] = static_cast<T>(5 * 0x9e37'79b1);
      check({column_of<T>(builds, builds / copies, 0, false, random)}, {probes}, false);
    }
  };
  both(std::int32_t{});
  both(std::int64_t{});
}

// On the cpu backend, probes that a filter tells to have no match are left out.
TEST_F(table_join, of_few_rows_with_a_match) {
  auto random = generator();
  const std::size_t builds = few_combinations() ? 1000 : 17'000;
  for (const std::uint64_t others : {1000U, 10U}) {  // for each key of a build row
    for (const bool missing : {false, true}) {
      const auto both = [&]<class T>(T) {
        for (const std::uint64_t copies : {1U, 3U})
          check({column_of<T>(builds, builds / copies, 0, missing, random)},
                {column_of<T>(2 * builds, others * builds / copies, 0, missing, random)}, false);
      };
      both(std::int32_t{});
      both(std::uint64_t{});
      both(std::string{});
      if (HasFatalFailure()) return;
    }
  }
  const auto check_columns = [&](const table& shape, bool missing_equal) {
    check(make_table(shape, builds, builds, true, random),
          make_table(shape, 2 * builds, 20 * builds, true, random), missing_equal);
  };
  for (const bool missing_equal : {false, true}) {
    check_columns({cells_of<std::int32_t>{}, cells_of<bytes3>{}}, missing_equal);
    check_columns({cells_of<std::int64_t>{}, cells_of<std::string>{}, cells_of<double>{}},
                  missing_equal);
  }
}

TEST_F(table_join, of_several_columns) {
  auto random = generator();
  const std::size_t builds = few_combinations() ? 300 : 17'000;
  for (const bool missing_equal : {false, true}) {
    const auto make = [&](const table& shape, std::size_t size) {
      return make_table(shape, size, builds / 2, true, random);
    };
    const table packed{cells_of<std::int32_t>{}, cells_of<bytes3>{}};
    check(make(packed, builds), make(packed, 2000), missing_equal);
    const table hashed{cells_of<std::int64_t>{}, cells_of<std::string>{}, cells_of<double>{}};
    check(make(hashed, builds), make(hashed, 2000), missing_equal);
  }
}

// The key whose hash is 0, which marks empty slots where few probes have a table.
TEST_F(table_join, of_the_key_whose_hash_is_none) {
  const auto check_key = [&]<class Key>(Key) {
    const Key zero = core::key_of(core::hash_by<Key>(7), Key{0});
    for (const bool there : {false, true}) {
      std::vector<Key> builds(100, Key{1000});
      if (there) builds[50] = zero;
      const auto build_there = at().upload(builds);
      const auto probe_there = at().upload(std::vector<Key>{zero, 1000, 5, zero});
      for (const join_kind kind : {join_kind::semi, join_kind::anti}) {
        const join_rows found =
            join_tables(tested_backend(), at(), {column(build_there)}, {column(probe_there)}, kind,
                        join_side::build, {.seed = 7});
        std::vector<std::uint32_t> rows(found.size);
        at().copy_out(rows.data(), found.probe_rows.data(), rows.size() * sizeof(std::uint32_t));
        std::vector<std::uint32_t> wanted =
            there ? std::vector<std::uint32_t>{0, 1, 3} : std::vector<std::uint32_t>{1};
        if (kind == join_kind::anti)
          wanted = there ? std::vector<std::uint32_t>{2} : std::vector<std::uint32_t>{0, 2, 3};
        EXPECT_EQ(rows, wanted);
      }
    }
  };
  check_key(std::uint32_t{});
  check_key(std::uint64_t{});
}

// Keys that a hash does not tell apart, made by undoing it.
TEST_F(table_join, of_keys_with_equal_hashes) {
  constexpr std::uint32_t seed = 5;
  constexpr auto mix = core::hash_by<std::uint64_t>(seed);
  constexpr std::uint64_t hash = 77;
  using numbers = cells_of<std::uint64_t>;
  // The second number of a key whose first one leaves this behind.
  const auto second = [&](std::uint64_t first) {
    return core::key_of(mix, hash) ^ mix(mix(mix(mix.first + 2) ^ first) + 2);
  };
  const auto keys = [&](const std::vector<std::uint64_t>& first) {
    table made{numbers{}, numbers{}};
    for (const std::uint64_t number : first) {
      std::get<numbers>(made[0]).push_back(number);
      std::get<numbers>(made[1]).push_back(number < 10 ? second(number) : number);
    }
    return made;
  };
  std::vector<std::uint64_t> many(40);
  std::iota(many.begin(), many.end(), 20);
  many[7] = 3;
  many[9] = 1;
  // This number leaves behind what a missing one does.
  const std::uint64_t as_missing = mix(mix.first + 2) ^ (mix.first + 1);
  const table with_missing{numbers{as_missing, std::nullopt, 4}, numbers{8, 8, 8}};
  const table some{numbers{as_missing, 4}, numbers{8, 8}};
  const auto repeated = [](table rows) {
    for (table_column& one : rows) {
      numbers& cells = std::get<numbers>(one);
      const numbers own = cells;
      for (unsigned i = 1; i < 6; ++i)
        cells.insert(cells.end(), own.begin(), own.end());
    }
    return rows;
  };
  for (const char* structure : {"auto", "hash_open", "pivot_tree"}) {
    if (tested_backend() == backend::optix && structure != std::string_view("auto")) continue;
    SCOPED_TRACE(structure);
    check(keys({10, 3, 11}), keys({0, 3, 1, 11, 2}), false, structure, seed);
    check(keys({10, 3, 11, 3}), keys({0, 3, 1, 11, 2}), false, structure, seed);
    check(keys({10, 3, 11, 4}), keys({4, 3, 1, 11, 2}), false, structure, seed);
    // Of few probes the cpu backend has a table, in which none of these are told apart.
    check(keys(many), keys({0, 3, 1, 25, 2}), false, structure, seed);
    check(keys(many), keys({1, 1, 25, 90}), false, structure, seed);
    for (const bool missing_equal : {false, true}) {
      check(table{numbers(12, 7), numbers(12, 8)}, some, missing_equal, structure, seed);
      check(repeated(with_missing), with_missing, missing_equal, structure, seed);
      check(with_missing, some, missing_equal, structure, seed);
      check(some, with_missing, missing_equal, structure, seed);
      check(with_missing, with_missing, missing_equal, structure, seed);
    }
  }
}

TEST_F(table_join, by_a_structure_that_is_named) {
  auto random = generator();
  const bool has_rays_alone = tested_backend() == backend::optix;
  check({column_of<std::int32_t>(900, 500, 0, true, random)},
        {column_of<std::int32_t>(700, 500, 0, true, random)}, false,
        has_rays_alone ? "cgrx" : "btree");
  check({column_of<std::string>(900, 500, 0, true, random)},
        {column_of<std::string>(700, 500, 0, true, random)}, true,
        has_rays_alone ? "rx" : "hash_open");
}

TEST_F(table_join, refuses_keys_of_other_formats) {
  const auto numbers = at().upload(std::vector<std::int32_t>{1, 2});
  const auto others = at().upload(std::vector<std::int64_t>{1, 2});
  const auto ask = [&](const key_parts& build, const key_parts& probe, join_kind kind) {
    return match_tables(tested_backend(), at(), build, probe, kind);
  };
  const key_parts key{column(numbers)};
  EXPECT_EQ(ask(key, key, join_kind::inner)->size(), 2);
  expect_error<invalid_argument>([&] { ask(key, {column(others)}, join_kind::inner); },
                                 {"probe", "column 1", "int64"});
  expect_error<invalid_argument>([&] { ask({}, key, join_kind::inner); }, {"build", "0 columns"});
  expect_error<invalid_argument>([&] { ask(key, {}, join_kind::inner); }, {"probe", "0 columns"});
  EXPECT_THROW(ask(key, key, static_cast<join_kind>(9)), invalid_argument);
}

}  // namespace
}  // namespace raydex::test
