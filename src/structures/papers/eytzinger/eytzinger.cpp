// SPDX-License-Identifier: Apache-2.0
#include "raydex/eytzinger.hpp"

#include <algorithm>
#include <array>

#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/bytes.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto eytzinger_table = table_of<eytzinger_options>(
    {"eytzinger", searching_backends, true},
    std::array{worth_trying("column", layout_option<eytzinger_options>),
               worth_trying("17", k_option<eytzinger_options>), former_option("ranges", {"ranks"})},
    schedule_options<&eytzinger_options::batch>, paper_schedule_options<&eytzinger_options::batch>);

eytzinger::eytzinger(memory_resource& upstream) : index(upstream) {}
eytzinger::~eytzinger() = default;

void eytzinger::check_view(std::size_t key_bits, row_id_type row_ids, layout entries) const {
  check_entries(*this, key_bits, row_ids, entries, storage_.entries);
}

std::unique_ptr<eytzinger> build_eytzinger(backend where, const context& on, const column& keys,
                                           const std::optional<column>& row_ids,
                                           const eytzinger_options& options) try {
  const auto info = checked(eytzinger_table, options, where, on, keys, row_ids);
  return builder_on(where, &paper_builders::build_eytzinger, "eytzinger")(info, on, keys, row_ids,
                                                                          options);
} catch (...) {
  rethrow_as_error();
}

namespace {

memory_estimate estimate_eytzinger(backend where, const column_facts& keys,
                                   const eytzinger_options& /*options*/) {
  const std::uint64_t entries = entry_bytes(keys);
  return {.structure = "eytzinger",
          .resident_bytes = entries,
          .build_peak_bytes = std::max(sort_bytes(where, keys), 2 * entries)};
}

}  // namespace

extern constinit const structure_entry eytzinger_entry =
    for_keys<eytzinger_table, build_eytzinger, estimate_eytzinger>;

}  // namespace raydex
