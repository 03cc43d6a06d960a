// SPDX-License-Identifier: Apache-2.0
// Columns that structures are built over, their row ids, and the probes of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "tests/support/keys.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

enum class content { dense, random, few_distinct, all_equal, extremes, with_missing, all_missing };
enum class row_id_kind { implicit, narrow, wide };

template <class T>
std::vector<std::optional<T>> make_column(content what, std::size_t size, std::mt19937_64& random) {
  std::vector<std::optional<T>> column(size);
  const std::vector<T> extremes = extreme_keys<T>();
  const T equal = random_key<T>(random);
  for (std::size_t i = 0; i < size; ++i) {
    switch (what) {
      case content::dense:
        column[i] = dense_key<T>(2 * i);  // gaps, so that there are misses inside
        break;
      case content::random:
        column[i] = random_key<T>(random);
        break;
      case content::few_distinct:
        column[i] = dense_key<T>(below(random, 1 + size / 40));
        break;
      case content::all_equal:
        column[i] = equal;
        break;
      case content::extremes:
        column[i] = extremes[below(random, extremes.size())];
        break;
      case content::with_missing:
        if (below(random, 3) != 0) column[i] = dense_key<T>(below(random, 1 + size));
        break;
      case content::all_missing:
        break;
    }
  }
  std::shuffle(column.begin(), column.end(), random);
  return column;
}

inline std::vector<std::uint64_t> make_row_ids(row_id_kind kind, std::size_t size,
                                               std::size_t values, std::mt19937_64& random) {
  std::vector<std::uint64_t> ids(size);
  std::iota(ids.begin(), ids.end(), 0);
  if (kind == row_id_kind::implicit) return ids;
  for (auto& id : ids)
    id = below(random, values);  // repeated row ids are legal
  return ids;
}

// Keys of the column, their neighbours, extremes, random keys, and missing ones. The first half
// ascends, since sorted probes may take another path.
template <class T>
std::vector<std::optional<T>> make_probes(const std::vector<std::optional<T>>& column,
                                          std::size_t count, std::mt19937_64& random) {
  const std::vector<T> extremes = extreme_keys<T>();
  std::vector<std::optional<T>> probes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = below(random, 8);
    const auto cell = column.empty() ? std::optional<T>{} : column[below(random, column.size())];
    if (kind < 4 && cell) {
      probes.push_back(cell);
    } else if (kind < 6 && cell) {
      probes.push_back(neighbour(*cell, kind == 4));
    } else if (kind == 6) {
      probes.push_back(extremes[below(random, extremes.size())]);
    } else if (below(random, 4) == 0) {
      probes.push_back(std::nullopt);
    } else {
      probes.push_back(random_key<T>(random));
    }
  }
  std::sort(probes.begin(), probes.begin() + static_cast<std::ptrdiff_t>(count / 2),
            [](const auto& a, const auto& b) { return a && b ? key_less{}(*a, *b) : !a && b; });
  return probes;
}

}  // namespace raydex::test
