// SPDX-License-Identifier: Apache-2.0
#include "src/machines/cpu/joins/different_keys.hpp"

#include <cstdint>
#include <optional>

#include "raydex/index.hpp"
#include "src/machines/cpu/parallel.hpp"

namespace raydex::cpu {

namespace {
template <class RowId>
void drop_all(const core::drop_different_keys<RowId>& drop, std::uint64_t size) {
  const auto row_of = [&](std::uint64_t i) -> std::optional<std::uint64_t> {
    const RowId begin = drop.begins[i];
    if (drop.counts != nullptr ? drop.counts[i] == 0 : begin == not_found<RowId>)
      return std::nullopt;
    const bool is_row = drop.counts == nullptr || drop.counts[i] == 1;
    return is_row ? begin : drop.list[begin];  // of several, which have one key, the first
  };
  for_blocks(size, 1 << 10, [&](std::uint64_t begin, std::uint64_t end) {
    for_each_fetched(drop.keys, begin, end, row_of, [&](std::uint64_t i, std::uint64_t row) {
      if (drop.probes.equal(i, drop.keys, row)) return;
      drop.begins[i] = not_found<RowId>;
      if (drop.counts != nullptr) drop.counts[i] = 0;
    });
  });
}
}  // namespace

void drop_different(const core::drop_different_keys<std::uint32_t>& drop, std::uint64_t size) {
  drop_all(drop, size);
}
void drop_different(const core::drop_different_keys<std::uint64_t>& drop, std::uint64_t size) {
  drop_all(drop, size);
}

}  // namespace raydex::cpu
