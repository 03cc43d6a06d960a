// SPDX-License-Identifier: Apache-2.0
#include "src/structures/direct/direct.hpp"

#include <array>

#include <fmt/format.h>

#include "raydex/direct.hpp"
#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto direct_table =
    table_of<direct_options>({.name = "direct",
                              .backends = searching_backends,
                              .updates = true,
                              .keys = integer_keys,
                              .sparse = false},
                             std::array{number<&direct_options::limit>(
                                 "limit", {1, 1024}, "places that there may be for each key")},
                             schedule_options<&direct_options::batch>);

direct::direct(memory_resource& upstream) : index(upstream) {}
direct::~direct() = default;

void direct::check_view(std::size_t key_bits, row_id_type row_ids) const {
  check_entries(*this, key_bits, row_ids, layout::column, layout::column);
}

void refuse_span(std::uint64_t keys, std::uint64_t span, unsigned limit) {
  throw unsupported(fmt::format(
      "keys: {} lie over a span of {}, more than limit={} places for each; hash_open and "
      "pivot_tree take them",
      keys, static_cast<double>(span) + 1, limit));
}

std::unique_ptr<direct> build_direct(backend where, const context& on, const column& keys,
                                     const std::optional<column>& row_ids,
                                     const direct_options& options) try {
  const auto info = checked(direct_table, options, where, on, keys, row_ids);
  check_plain_schedule(options.batch, "direct");
  return builder_on(where, &structure_builders::build_direct)(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

extern constinit const structure_entry direct_entry = for_keys<direct_table, build_direct>;

}  // namespace raydex
