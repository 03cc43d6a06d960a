// SPDX-License-Identifier: Apache-2.0
#include "tests/random/oracle.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace raydex::test {

namespace {

using entry = held_keys::entry;

struct before {
  bool operator()(const entry& a, const entry& b) const {
    if (is_less(a.key, b.key)) return true;
    return !is_less(b.key, a.key) && a.row < b.row;
  }
};
struct key_before {
  bool operator()(const entry& a, const entry& b) const { return is_less(a.key, b.key); }
};

std::vector<entry> entries_of(key_format format, const std::vector<cell>& cells,
                              bool explicit_rows) {
  std::vector<entry> entries;
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    if (cells[i].missing) continue;
    entries.push_back({number_of(format, cells[i].bits), explicit_rows ? cells[i].row : i});
  }
  return entries;
}

}  // namespace

held_keys::held_keys(key_format format, const std::vector<cell>& column, bool explicit_rows)
    : format_(format), entries_(entries_of(format, column, explicit_rows)) {
  std::sort(entries_.begin(), entries_.end(), before());
}

std::span<const entry> held_keys::matches(const range& wanted) const {
  if (wanted.lower.missing || wanted.upper.missing) return {};
  const entry lower{number_of(format_, wanted.lower.bits), 0};
  const entry upper{number_of(format_, wanted.upper.bits), 0};
  if (is_less(upper.key, lower.key)) return {};
  const auto begin = std::lower_bound(entries_.begin(), entries_.end(), lower, key_before());
  return {begin, std::upper_bound(begin, entries_.end(), upper, key_before())};
}

void held_keys::edit(const step& batch) {
  std::vector<entry> insert = entries_of(format_, batch.put, true);
  std::vector<entry> erase = entries_of(format_, batch.erase, true);
  const auto erase_all = [&](const auto& less) {
    std::sort(erase.begin(), erase.end(), before());
    std::erase_if(entries_, [&](const entry& held) {
      return std::binary_search(erase.begin(), erase.end(), held, less);
    });
  };
  if (batch.erase_pairs) {
    const std::set<entry, before> inserted(insert.begin(), insert.end());
    const std::set<entry, before> erased(erase.begin(), erase.end());
    std::erase_if(insert, [&](const entry& one) { return erased.contains(one); });
    std::erase_if(erase, [&](const entry& one) { return inserted.contains(one); });
    erase_all(before());
  } else {
    erase_all(key_before());
  }
  entries_.insert(entries_.end(), insert.begin(), insert.end());
  std::sort(entries_.begin(), entries_.end(), before());
}

cell value_at(key_type type, std::uint64_t row, bool masked) {
  // Bits that look random.
  const std::uint64_t mixed = (row + 1) * 0x9e37'79b9'7f4a'7c15 ^ (row + 1) << 29;
  cell made;
  made.missing = masked && mixed % 5 == 0;
  const double sixty_fourths = static_cast<double>(static_cast<std::int64_t>(mixed) >> 40) / 64;
  if (type == key_type::float64) {
    std::memcpy(&made.bits, &sixty_fourths, sizeof sixty_fourths);
  } else if (type == key_type::float32) {
    const auto narrow = static_cast<float>(sixty_fourths);
    std::memcpy(&made.bits, &narrow, sizeof narrow);
  } else {
    made.bits = mixed & mask_of(format_of_type(type));
  }
  return made;
}

std::optional<std::uint64_t> extreme_of(const std::vector<number>& values, key_format position,
                                        const range& wanted, bool rightmost, bool largest) {
  if (wanted.lower.missing || wanted.upper.missing || values.empty()) return std::nullopt;
  const number lower = std::max(number_of(position, wanted.lower.bits), number{0});
  const number upper =
      std::min(number_of(position, wanted.upper.bits), static_cast<number>(values.size() - 1));
  if (lower > upper) return std::nullopt;
  auto best = static_cast<std::uint64_t>(lower);
  for (std::uint64_t i = best; i <= static_cast<std::uint64_t>(upper); ++i) {
    const auto comes_before = [&](std::uint64_t a, std::uint64_t b) {
      return largest ? is_less(values[b], values[a]) : is_less(values[a], values[b]);
    };
    if (rightmost ? !comes_before(best, i) : comes_before(i, best)) best = i;
  }
  return best;
}

bool is_within(std::uint64_t size, key_format position, const range& wanted) {
  if (wanted.lower.missing || wanted.upper.missing) return true;
  const number lower = number_of(position, wanted.lower.bits);
  const number upper = number_of(position, wanted.upper.bits);
  return lower >= 0 && lower <= upper && upper < static_cast<number>(size);
}

}  // namespace raydex::test
