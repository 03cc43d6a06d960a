// SPDX-License-Identifier: Apache-2.0
#include "src/operations/joins/equal_rows.hpp"

#include <cstdint>
#include <optional>

#include "src/machines/cpu/joins/divided_join.hpp"
#include "src/machines/cpu/parallel.hpp"

namespace raydex::cpu {

template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how) {
  divided_join<Key, RowId> found(on, build, probe, core::hash_by<Key>(how.seed), how.hashed_from,
                                 how.any_row, part_bits(build.size));
  return equal_rows<RowId>{found.take(), found.entries(), found.confused()};
}

template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint32_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint64_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint64_t>> find_equal_rows<std::uint64_t, std::uint64_t>(
    const context&, const column&, const column&, const equality&);

template <class RowId>
void drop_different(const context& /*on*/, const core::composite_cells& probe,
                    const core::composite_cells& build, found_rows<RowId>& found) {
  RowId* const begins = found.begins.data();
  RowId* const counts = found.counts.data();
  const auto* const list = static_cast<const RowId*>(found.list);
  const auto row_of = [&](std::uint64_t i) -> std::optional<std::uint64_t> {
    const RowId begin = begins[i];
    if (counts != nullptr ? counts[i] == 0 : begin == not_found<RowId>) return std::nullopt;
    return counts == nullptr || counts[i] == 1 ? begin : list[begin];  // they have one key
  };
  for_blocks(found.begins.size(), 1 << 10, [&](std::uint64_t begin, std::uint64_t end) {
    for_each_fetched(build, begin, end, row_of, [&](std::uint64_t i, std::uint64_t row) {
      if (probe.equal(i, build, row)) return;
      begins[i] = not_found<RowId>;
      if (counts != nullptr) counts[i] = 0;
    });
  });
}

template void drop_different(const context&, const core::composite_cells&,
                             const core::composite_cells&, found_rows<std::uint32_t>&);
template void drop_different(const context&, const core::composite_cells&,
                             const core::composite_cells&, found_rows<std::uint64_t>&);

}  // namespace raydex::cpu
