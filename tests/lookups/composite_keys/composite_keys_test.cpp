// SPDX-License-Identifier: Apache-2.0
// An index over packed columns answers as a comparison of all rows, column by column, does.
#include "raydex/composite_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/session.hpp"
#include "tests/lookups/composite_keys/any_cells.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

struct order {
  bool descending = false;
  missing_cells missing = missing_cells::unmatched;
};

class composite : public backend_test {
 protected:
  key_parts placed(const table& from) const {
    key_parts all;
    for (const auto& one : from)
      all.push_back(one->at(at()));
    return all;
  }

  // Builds over a table, and compares all that is asked of it with a look at each row.
  void check(const table& rows, const std::vector<order>& orders, const table& wanted) {
    check(rows, orders, wanted, wanted);
  }
  // `ends`: as many as probes, which are the upper bounds of their ranges.
  void check(const table& rows, const std::vector<order>& orders, const table& wanted,
             const table& ends) {
    const auto columns = placed(rows);
    std::vector<composite_column> described;
    for (std::size_t p = 0; p < columns.size(); ++p)
      described.emplace_back(columns[p], orders[p].descending, orders[p].missing);
    packed_keys packed;
    const composite_keys keys(tested_backend(), at(), described, &packed);
    EXPECT_TRUE(keys.holds(at(), columns));
    EXPECT_EQ(packed.view().format, keys.format());
    expect_same(packed, keys.pack_rows(at(), columns));
    const auto bytes = keys.to_bytes(at());
    const composite_keys kept = composite_keys::from_bytes(tested_backend(), at(), bytes);
    EXPECT_EQ(kept.to_bytes(at()), bytes);
    expect_same(packed, kept.pack_rows(at(), columns));
    compare(keys, *build("pivot_tree", tested_backend(), at(), packed.view()), rows, orders, wanted,
            ends);
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    if (tested_by_emulation() && !is_drawn(test + std::to_string(++tables_))) return;
    SCOPED_TRACE("rows that came in parts");
    const grown_index grown = built_in_parts(described);
    compare(grown.keys, *grown.over, rows, orders, wanted, ends);
  }

  static key_part slice(const key_part& of, std::uint64_t first, std::uint64_t count) {
    if (const auto* const fixed = std::get_if<column>(&of))
      return column(fixed->format, static_cast<const char*>(fixed->data) + first * fixed->step(),
                    count, fixed->validity.from(first));
    const auto& strings = std::get<string_column>(of);
    return string_column{strings.bytes, static_cast<const std::uint32_t*>(strings.offsets) + first,
                         false, count, strings.validity.from(first)};
  }

  // Built over a third of the rows, to which the others come in two batches.
  grown_index built_in_parts(const std::vector<composite_column>& columns) const {
    const std::uint64_t size = std::visit([](auto& one) { return one.size; }, columns[0].cells);
    const std::uint64_t ends[] = {size / 3, size / 3 + (size + 1) / 2, size};
    std::vector<std::uint32_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::vector<composite_column> first;
    for (const composite_column& one : columns)
      first.emplace_back(slice(one.cells, 0, ends[0]), one.descending, one.missing);
    packed_keys packed;
    composite_keys keys(tested_backend(), at(), first, &packed);
    auto over = build("btree", tested_backend(), at(), packed.view());
    grown_index all{std::move(keys), std::move(over)};
    for (std::size_t b = 0; b < 2; ++b) {
      key_parts more;
      for (const composite_column& one : columns)
        more.push_back(slice(one.cells, ends[b], ends[b + 1] - ends[b]));
      const auto rows = at().upload(std::span(numbers).subspan(ends[b], ends[b + 1] - ends[b]));
      all = all.keys.grown(at(), *all.over, more, column(rows));
      EXPECT_TRUE(all.keys.holds(at(), more));
    }
    EXPECT_EQ(all.over->info().n, size);
    return all;
  }

  // Compares all that is asked of an index over a table.
  void compare(const composite_keys& keys, const index& over, const table& rows,
               const std::vector<order>& orders, const table& wanted, const table& ends) {
    const auto probes = placed(wanted);
    const auto bounds = &ends == &wanted ? probes : placed(ends);
    const auto is_there = [&](std::size_t row) {
      for (std::size_t p = 0; p < rows.size(); ++p)
        if (!rows[p]->valid(row) && orders[p].missing == missing_cells::unmatched) return false;
      return true;
    };
    const auto equals = [&](std::size_t row, std::size_t probe, std::size_t columns_of) {
      for (std::size_t p = 0; p < columns_of; ++p) {
        const bool valid = rows[p]->valid(row);
        if (valid != wanted[p]->valid(probe)) return false;
        if (!valid && orders[p].missing == missing_cells::unmatched) return false;
        if (valid && rows[p]->compare(row, *wanted[p], probe) != 0) return false;
      }
      return is_there(row);
    };
    const std::uint64_t size = wanted.front()->size();
    const auto expect_rows = [&](const raydex::probes& batch, const auto& matches) {
      buffer<std::uint64_t> offsets(at(), size + 1);
      over.offsets(at(), batch, offsets);
      const auto begins = at().download(offsets);
      buffer<std::uint32_t> out(at(), begins.back());
      over.rows(at(), batch, offsets, out);
      const auto found = at().download(out);
      for (std::uint64_t i = 0; i < size; ++i) {
        std::vector<std::uint32_t> expected;
        for (std::size_t row = 0; row < rows.front()->size(); ++row)
          if (matches(row, i)) expected.push_back(static_cast<std::uint32_t>(row));
        std::vector<std::uint32_t> own(found.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                                       found.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]));
        std::sort(own.begin(), own.end());
        ASSERT_EQ(own, expected) << "probe " << i;
      }
    };
    const auto all = [&](std::size_t row, std::size_t i) { return equals(row, i, rows.size()); };
    expect_rows(points(keys.pack_points(at(), probes).view()), all);
    for (std::size_t k = 1; k <= rows.size(); ++k) {
      SCOPED_TRACE(k);
      const std::span<const key_part> first(probes.data(), k);
      expect_rows(keys.pack_ranges(at(), first).view(),
                  [&](std::size_t row, std::size_t i) { return equals(row, i, k); });
    }
    check_places(keys, over, rows, orders, wanted, probes, is_there);
    // Bounds of each column, and beginnings of strings.
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (const auto* const prefixes = std::get_if<string_column>(&probes[k]))
        expect_rows(
            keys.pack_prefixes(at(), std::span<const key_part>(probes.data(), k), *prefixes).view(),
            [&](std::size_t row, std::size_t i) {
              return equals(row, i, k) && is_there(row) && rows[k]->valid(row) &&
                     wanted[k]->valid(i) && rows[k]->begins_with(row, *wanted[k], i);
            });
      for (const bool has_lower : {true, false}) {
        for (const bool has_upper : {true, false}) {
          if (!has_lower && !has_upper) continue;
          SCOPED_TRACE(k);
          const auto lower = has_lower ? std::optional(probes[k]) : std::nullopt;
          const auto upper = has_upper ? std::optional(bounds[k]) : std::nullopt;
          expect_rows(
              keys.pack_ranges(at(), std::span<const key_part>(probes.data(), k), lower, upper)
                  .view(),
              [&](std::size_t row, std::size_t i) {
                if (!equals(row, i, k) || !is_there(row) || !rows[k]->valid(row)) return false;
                return (!has_lower ||
                        (wanted[k]->valid(i) && rows[k]->compare(row, *wanted[k], i) >= 0)) &&
                       (!has_upper ||
                        (ends[k]->valid(i) && rows[k]->compare(row, *ends[k], i) <= 0));
              });
        }
      }
    }
  }

  void expect_same(const packed_keys& a, const packed_keys& b) const {
    const auto bits = at().download(a.validity);
    EXPECT_EQ(bits, at().download(b.validity));
    const auto there = [&](auto numbers) {
      for (std::size_t i = 0; i < numbers.size() && !bits.empty(); ++i)
        if ((bits[i / 8] >> (i % 8) & 1) == 0) numbers[i] = 0;
      return numbers;
    };
    EXPECT_EQ(there(at().download(a.narrow)), there(at().download(b.narrow)));
    EXPECT_EQ(there(at().download(a.wide)), there(at().download(b.wide)));
  }

  // Compares ranks, and the closest keys, of points of each number of columns.
  template <class IsThere>
  void check_places(const composite_keys& keys, const index& over, const table& rows,
                    const std::vector<order>& orders, const table& wanted, const key_parts& probes,
                    const IsThere& is_there) const {
    const std::uint64_t size = wanted.front()->size();
    // The order of a row and a probe by their first columns.
    const auto compare = [&](std::size_t row, const table& others, std::size_t other,
                             std::size_t columns_of) {
      for (std::size_t p = 0; p < columns_of; ++p) {
        const bool valid = rows[p]->valid(row);
        if (valid != others[p]->valid(other))
          return valid == (orders[p].missing == missing_cells::last) ? -1 : 1;
        const int found = valid ? rows[p]->compare(row, *others[p], other) : 0;
        if (found != 0) return orders[p].descending ? -found : found;
      }
      return 0;
    };
    const auto first_rows = [&](const packed_keys& packed, bool before) {
      buffer<std::uint32_t> out(at(), size);
      before ? over.predecessor(at(), points(packed.view()), out)
             : over.successor(at(), points(packed.view()), out);
      return at().download(out);
    };
    const auto ranks = [&](const packed_keys& packed) {
      buffer<std::uint64_t> out(at(), size);
      over.rank(at(), points(packed.view()), out);
      return at().download(out);
    };
    for (std::size_t k = 1; k <= rows.size(); ++k) {
      SCOPED_TRACE(k);
      const std::span<const key_part> columns(probes.data(), k);
      const auto packed = [&](closest_number which) {
        return keys.pack_closest(at(), columns, which);
      };
      const auto less = ranks(packed(closest_number::at_least));
      const auto not_greater = ranks(packed(closest_number::above));
      const auto at_most = first_rows(packed(closest_number::at_most), true);
      const auto below = first_rows(packed(closest_number::below), true);
      const auto at_least = first_rows(packed(closest_number::at_least), false);
      const auto above = first_rows(packed(closest_number::above), false);
      for (std::size_t i = 0; i < size; ++i) {
        bool matches = true;
        for (std::size_t p = 0; p < k; ++p)
          matches &= wanted[p]->valid(i) || orders[p].missing != missing_cells::unmatched;
        std::uint64_t counts[3] = {};  // of rows before the probe, equal to it, behind it
        std::optional<std::uint32_t> closest[4];
        for (std::uint32_t row = 0; row < rows.front()->size(); ++row) {
          if (!is_there(row) || !matches) continue;
          const int side = compare(row, wanted, i, k);
          ++counts[side + 1];
          const bool is_of[] = {side <= 0, side<0, side >= 0, side> 0};
          for (int c = 0; c < 4; ++c) {
            if (!is_of[c]) continue;
            auto& best = closest[c];
            const int closer = best ? compare(row, rows, *best, rows.size()) : 0;
            if (!best || (c < 2 ? closer > 0 : closer < 0)) best = row;
          }
        }
        const std::uint64_t nowhere = ~std::uint64_t{0};
        if (!keys.is_full()) {
          ASSERT_EQ(less[i], matches ? counts[0] : nowhere) << "probe " << i;
          ASSERT_EQ(not_greater[i], matches ? counts[0] + counts[1] : nowhere) << "probe " << i;
        }
        const auto none = not_found<std::uint32_t>;
        ASSERT_EQ(at_most[i], closest[0].value_or(none)) << "probe " << i;
        ASSERT_EQ(below[i], closest[1].value_or(none)) << "probe " << i;
        ASSERT_EQ(at_least[i], closest[2].value_or(none)) << "probe " << i;
        ASSERT_EQ(above[i], closest[3].value_or(none)) << "probe " << i;
      }
    }
  }

  template <class T>
  nullable_cells<T> some(std::size_t size, unsigned few, unsigned missing_one_in = 0,
                         T base = T{}) {
    nullable_cells<T> made;
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        made.values.push_back(static_cast<T>(base + static_cast<T>(below(random_, few))));
      } else {
        made.values.push_back(dense_key<T>(below(random_, few)));
      }
      if (missing_one_in != 0) made.there.push_back(below(random_, missing_one_in) != 0);
    }
    return made;
  }
  std::mt19937_64 random_ = generator();

 private:
  int tables_ = 0;  // that were checked
};

constexpr missing_cells ways[] = {missing_cells::unmatched, missing_cells::first,
                                  missing_cells::last};

TEST_F(composite, two_columns_in_each_order) {
  for (const bool descending : {false, true}) {
    for (const missing_cells first : ways) {
      for (const missing_cells second : ways) {
        // Probes go beyond what the columns span.
        const auto rows =
            table_of(some<std::int32_t>(300, 9, 7, -4), some<std::int64_t>(300, 5, 5));
        const auto wanted =
            table_of(some<std::int32_t>(40, 15, 6, -7), some<std::int64_t>(40, 9, 6, -2));
        const auto ends =
            table_of(some<std::int32_t>(40, 15, 6, -5), some<std::int64_t>(40, 9, 6, 0));
        check(rows, {{descending, first}, {!descending, second}}, wanted, ends);
      }
    }
  }
}

TEST_F(composite, columns_of_all_types) {
  const auto made = [&](std::size_t size, unsigned few) {
    return table_of(some<std::uint32_t>(size, few), some<std::array<char, 1>>(size, few),
                    some<std::int32_t>(size, few, 9, -2), some<std::uint64_t>(size, few),
                    some<std::array<char, 6>>(size, few));
  };
  check(made(600, 3), {{}, {true}, {false, missing_cells::last}, {}, {}}, made(80, 4), made(80, 4));
}

TEST_F(composite, extremes_of_each_type) {
  const auto one = [&]<class T>(T /*type*/) {
    const auto extremes = extreme_keys<T>();
    // The whole span takes all bits that a type of 64 has.
    for (const bool descending : {false, true})
      check(table_of(nullable_cells<T>{extremes},
                     nullable_cells<std::int32_t>{std::vector(extremes.size(), -7)}),
            {{descending}, {}},
            table_of(nullable_cells<T>{extremes},
                     nullable_cells<std::int32_t>{std::vector(extremes.size(), -7)}));
  };
  one(std::uint32_t{});
  one(std::uint64_t{});
  one(std::int32_t{});
  one(std::int64_t{});
  one(float{});
  one(double{});
  one(std::array<char, 3>{});
  one(std::array<char, 8>{});
}

TEST_F(composite, floats_among_each_other) {
  std::vector<float> values;
  for (const float key : extreme_keys<float>())
    for (int i = 0; i < 4; ++i)
      values.push_back(key);
  const auto made = [&](unsigned few) {
    return table_of(some<std::uint32_t>(values.size(), few), nullable_cells<float>{values});
  };
  check(made(2), {{}, {}}, made(3));
  check(made(2), {{}, {true}}, made(3));
}

TEST_F(composite, one_value_and_none) {
  const auto one = [](std::size_t size) {
    return table_of(nullable_cells<std::int64_t>{std::vector<std::int64_t>(size, 12345678901)},
                    nullable_cells<std::uint32_t>{std::vector<std::uint32_t>(size, 7)});
  };
  check(one(100), {{}, {}}, one(9));
  check(one(100), {{}, {}},
        table_of(some<std::int64_t>(9, 3, 2, 12345678900), some<std::uint32_t>(9, 9)));
  check(one(0), {{}, {false, missing_cells::last}}, one(9));
  for (const missing_cells how : ways) {
    const nullable_cells<std::int32_t> nothing{{1, 2, 3}, {false, false, false}};
    check(table_of(nothing, nullable_cells<std::int32_t>{{5, 5, 6}}), {{true, how}, {}},
          table_of(nullable_cells<std::int32_t>{{0, 0, 2}, {false, true, true}},
                   nullable_cells<std::int32_t>{{5, 5, 6}}));
  }
}

TEST_F(composite, sixteen_columns_of_four_bits) {
  const auto made = [&](std::size_t size) {
    table all;
    for (int p = 0; p < 16; ++p) {
      nullable_cells<std::int32_t> one = some<std::int32_t>(size, 2, 0, p);
      one.values[0] = p;
      one.values[1] = p + 15;
      all.push_back(std::make_unique<typed_cells<std::int32_t>>(std::move(one)));
    }
    return all;
  };
  const auto rows = made(300);
  check(rows, std::vector<order>(16), made(20));
  std::vector<order> descending(16, order{true});
  check(rows, descending, made(20));
}

TEST_F(composite, as_many_bits_as_there_are) {
  using limits = std::numeric_limits<std::int32_t>;
  const auto made = [] {
    return table_of(nullable_cells<std::int32_t>{{limits::min(), 0, limits::max(), -1}},
                    nullable_cells<std::int32_t>{{limits::max(), 5, limits::min(), 6}});
  };
  for (const bool descending : {false, true})
    check(made(), {{descending}, {!descending}}, made());
}

TEST_F(composite, columns_far_apart_are_numbered) {
  using limits = std::numeric_limits<std::int32_t>;
  const auto pair = [] {
    return table_of(nullable_cells<std::int32_t>{{limits::min(), 0, limits::max(), -1}},
                    nullable_cells<std::int32_t>{{limits::max(), 5, limits::min(), 6}});
  };
  check(pair(), {{}, {false, missing_cells::last}}, pair());
  const auto all = [] {
    return table_of(nullable_cells<std::uint64_t>{{0, 1, ~std::uint64_t{0}}});
  };
  check(all(), {{false, missing_cells::first}}, all());

  const auto random = [&](std::size_t size, unsigned missing) {
    nullable_cells<std::uint64_t> made = some<std::uint64_t>(size, 30, missing);
    for (std::uint64_t& value : made.values)
      value = value * 0x9e37'79b9'7f4a'7c15;
    return made;
  };
  for (const bool descending : {false, true}) {
    for (const missing_cells how : ways) {
      const std::vector<order> orders{{descending, how}, {!descending}, {descending, how}};
      const auto rows = table_of(random(300, 6), some<std::int32_t>(300, 4), random(300, 0));
      const auto wanted = table_of(random(40, 4), some<std::int32_t>(40, 6, 0, -1), random(40, 9));
      const auto ends = table_of(random(40, 4), some<std::int32_t>(40, 6, 0, -1), random(40, 9));
      check(rows, orders, wanted, ends);
      const auto columns = placed(rows);
      const composite_keys keys(tested_backend(), at(), {{columns[0]}, {columns[1]}, {columns[2]}});
      EXPECT_TRUE(keys.parts()[0].numbered);
      EXPECT_FALSE(keys.parts()[1].numbered);
      EXPECT_GT(keys.resident_bytes(), 0U);
    }
  }
}

// Strings of 0 to 40 bytes, which begin alike.
TEST_F(composite, strings_among_numbers) {
  const auto words = [&](std::size_t size, unsigned few, unsigned missing) {
    nullable_cells<std::string> made;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t drawn = below(random_, few);
      made.values.push_back(
          std::string("https://raydex.example/a/long/path/\0/x").substr(0, drawn * 5) +
          static_cast<char>('a' + below(random_, 3)));
      if (missing != 0) made.there.push_back(below(random_, missing) != 0);
    }
    return made;
  };
  for (const bool descending : {false, true}) {
    for (const missing_cells how : ways) {
      const std::vector<order> orders{{descending, how}, {!descending, how}, {descending}};
      const auto made = [&](std::size_t size) {
        return table_of(some<std::int32_t>(size, 5, 7), words(size, 9, 5), words(size, 4, 0));
      };
      check(made(300), orders, made(40), made(40));
    }
  }
  check(table_of(words(100, 9, 4)), {{}}, table_of(words(40, 9, 4)));
  check(table_of(words(0, 9, 0), some<std::int32_t>(0, 5)), {{}, {}},
        table_of(words(20, 9, 0), some<std::int32_t>(20, 5)));
}

TEST_F(composite, more_bits_than_there_are_by_different_values) {
  // Columns of 2^13 different values, or 2^11: the first four are numbered together, or the first
  // five, then these numbers and the next columns, and so on.
  const std::uint64_t values = small_scale() ? 1 << 11 : 1 << 13;
  constexpr std::uint64_t apart = 0x9e37'79b9'7f4a'7c15;
  const auto made = [&](std::size_t size) {
    table all;
    std::vector<std::uint64_t> rows(size);
    for (std::size_t i = 0; i < size; ++i)
      rows[i] = size < values ? below(random_, values + 9) : i;
    for (std::size_t p = 0; p < 13; ++p) {
      nullable_cells<std::uint64_t> one;
      for (const std::uint64_t row : rows)
        one.values.push_back((row + (below(random_, 9) == 0 ? below(random_, 2) : 0)) *
                             (apart + p));
      all.push_back(std::make_unique<typed_cells<std::uint64_t>>(std::move(one)));
      if (p % 5 != 2) continue;
      auto few = some<std::int32_t>(size, 2, size < values ? 5 : 0);
      all.push_back(std::make_unique<typed_cells<std::int32_t>>(std::move(few)));
    }
    return all;
  };
  const table rows = made(values);
  const auto columns = placed(rows);
  std::vector<composite_column> described;
  for (const key_part& one : columns)
    described.emplace_back(one);
  const composite_keys keys(tested_backend(), at(), described);
  unsigned bits = 0;
  for (const composite_part& one : keys.parts())
    bits += one.bits;
  EXPECT_GT(bits, 2 * 64U);
  // A row with a value that its column has not, be the others those of a row.
  for (std::size_t p = 0; p < columns.size(); ++p) {
    if (keys.parts()[p].format != format_of<std::uint64_t>) continue;
    const auto other = at().upload(std::vector<std::uint64_t>{3 * apart + 1});
    key_parts row;
    for (const key_part& one : columns) {
      column first = std::get<column>(one);
      first.size = 1;
      row.emplace_back(first);
    }
    EXPECT_TRUE(keys.holds(at(), row));
    row[p] = column(other);
    EXPECT_FALSE(keys.holds(at(), row)) << "column " << p;
  }
  const bool drawn = below(random_, 2) != 0;
  for (const bool descending : {false, true}) {
    if (small_scale() && descending != drawn) continue;
    std::vector<order> orders;
    for (std::size_t p = 0; p < rows.size(); ++p)
      orders.push_back({(p % 2 == 0) == descending, ways[p % 3]});
    check(rows, orders, made(25), made(25));
  }
}

TEST_F(composite, numbers_of_up_to_32_bits_are_narrow) {
  const auto rows =
      table_of(nullable_cells<std::int64_t>{{-5, 65530}}, nullable_cells<std::int64_t>{{0, 65535}});
  const auto columns = placed(rows);
  const composite_keys keys(tested_backend(), at(), {{columns[0]}, {columns[1]}});
  EXPECT_EQ(keys.parts()[0].bits, 16U);
  EXPECT_EQ(keys.parts()[1].bits, 16U);
  EXPECT_EQ(to_string(keys.format()), "uint32");
  EXPECT_TRUE(keys.is_full());
  check(rows, {{}, {}},
        table_of(nullable_cells<std::int64_t>{{-5, 65530, 65531}},
                 nullable_cells<std::int64_t>{{0, 65535, 65536}}));
}

TEST_F(composite, cells_apart_and_bitmaps_that_begin_within_a_byte) {
  const auto far = at().upload(std::vector<std::int32_t>{1, -1, 2, -1, 3, -1, 2, -1});
  const auto near = at().upload(std::vector<std::int32_t>{7, 7, 8, 7});
  const auto bits = at().upload(std::vector<std::uint8_t>{0b1011'0000});
  column apart(format_of<std::int32_t>, far.data(), 4);
  apart.stride = 8;
  const column some(near, validity_bitmap(bits.data(), 4));
  const composite_keys keys(tested_backend(), at(), {{apart}, {some}});
  const key_parts columns{apart, some};
  const auto packed = keys.pack_rows(at(), columns);
  EXPECT_EQ(keys.parts()[0].bits, 2U);
  EXPECT_EQ(keys.parts()[1].bits, 0U);  // 8 is missing
  const auto over = build("sorted_array", tested_backend(), at(), packed.view());
  EXPECT_EQ(over->info().entries, 3U);
  const auto points_at = keys.pack_points(at(), columns);
  buffer<std::uint32_t> out(at(), 4);
  over->first(at(), points(points_at.view()), out);
  EXPECT_EQ(at().download(out), (std::vector<std::uint32_t>{0, 1, not_found<std::uint32_t>, 1}));
}

TEST_F(composite, columns_that_fit_in_steps) {
  constexpr std::int64_t day = 86'400'000'000;
  // Days as microseconds, whole numbers as doubles, and two values far apart.
  const auto days = [&](std::size_t size, std::int64_t few, unsigned missing, std::int64_t off) {
    nullable_cells<std::int64_t> made =
        some<std::int64_t>(size, static_cast<unsigned>(few), missing, -2);
    for (std::int64_t& value : made.values)
      value = value * day + off * (static_cast<std::int64_t>(below(random_, 3)) - 1);
    return made;
  };
  const auto whole = [&](std::size_t size, double apart) {
    nullable_cells<double> made = some<double>(size, 5);
    for (double& value : made.values)
      value *= apart;
    return made;
  };
  const auto far = [&](std::size_t size) {
    nullable_cells<std::int32_t> made = some<std::int32_t>(size, 2);
    for (std::int32_t& value : made.values)
      value = value * 2'000'000'000 - 1'000'000'000;
    return made;
  };
  for (const bool descending : {false, true}) {
    for (const missing_cells how : ways) {
      const auto rows = table_of(days(200, 4, 6, 0), whole(200, 1), far(200));
      const auto wanted = table_of(days(30, 6, 5, 1), whole(30, 0.5), far(30));
      const auto ends = table_of(days(30, 6, 5, 1), whole(30, 0.5), far(30));
      check(rows, {{descending, how}, {descending}, {!descending}}, wanted, ends);
    }
  }
  const auto rows = table_of(days(200, 4, 0, 0), far(200), far(200));
  const auto columns = placed(rows);
  const composite_keys keys(tested_backend(), at(), {{columns[0]}, {columns[1]}, {columns[2]}});
  EXPECT_EQ(keys.parts()[0].step % day, 0U);
  // No more columns are counted so than have to be.
  EXPECT_EQ(keys.parts()[1].bits + keys.parts()[2].bits, 62U);
  const auto holds = [&](std::int64_t time) {
    const auto others = table_of(nullable_cells<std::int64_t>{{time}},
                                 nullable_cells<std::int32_t>{{1'000'000'000}},
                                 nullable_cells<std::int32_t>{{-1'000'000'000}});
    return keys.holds(at(), placed(others));
  };
  EXPECT_TRUE(holds(0));
  EXPECT_FALSE(holds(1));
  EXPECT_FALSE(holds(2 * day));
}

TEST_F(composite, what_is_greater_than_all_numbers_has_none) {
  const auto full = at().upload(std::vector<std::uint32_t>{0, ~std::uint32_t{0}});
  const auto half = at().upload(std::vector<std::uint32_t>{1, ~std::uint32_t{0}});
  const key_parts columns{column(full)};
  EXPECT_FALSE(composite_keys(tested_backend(), at(), {{column(half)}}).is_full());
  EXPECT_FALSE(composite_keys(tested_backend(), at(), {{column(full)}, {column(half)}}).is_full());
  EXPECT_TRUE(composite_keys(tested_backend(), at(), {{column(full)}, {column(full)}}).is_full());
  const composite_keys keys(tested_backend(), at(), {{column(full)}});
  EXPECT_TRUE(keys.is_full());
  const auto above = keys.pack_closest(at(), columns, closest_number::above);
  EXPECT_EQ(at().download(above.validity)[0] & 3, 0b01);
  EXPECT_EQ(at().download(above.narrow)[0], 1U);
}

TEST_F(composite, holds_what_it_spans) {
  const auto rows =
      table_of(nullable_cells<std::int32_t>{{1, 9}}, nullable_cells<std::int32_t>{{-3, 3}});
  const auto columns = placed(rows);
  const composite_keys keys(tested_backend(), at(), {{columns[0]}, {columns[1], true}});
  const auto holds = [&](nullable_cells<std::int32_t> first, nullable_cells<std::int32_t> second) {
    const auto others = table_of(std::move(first), std::move(second));
    return keys.holds(at(), placed(others));
  };
  EXPECT_TRUE(holds({{1, 5, 9}}, {{3, 0, -3}}));
  EXPECT_FALSE(holds({{0}}, {{0}}));
  EXPECT_FALSE(holds({{10}}, {{0}}));
  EXPECT_FALSE(holds({{5}}, {{-4}}));
  EXPECT_FALSE(holds({{5}}, {{4}}));
  EXPECT_TRUE(holds({{10}, {false}}, {{0}}));
  EXPECT_TRUE(holds({}, {}));
}

}  // namespace
}  // namespace raydex::test
