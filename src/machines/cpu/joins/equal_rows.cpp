// SPDX-License-Identifier: Apache-2.0
#include "src/operations/joins/equal_rows.hpp"

#include <cstdint>
#include <optional>

#include "src/machines/cpu/joins/divided_join.hpp"
#include "src/machines/cpu/joins/marked_join.hpp"

namespace raydex::cpu {

template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how) {
  const auto mix = core::hash_by<Key>(how.seed);
  if (how.any_row() && how.hashed_from == nullptr && marks_pay(build.size, probe.size))
    return equal_rows<RowId>{find_marked<Key, RowId>(on, build, probe, mix), build.size, false};
  divided_join<Key, RowId> found(on, build, probe, mix, how.hashed_from, how.joining,
                                 part_bits(build.size));
  return equal_rows<RowId>{found.take(), found.entries(), found.confused()};
}

template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint32_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint64_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint64_t>> find_equal_rows<std::uint64_t, std::uint64_t>(
    const context&, const column&, const column&, const equality&);

}  // namespace raydex::cpu
