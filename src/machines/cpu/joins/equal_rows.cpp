// SPDX-License-Identifier: Apache-2.0
#include "src/operations/joins/equal_rows.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "src/machines/cpu/joins/divided_join.hpp"
#include "src/machines/cpu/joins/marked_join.hpp"

namespace raydex::cpu {

template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how) {
  const auto mix = core::hash_by<Key>(how.seed);
  const hashed_column<Key> builds(build, mix);
  const hashed_column<Key> probes(probe, mix);
  key_filter<Key> probed = probed_keys(on, builds, probes);
  if (how.any_row() && marks_pay(build.size, probe.size, how.hashed(), probed.lets_all_pass())) {
    equal_rows<RowId> found{{}, build.size, false};
    found.rows.begins = {on, probe.size};
    marked_hashes<Key, RowId> hashes(on, probes, how, found.rows.begins.data());
    hashes.mark_all(builds.filtered(probed));
    found.confused = !hashes.put_begins();
    return found;
  }
  divided_join<Key, RowId> join(on, build, probe, mix, std::move(probed), how.build_keys,
                                how.joining, part_bits(build.size));
  equal_rows<RowId> found{join.take(), join.entries(), join.confused()};
  if (how.hashed() && !found.confused) {
    found_rows<RowId>& rows = found.rows;
    drop_different(
        core::drop_different_keys<RowId>{*how.probe_keys, *how.build_keys, rows.begins.data(),
                                         rows.counts.data(), static_cast<const RowId*>(rows.list),
                                         rows.probe_rows.data()},
        rows.begins.size());
  }
  return found;
}

template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint32_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint64_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint64_t>> find_equal_rows<std::uint64_t, std::uint64_t>(
    const context&, const column&, const column&, const equality&);

}  // namespace raydex::cpu
