// SPDX-License-Identifier: Apache-2.0
#include "src/structures/direct/direct.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "raydex/direct.hpp"
#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/structures/shared/bytes.hpp"
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

namespace {

// A row id a place if each key is there once; else two, and one an entry.
memory_estimate estimate_direct(backend where, const column_facts& keys,
                                const direct_options& options) {
  const std::uint64_t places = keys.span != 0 ? keys.span : keys.n * options.limit;
  if (places > keys.n * options.limit) refuse_span(keys.n, places - 1, options.limit);
  const bool dense = keys.different == keys.n && places == keys.n;
  const std::uint64_t in_places = dense || keys.n == 0 ? 0 : (2 * places + 1) * row_bytes;
  return {.structure = "direct",
          .resident_bytes = keys.n * row_bytes + in_places,
          .build_peak_bytes = std::max(sort_bytes(where, keys), entry_bytes(keys) + in_places)};
}

}  // namespace

extern constinit const structure_entry direct_entry =
    for_keys<direct_table, build_direct, estimate_direct>;

}  // namespace raydex
