// SPDX-License-Identifier: Apache-2.0
// The numbers of keys are those that a sorted set of them gives.
#include "raydex/key_dictionary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/raydex.hpp"
#include "tests/joins/tables.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

using strings = cells_of<std::string>;
using number_cells = std::vector<std::optional<std::uint64_t>>;

// By bytes, whatever sign characters have.
struct bytes_less {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
    });
  }
};
template <class T>
using less_of = std::conditional_t<std::is_same_v<T, std::string>, bytes_less, key_less>;

class dictionary : public backend_test {
 protected:
  // Numbers in host memory.
  number_cells read(const packed_keys& from) const {
    const column all = from.view();
    std::vector<std::uint64_t> cells;
    if (all.format.width == 4) {
      const auto narrow = at().download(from.narrow);
      cells.assign(narrow.begin(), narrow.end());
    } else {
      cells = at().download(from.wide);
    }
    const auto bits = at().download(from.validity);
    number_cells numbers;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool there = bits.empty() || (bits[i / 8] >> (i % 8) & 1) != 0;
      numbers.push_back(there ? std::optional(cells[i]) : std::nullopt);
    }
    return numbers;
  }

  template <class T>
  key_dictionary check(const cells_of<T>& rows, const cells_of<T>& wanted, bool wide = false) {
    const placed_table placed_rows(at(), {rows}, wide);
    const placed_table placed_wanted(at(), {wanted}, !wide);
    packed_keys numbers;
    key_dictionary words(tested_backend(), at(), placed_rows.parts.front(), &numbers);

    std::set<T, less_of<T>> keys;
    for (const auto& one : rows)
      if (one) keys.insert(*one);
    const std::vector<T> sorted(keys.begin(), keys.end());
    const auto number_of = [&](const std::optional<T>& key) -> std::optional<std::uint64_t> {
      if (!key) return std::nullopt;
      const auto first = std::lower_bound(sorted.begin(), sorted.end(), *key, less_of<T>());
      const auto before = static_cast<std::uint64_t>(first - sorted.begin());
      return 2 * before + (first != sorted.end() && !less_of<T>()(*key, *first) ? 1 : 0);
    };
    const auto numbers_of = [&](const cells_of<T>& of) {
      number_cells all;
      std::transform(of.begin(), of.end(), std::back_inserter(all), number_of);
      return all;
    };
    EXPECT_EQ(words.size(), sorted.size());
    EXPECT_EQ(read(numbers), numbers_of(rows)) << "of rows";
    EXPECT_EQ(read(words.numbers(at(), placed_rows.parts.front())), numbers_of(rows));
    EXPECT_EQ(read(words.numbers(at(), placed_wanted.parts.front())), numbers_of(wanted));
    EXPECT_TRUE(words.holds(at(), placed_rows.parts.front()));
    EXPECT_EQ(words.holds(at(), placed_wanted.parts.front()),
              std::all_of(wanted.begin(), wanted.end(),
                          [&](const auto& one) { return !one || keys.count(*one) != 0; }));
    check_order(placed_rows.parts.front(), numbers_of(rows));
    check_by_row(rows, wanted, wide);
    if constexpr (std::is_same_v<T, std::string>) {
      check_prefixes(words, sorted, wanted);
      check_keys(words, sorted);
    } else {
      std::vector<std::uint64_t> codes;
      for (const T& key : sorted)
        codes.push_back(encode(key) >> (8 * sizeof(encode(key)) - 8 * sizeof(T)));
      EXPECT_EQ(at().download(words.codes(at())), codes);
    }
    return words;
  }
  // Numbers as the rows follow that keys are in first, and an index over them.
  template <class T>
  void check_by_row(const cells_of<T>& rows, const cells_of<T>& wanted, bool wide) {
    const placed_table placed_rows(at(), {rows}, wide);
    const placed_table placed_wanted(at(), {wanted}, !wide);
    const key_part& keys = placed_rows.parts.front();
    packed_keys numbers;
    const key_dictionary words(tested_backend(), at(), keys, &numbers, nullptr,
                               key_numbering::by_row);
    EXPECT_EQ(words.numbering(), key_numbering::by_row);

    std::vector<T> different;
    std::map<T, std::uint64_t, less_of<T>> number_of_key;
    std::map<T, std::uint32_t, less_of<T>> first_rows;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (!rows[row] || !number_of_key.emplace(*rows[row], different.size()).second) continue;
      first_rows.emplace(*rows[row], static_cast<std::uint32_t>(row));
      different.push_back(*rows[row]);
    }
    const auto numbers_of = [&](const cells_of<T>& of) {
      number_cells all;
      for (const auto& key : of) {
        const auto found = key ? number_of_key.find(*key) : number_of_key.end();
        const auto number = found == number_of_key.end() ? different.size() : found->second;
        all.push_back(key ? std::optional<std::uint64_t>(number) : std::nullopt);
      }
      return all;
    };
    EXPECT_EQ(words.size(), different.size());
    EXPECT_EQ(read(numbers), numbers_of(rows)) << "of rows";
    EXPECT_EQ(read(words.numbers(at(), keys)), numbers_of(rows));
    const packed_keys found = words.numbers(at(), placed_wanted.parts.front());
    EXPECT_EQ(read(found), numbers_of(wanted));
    EXPECT_TRUE(words.holds(at(), keys));
    EXPECT_EQ(words.holds(at(), placed_wanted.parts.front()),
              std::all_of(wanted.begin(), wanted.end(),
                          [&](const auto& one) { return !one || number_of_key.contains(*one); }));
    if constexpr (std::is_same_v<T, std::string>) {
      check_keys(words, different);
    } else {
      std::vector<std::uint64_t> codes;
      for (const T& key : different)
        codes.push_back(encode(key) >> (8 * sizeof(encode(key)) - 8 * sizeof(T)));
      EXPECT_EQ(at().download(words.codes(at())), codes);
    }
    const auto over = build("direct", tested_backend(), at(), numbers.view());
    buffer<std::uint32_t> firsts(at(), wanted.size());
    over->first(at(), points(found.view()), firsts);
    const auto first = at().download(firsts);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool is_there = wanted[i] && first_rows.contains(*wanted[i]);
      ASSERT_EQ(first[i], is_there ? first_rows.at(*wanted[i]) : not_found<std::uint32_t>) << i;
    }
  }
  // The rows in the order of their numbers, equal ones in the order of the rows.
  void check_order(const key_part& keys, const number_cells& expected) {
    packed_keys numbers;
    packed_keys rows;
    const key_dictionary words(tested_backend(), at(), keys, &numbers, &rows);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted;
    for (std::uint64_t row = 0; row < expected.size(); ++row)
      if (expected[row]) sorted.emplace_back(*expected[row], row);
    std::sort(sorted.begin(), sorted.end());
    const number_cells found = read(numbers);
    const number_cells found_rows = read(rows);
    ASSERT_EQ(found.size(), sorted.size());
    ASSERT_EQ(found_rows.size(), sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      ASSERT_EQ(found[i], sorted[i].first) << i;
      ASSERT_EQ(found_rows[i], sorted[i].second) << i;
    }
  }
  // Some rows of a column, and others behind them.
  template <class T>
  void check_grown(const cells_of<T>& rows, const cells_of<T>& more) {
    cells_of<T> all = rows;
    all.insert(all.end(), more.begin(), more.end());
    std::vector<std::uint32_t> behind(more.size());
    std::iota(behind.begin(), behind.end(), static_cast<std::uint32_t>(rows.size()));
    const auto row_ids = at().upload(behind);
    const placed_table placed_rows(at(), {rows});
    const placed_table placed_more(at(), {more}, true);
    const placed_table placed_all(at(), {all});
    for (const auto& [structure, numbering] : {std::pair("btree", key_numbering::by_order),
                                               std::pair("hash_open", key_numbering::by_order),
                                               std::pair("direct", key_numbering::by_row)}) {
      packed_keys numbers;
      const key_dictionary words(tested_backend(), at(), placed_rows.parts.front(), &numbers,
                                 nullptr, numbering);
      const auto over = build(structure, tested_backend(), at(), numbers.view());
      const grown_dictionary made =
          words.grown(at(), *over, placed_more.parts.front(), column(row_ids));
      const key_dictionary expected(tested_backend(), at(), placed_all.parts.front(), nullptr,
                                    nullptr, numbering);
      const packed_keys wanted = made.words.numbers(at(), placed_all.parts.front());
      ASSERT_EQ(read(wanted), read(expected.numbers(at(), placed_all.parts.front())));
      EXPECT_EQ(made.words.size(), expected.size());
      EXPECT_EQ(made.over->info().structure, structure);
      EXPECT_EQ(made.over->info().n, all.size());
      buffer<std::uint32_t> first(at(), all.size());
      made.over->first(at(), points(wanted.view()), first);
      const auto found = at().download(first);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto place = std::find(all.begin(), all.end(), all[i]) - all.begin();
        ASSERT_EQ(found[i], all[i] ? static_cast<std::uint32_t>(place) : not_found<std::uint32_t>)
            << structure << ' ' << i;
      }
    }
  }
  // Takes the keys back.
  void check_keys(const key_dictionary& words, const std::vector<std::string>& sorted) {
    const owned_strings found = words.keys(at());
    ASSERT_EQ(found.view().size, sorted.size());
    const auto bytes = at().download(found.bytes);
    const auto offsets = at().download(found.offsets);
    for (std::size_t r = 0; r < sorted.size(); ++r)
      ASSERT_EQ(std::string(bytes.data() + offsets[r], bytes.data() + offsets[r + 1]), sorted[r]);
  }
  // Looks for keys that begin with strings.
  void check_prefixes(const key_dictionary& words, const std::vector<std::string>& sorted,
                      const strings& wanted) {
    const placed_table placed_wanted(at(), {wanted});
    const packed_ranges found =
        words.ranges_of_prefixes(at(), std::get<string_column>(placed_wanted.parts.front()));
    const number_cells begins = read(found.lower);
    const number_cells ends = read(found.upper);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(begins[i].has_value(), wanted[i].has_value());
      ASSERT_EQ(ends[i].has_value(), wanted[i].has_value());
      if (!wanted[i]) continue;
      const auto first = std::lower_bound(sorted.begin(), sorted.end(), *wanted[i], bytes_less());
      const auto last = std::find_if(first, sorted.end(), [&](const std::string& key) {
        return key.compare(0, wanted[i]->size(), *wanted[i]) != 0;
      });
      EXPECT_EQ(*ends[i], 2 * static_cast<std::uint64_t>(last - sorted.begin())) << i;
      EXPECT_EQ((*begins[i] + 1) / 2,
                static_cast<std::uint64_t>(first - sorted.begin()) + *begins[i] % 2);
    }
  }
  // Looks up the rows and neighbours of them.
  void check(const strings& rows, bool wide = false) { check(rows, neighbours(rows), wide); }

  // Strings that are a little less or greater, shorter or longer.
  static strings neighbours(const strings& of) {
    strings all{"", std::string(1, '\0'), "\xff", std::string(40, '\xff'), std::nullopt, "m"};
    for (const auto& one : of) {
      if (!one) continue;
      all.insert(all.end(), {*one + '\0', *one + "~", one->substr(0, one->size() / 2)});
      for (const std::size_t size :
           {std::size_t{7}, std::size_t{8}, std::size_t{9}, std::size_t{17}})
        all.emplace_back(one->substr(0, size));
      if (one->empty()) continue;
      for (const std::size_t place : {std::size_t{0}, one->size() / 2, one->size() - 1}) {
        for (const int step : {-1, 1}) {
          std::string other = *one;
          other[place] = static_cast<char>(other[place] + step);
          all.emplace_back(other);
        }
      }
    }
    return all;
  }

  // Of `letters`, with up to `longest` of them behind a prefix; a row in eight is missing.
  static strings random_strings(std::uint64_t seed, std::size_t size, const std::string& letters,
                                std::size_t shortest, std::size_t longest,
                                const std::string& prefix = "", bool some_missing = true) {
    auto random = generator(seed);
    strings all(size);
    for (auto& one : all) {
      if (some_missing && below(random, 8) == 0) continue;
      one = prefix;
      for (auto left = shortest + below(random, longest - shortest + 1); left-- != 0;)
        *one += letters[below(random, letters.size())];
    }
    return all;
  }
  static std::string all_letters() {
    std::string all;
    for (int i = 0; i < 256; ++i)
      all += static_cast<char>(i);
    return all;
  }
};

TEST_F(dictionary, Nothing) {
  check(strings{});
  check(strings{std::nullopt, std::nullopt});
  check(cells_of<std::int64_t>{}, {5, std::nullopt});
}

TEST_F(dictionary, OneString) {
  for (const int size : {0, 1, 7, 8, 9, 15, 16, 17, 24, 100})
    check(strings{std::string(static_cast<std::size_t>(size), 'x')});
}

TEST_F(dictionary, EqualStrings) {
  for (const int size : {0, 3, 8, 16, 40})
    check(strings(100, std::string(static_cast<std::size_t>(size), 'q')));
}

TEST_F(dictionary, Words) {
  for (const bool wide : {false, true}) {
    check(random_strings(1, 3000, "abcdefghij", 0, 12), wide);
    check(random_strings(2, 3000, all_letters(), 0, 40), wide);
  }
  check(random_strings(3, 3000, "abcdefghijklmnop", 1, 6, "", false));
}

// Two letters, so that many words are equal.
TEST_F(dictionary, TiesOfManyWords) {
  check(random_strings(4, 4000, "ab", 0, 20));
  check(random_strings(5, 2000, std::string("a\0", 2), 0, 30));
  check(random_strings(6, 2000, "a", 0, 300));
}

TEST_F(dictionary, UuidsAndAddresses) {
  check(random_strings(7, 3000, all_letters(), 16, 16));
  // Addresses of few networks: the second word alone tells them apart.
  check(random_strings(8, 3000, all_letters(), 8, 8, "\x20\x01\x0d\xb8net1", false));
  check(random_strings(9, 3000, "01", 16, 16));
  for (std::size_t size = 9; size < 16; ++size)
    check(random_strings(size, 3000, std::string("a\0", 2), size, size));
  check(strings{std::string(12, '\0'), std::string(12, 'a'), std::string(11, 'a') + '\0'});
}

// Without missing cells, and from another row on than the first.
TEST_F(dictionary, OneSize) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{13}, std::size_t{16},
                                 std::size_t{17}, std::size_t{40}}) {
    check(random_strings(21, 700, "ab", size, size, "", false), size % 2 == 0);
    check(random_strings(22, 700, all_letters(), size, size, "https://", false));
    const strings rows = random_strings(23, 50, "abc", size, size, "", false);
    const placed_table placed(at(), {rows});
    string_column cut = std::get<string_column>(placed.parts.front());
    cut.offsets = static_cast<const std::byte*>(cut.offsets) + 7 * (cut.wide_offsets ? 8 : 4);
    cut.size -= 7;
    packed_keys numbers;
    const key_dictionary words(tested_backend(), at(), cut, &numbers);
    EXPECT_EQ(read(numbers), read(words.numbers(at(), cut)));
    const std::set<std::optional<std::string>> keys(rows.begin() + 7, rows.end());
    EXPECT_EQ(words.size(), keys.size());
    check_keys(words, [&] {
      std::vector<std::string> sorted;
      for (const auto& one : keys)
        sorted.push_back(*one);
      return sorted;
    }());
  }
}

TEST_F(dictionary, CommonBytes) {
  for (const int common : {1, 7, 8, 9, 63, 64, 65}) {
    const std::string prefix(static_cast<std::size_t>(common), '/');
    check(random_strings(10, 500, "abcdef", 0, 30, prefix));
    check(random_strings(11, 500, all_letters(), 8, 8, prefix));
  }
  // Not common to one of them.
  strings urls = random_strings(12, 500, "abc/", 0, 30, "https://example.com/");
  urls.emplace_back("http");
  check(urls);
}

// Groups that differ far behind the words that all of them share.
TEST_F(dictionary, GroupsThatDifferLate) {
  strings rows;
  for (const char group : {'a', 'b', 'c', 'd'}) {
    for (std::size_t i = 0; i < 50; ++i) {
      std::string own(8 + 100 * static_cast<std::size_t>(group - 'a'), group);
      own += static_cast<char>('a' + i % 10);
      rows.emplace_back(own);
    }
  }
  check(rows);
}

// Longer than a slot of a hash table says.
TEST_F(dictionary, LongStrings) {
  strings rows;
  for (const std::size_t size : {(1U << 20) - 2, (1U << 20) - 1, 1U << 20, (1U << 20) + 1})
    for (const char last : {'a', 'b'})
      rows.emplace_back(std::string(size - 1, 'q') + last);
  const strings wanted{rows[5], rows[2], *rows[7] + 'b', rows[0]->substr(1), std::nullopt};
  check_by_row(rows, wanted, false);
}

TEST_F(dictionary, EndsOfNul) {
  strings rows;
  for (std::size_t size = 0; size <= 40; ++size) {
    rows.emplace_back(std::string(size, '\0'));
    rows.emplace_back("abcdefgh" + std::string(size, '\0'));
    rows.emplace_back("abcdefgh" + std::string(size, '\0') + "z");
  }
  check(rows);
}

TEST_F(dictionary, ManyRows) {
  const std::size_t size = small_scale() ? 5000 : 200'000;
  check(random_strings(13, size, "etaoin", 4, 24), true);
  check(random_strings(14, size, all_letters(), 16, 16, "", false));
}

template <class T>
class numbers_of_type : public dictionary {};
using key_types = testing::Types<std::int32_t, std::uint64_t, std::int64_t, float, double, bytes3>;
TYPED_TEST_SUITE(numbers_of_type, key_types);

TYPED_TEST(numbers_of_type, Cells) {
  auto random = generator(15);
  cells_of<TypeParam> rows;
  cells_of<TypeParam> wanted{std::nullopt};
  for (const TypeParam& key : extreme_keys<TypeParam>()) {
    (below(random, 2) == 0 ? rows : wanted).push_back(key);
    wanted.push_back(key);
  }
  for (int i = 0; i < 500; ++i) {
    const auto key = i % 2 == 0 ? random_key<TypeParam>(random)
                                : dense_key<TypeParam>(static_cast<std::uint64_t>(i / 5));
    (below(random, 2) == 0 ? rows : wanted).push_back(key);
    if (i % 9 == 0) rows.push_back(std::nullopt);
  }
  this->check(rows, wanted);
}

// An index over numbers is one over the strings.
TEST_F(dictionary, IndexOverNumbers) {
  const strings rows = random_strings(16, 1000, "abc", 1, 14);
  const strings lower = neighbours(random_strings(17, 30, "abc", 1, 14));
  strings upper = lower;
  std::rotate(upper.begin(), upper.begin() + 7, upper.end());
  const placed_table placed_rows(at(), {rows});
  const placed_table placed_lower(at(), {lower});
  const placed_table placed_upper(at(), {upper});
  packed_keys numbers;
  const key_dictionary words(tested_backend(), at(), placed_rows.parts.front(), &numbers);
  const auto over = build("pivot_tree", tested_backend(), at(), numbers.view());
  const packed_keys begins = words.numbers(at(), placed_lower.parts.front());
  const packed_keys ends = words.numbers(at(), placed_upper.parts.front());
  buffer<std::uint64_t> counts(at(), lower.size());
  over->count(at(), ranges(begins.view(), ends.view()), counts);
  const auto found = at().download(counts);
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const auto within = [&](const auto& row) {
      const bytes_less less;
      return row && lower[i] && upper[i] && !less(*row, *lower[i]) && !less(*upper[i], *row);
    };
    EXPECT_EQ(found[i], std::count_if(rows.begin(), rows.end(), within)) << i;
  }
}

// Rows come in two batches, the second one with new keys, and all are found by a dictionary and an
// index that know them all.
TEST_F(dictionary, Grows) {
  check_grown(random_strings(24, 300, "abc", 1, 14), random_strings(25, 200, "abcd", 0, 30));
  check_grown(random_strings(26, 300, all_letters(), 16, 16), strings{"short"});
  check_grown(strings{}, random_strings(27, 50, "ab", 0, 9));
  check_grown(strings{std::nullopt}, strings{std::nullopt, "a"});
  check_grown(random_strings(28, 100, "ab", 1, 3), strings{});
  auto random = generator(29);
  cells_of<std::int64_t> keys;
  for (int i = 0; i < 300; ++i)
    keys.push_back(random_key<std::int64_t>(random));
  check_grown(keys, cells_of<std::int64_t>{7, std::nullopt, keys.front(), -7});
}

TEST_F(dictionary, RefusesToGrowByOtherRows) {
  const placed_table rows(at(), {strings{"a", "b"}});
  const placed_table others(at(), {cells_of<std::int64_t>{1, 2}});
  const key_part keys = rows.parts.front();
  packed_keys numbers;
  const key_dictionary words(tested_backend(), at(), keys, &numbers);
  const auto over = build("btree", tested_backend(), at(), numbers.view());
  const auto two = at().upload(std::vector<std::uint32_t>{2, 3});
  const auto wide = at().upload(std::vector<std::uint64_t>{2, 3});
  const auto grow = [&](const index& of, const key_part& by, const column& row_ids) {
    return words.grown(at(), of, by, row_ids);
  };
  expect_error<invalid_argument>([&] { grow(*over, others.parts.front(), column(two)); },
                                 {"keys: they are int64"});
  expect_error<invalid_argument>([&] { grow(*over, keys, column(wide)); },
                                 {"rows: they are uint64"});
  const auto three = at().upload(std::vector<std::uint32_t>{2, 3, 4});
  expect_error<invalid_argument>([&] { grow(*over, keys, column(three)); }, {"rows"});
  // As of a file that somebody changed.
  const auto number = at().upload(std::vector<std::uint32_t>{4});
  expect_error<invalid_argument>(
      [&] { grow(*build("btree", tested_backend(), at(), column(number)), keys, column(two)); },
      {"over: some of its keys are no numbers"});
  expect_error<invalid_argument>(
      [&] { grow(*build("btree", tested_backend(), at(), column(wide)), keys, column(two)); },
      {"over: its keys are uint64"});
}

// An index over keys that ascend, with rows in any order.
TEST_F(dictionary, EntriesInOrder) {
  constexpr std::uint32_t size = 3000;
  constexpr std::uint32_t copies = 3;
  const auto check_first = [&](const auto& keys, const std::vector<std::uint32_t>& rows,
                               const char* structure) {
    const auto placed_keys = at().upload(keys);
    const auto placed_rows = at().upload(rows);
    const auto over =
        build(structure, tested_backend(), at(), column(placed_keys), column(placed_rows));
    buffer<std::uint32_t> first(at(), size);
    over->first(at(), points(column(placed_keys)), first);
    const auto found = at().download(first);
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto begin = rows.begin() + i / copies * copies;
      ASSERT_EQ(found[i], *std::min_element(begin, begin + copies)) << structure << ' ' << i;
    }
  };
  for (const bool descends : {false, true}) {  // among equal keys
    std::vector<std::uint32_t> narrow(size);
    std::vector<std::uint64_t> wide(size);
    std::vector<std::uint32_t> rows(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      narrow[i] = 5 * (i / copies);
      wide[i] = narrow[i];
      const std::uint32_t of_key = descends ? copies - 1 - i % copies : i % copies;
      rows[i] = (size / copies - 1 - i / copies) * copies + of_key;
    }
    for (const char* const structure : {"pivot_tree", "sorted_array", "hash_open"}) {
      check_first(narrow, rows, structure);
      check_first(wide, rows, structure);
    }
  }
}

TEST_F(dictionary, Memory) {
  constexpr std::uint64_t size = 5000;
  const context plain = at();
  // Bytes of each row that stay, with those of strings, and that are held at the most.
  const auto check_bytes = [&](const strings& rows, double stays, double most,
                               key_numbering numbering = key_numbering::by_order) {
    const placed_table placed_rows(at(), {rows});
    const auto build_within = [&](const context& on) {
      packed_keys numbers;
      key_dictionary words(tested_backend(), on, placed_rows.parts.front(), &numbers, nullptr,
                           numbering);
      return std::pair(std::move(words), std::move(numbers));
    };
    limited_resource counted(plain.memory, std::numeric_limits<std::size_t>::max());
    {
      const auto [words, numbers] = build_within({counted, plain.stream});
      EXPECT_EQ(words.resident_bytes() + numbers.narrow.bytes(), counted.held());
      EXPECT_LT(static_cast<double>(words.resident_bytes()),
                stays * size + (1 << 15));  // with the root
    }
    EXPECT_EQ(counted.held(), 0);
    EXPECT_LT(static_cast<double>(counted.peak()), most * size);
    check_scarce_builds(plain, counted.peak(), build_within);
  };
  check_bytes(random_strings(18, size, all_letters(), 16, 16, "", false), 17, 17 + 60);
  check_bytes(random_strings(19, size, "abcdefghij", 12, 20, "", false), 25 + 20, 25 + 20 + 60);
  check_bytes(random_strings(20, size, "ab", 30, 40, "", false), 29 + 40, 29 + 40 + 100);
  const auto by_row = key_numbering::by_row;
  check_bytes(random_strings(18, size, all_letters(), 16, 16, "", false), 43, 43 + 13, by_row);
  check_bytes(random_strings(19, size, "abcdefghij", 12, 20, "", false), 40 + 17, 40 + 17 + 13,
              by_row);
  check_bytes(random_strings(32, size, "ab", 12, 12, "", false), 43, 43 + 13 + 12, by_row);
}

TEST_F(dictionary, ByRowHasNoOrder) {
  const placed_table rows(at(), {strings{"b", "a"}});
  packed_keys numbers;
  packed_keys row_ids;
  expect_error<invalid_argument>(
      [&] {
        const key_dictionary none(tested_backend(), at(), rows.parts.front(), &numbers, &row_ids,
                                  key_numbering::by_row);
      },
      {"rows: numbers by_row are in no order of keys"});
  const key_dictionary words(tested_backend(), at(), rows.parts.front(), nullptr, nullptr,
                             key_numbering::by_row);
  expect_error<unsupported>(
      [&] { words.ranges_of_prefixes(at(), std::get<string_column>(rows.parts.front())); },
      {"prefixes: numbers by_row"});
}

TEST_F(dictionary, OtherKeys) {
  const placed_table rows(at(), {strings{"a"}});
  const placed_table others(at(), {cells_of<std::int64_t>{1}});
  const key_dictionary words(tested_backend(), at(), rows.parts.front());
  expect_error<invalid_argument>([&] { words.numbers(at(), others.parts.front()); },
                                 {"keys: they are int64, but those of the dictionary are strings"});
  const key_dictionary numbers(tested_backend(), at(), others.parts.front());
  packed_keys row_ids;
  expect_error<invalid_argument>(
      [&] {
        const key_dictionary none(tested_backend(), at(), rows.parts.front(), nullptr, &row_ids);
      },
      {"rows: they are those of numbers; give numbers_of_rows, too"});
  expect_error<invalid_argument>(
      [&] { numbers.ranges_of_prefixes(at(), std::get<string_column>(rows.parts.front())); },
      {"prefixes: the dictionary is of no strings"});
  expect_error<invalid_argument>([&] { words.codes(at()); },
                                 {"codes: the dictionary is of strings"});
}

}  // namespace
}  // namespace raydex::test
