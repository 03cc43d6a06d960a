// SPDX-License-Identifier: Apache-2.0
#include "raydex/sorted_array.hpp"

#include <algorithm>
#include <array>

#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/bytes.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto sorted_array_table =
    table_of<sorted_array_options>({"sorted_array", searching_backends, true},
                                   std::array{of_a_paper(layout_option<sorted_array_options>)},
                                   schedule_options<&sorted_array_options::batch>,
                                   paper_schedule_options<&sorted_array_options::batch>);

sorted_array::sorted_array(memory_resource& upstream) : index(upstream) {}
sorted_array::~sorted_array() = default;

void sorted_array::check_view(std::size_t key_bits, row_id_type row_ids, layout entries) const {
  check_entries(*this, key_bits, row_ids, entries, storage_.entries);
}

std::unique_ptr<sorted_array> build_sorted_array(backend where, const context& on,
                                                 const column& keys,
                                                 const std::optional<column>& row_ids,
                                                 const sorted_array_options& options) try {
  const auto info = checked(sorted_array_table, options, where, on, keys, row_ids);
  keys_builder<sorted_array, sorted_array_options>& builder =
      options.layout == layout::column
          ? builder_on(where, &structure_builders::build_sorted_array)
          : builder_on(where, &paper_builders::build_row_array, "sorted_array with layout=row");
  return builder(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

namespace {

// Rows are copied from a sorted column.
memory_estimate estimate_sorted_array(backend where, const column_facts& keys,
                                      const sorted_array_options& options) {
  const std::uint64_t entries = entry_bytes(keys);
  const std::uint64_t laid_out = options.layout == layout::column ? entries : 2 * entries;
  return {.structure = "sorted_array",
          .resident_bytes = entries,
          .build_peak_bytes = std::max(sort_bytes(where, keys), laid_out)};
}

}  // namespace

extern constinit const structure_entry sorted_array_entry =
    for_keys<sorted_array_table, build_sorted_array, estimate_sorted_array>;

}  // namespace raydex
