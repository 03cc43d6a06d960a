// SPDX-License-Identifier: Apache-2.0
#include "src/structures/btree/btree.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "raydex/btree.hpp"
#include "raydex/error.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/structures/shared/bytes.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto btree_table = table_of<btree_options>(
    {"btree", searching_backends, true},
    std::array{number<&btree_options::fill>("fill", {50, 100},
                                            "percent of a page that a build or a split fills")},
    schedule_options<&btree_options::batch>);

btree::btree(memory_resource& upstream) : index(upstream) {}
btree::~btree() = default;

void btree::check_view(std::size_t key_bits, row_id_type row_ids) const {
  check_entries(*this, key_bits, row_ids, layout::row, layout::row);
}

void check_pages(std::uint64_t pages, std::uint64_t capacity, std::uint64_t not_found) {
  if (pages <= not_found / capacity) return;
  throw unsupported(fmt::format(
      "btree: {} pages of {} entries have more places than numbers below {}; give uint64 "
      "row ids, fill pages further, or build a pivot_tree",
      pages, capacity, not_found));
}

std::unique_ptr<btree> build_btree(backend where, const context& on, const column& keys,
                                   const std::optional<column>& row_ids,
                                   const btree_options& options) try {
  const auto info = checked(btree_table, options, where, on, keys, row_ids);
  check_plain_schedule(options.batch, "btree");
  return builder_on(where, &structure_builders::build_btree)(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

namespace {

// Beside the sorted column: pages, the ranks of their first entries, and the pivots above them.
memory_estimate estimate_btree(backend where, const column_facts& keys,
                               const btree_options& options) {
  const std::uint64_t resident = with_code(keys, [&]<class Key>() -> std::uint64_t {
    if (keys.n == 0) return 0;
    constexpr std::uint64_t capacity = core::page_capacity<Key>;
    const std::uint64_t filled = std::max<std::uint64_t>(capacity * options.fill / 100, 1);
    const std::uint64_t pages = (keys.n + filled - 1) / filled;
    const std::uint64_t page =
        capacity * (sizeof(Key) + row_bytes) + core::line_pivots<Key> * sizeof(Key);
    const core::pivot_levels levels(pages, 1, core::btree_fan_out<Key>, most_roots<Key>);
    return pages * page + (pages + 1) * row_bytes + bytes_of<Key>(levels);
  });
  return {.structure = "btree",
          .resident_bytes = resident,
          .build_peak_bytes = std::max(sort_bytes(where, keys), entry_bytes(keys) + resident)};
}

}  // namespace

extern constinit const structure_entry btree_entry =
    for_keys<btree_table, build_btree, estimate_btree>;

}  // namespace raydex
