// SPDX-License-Identifier: Apache-2.0
#include "tests/random/trial.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace raydex::test {

place::place(const subject& tested, builder build) : tested_(tested), build_(std::move(build)) {
  while (sessions_.size() < most_threads)
    sessions_.push_back(std::make_unique<session>(tested.where));
}

std::optional<std::string> try_case(const place& where, const test_case& tried) {
  try {
    if (tried.joins) {
      try_joins(where, tried);
    } else {
      tried.minima ? try_minima(where, tried) : try_keys(where, tried);
    }
    return std::nullopt;
  } catch (const disagreement& difference) {
    return difference.what();
  }
}

namespace {

bool any_missing(const std::vector<cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const cell& one) { return one.missing; });
}

}  // namespace

std::vector<std::uint8_t> bitmap(const std::vector<cell>& cells, std::uint64_t first_bit) {
  std::vector<std::uint8_t> bits((first_bit + cells.size() + 7) / 8, 0xff);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::uint64_t bit = first_bit + i;
    if (cells[i].missing)
      bits[bit / 8] = static_cast<std::uint8_t>(bits[bit / 8] & ~(1U << bit % 8));
  }
  return bits;
}

placed_column::placed_column(const session& at, key_format format, const std::vector<cell>& cells,
                             const placing& lie, bool masked, std::uint64_t cell::*what) {
  const std::size_t step = std::size_t{format.width} * lie.stride;
  const std::size_t skew = std::size_t{format.width} * lie.skew;
  // Nothing lies behind the last cell.
  std::vector<std::byte> bytes(
      skew + (cells.empty() ? 0 : (cells.size() - 1) * step + format.width), std::byte{0x5a});
  for (std::size_t i = 0; i < cells.size(); ++i)
    std::memcpy(bytes.data() + skew + i * step, &(cells[i].*what), format.width);
  cells_ = at.upload(bytes);
  if (masked || any_missing(cells)) bits_ = at.upload(bitmap(cells, first_bit_of(lie)));
  view_ = column(format, cells_.data() + skew, cells.size(), {bits_.data(), first_bit_of(lie)});
  if (lie.stride != 1) view_.stride = step;
}

placed_ranges::placed_ranges(const session& at, const test_case& of, const std::vector<range>& all,
                             bool as_points) {
  const auto place = [&](cell range::*end) -> const column& {
    std::vector<cell> cells;
    for (const range& one : all)
      cells.push_back(one.*end);
    ends_.emplace_back(at, of.probe(), cells, of.probe_cells, of.masked);
    return ends_.back().view();
  };
  const column lower = place(&range::lower);
  view_ = as_points ? raydex::points(lower) : raydex::ranges(lower, place(&range::upper));
}

}  // namespace raydex::test
