// SPDX-License-Identifier: Apache-2.0
#include "src/structures/hash_bucket/hash_bucket.hpp"

#include <array>

#include "raydex/error.hpp"
#include "raydex/hash_bucket.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto hash_bucket_table = table_of<hash_bucket_options>(
    {.name = "hash_bucket", .backends = searching_backends, .updates = true, .ranges = false},
    std::array{number<&hash_bucket_options::occupancy>(
                   "occupancy", {25, 400}, "percent of a node's slots that a bucket fills"),
               repeats_option<hash_bucket_options>, reading_option<hash_bucket_options>,
               seed_option<hash_bucket_options>});

hash_bucket::hash_bucket(memory_resource& upstream) : index(upstream) {}
hash_bucket::~hash_bucket() = default;

void hash_bucket::check_view(std::size_t key_bits, row_id_type row_ids) const {
  check_entries(*this, key_bits, row_ids, layout::column, layout::column);
}

void hash_bucket::check_kind(const probes& batch) const {
  if (!batch.is_points)
    throw unsupported("probes: hash_bucket answers points, not ranges; pivot_tree answers both");
}

std::unique_ptr<hash_bucket> build_hash_bucket(backend where, const context& on, const column& keys,
                                               const std::optional<column>& row_ids,
                                               const hash_bucket_options& options) try {
  const auto info = checked(hash_bucket_table, options, where, on, keys, row_ids);
  return builder_on(where, &structure_builders::build_hash_bucket)(info, on, keys, row_ids,
                                                                   options);
} catch (...) {
  rethrow_as_error();
}

extern constinit const structure_entry hash_bucket_entry =
    for_keys<hash_bucket_table, build_hash_bucket>;

}  // namespace raydex
