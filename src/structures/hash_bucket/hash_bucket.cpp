// SPDX-License-Identifier: Apache-2.0
#include "src/structures/hash_bucket/hash_bucket.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "raydex/error.hpp"
#include "raydex/hash_bucket.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/hash_bytes.hpp"
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

namespace {

// Of so many nodes as chains of hashes at random have, beside two numbers a chain.
memory_estimate estimate_hash_bucket(backend where, const column_facts& keys,
                                     const hash_bucket_options& options) {
  constexpr std::uint64_t node = 128;
  const std::uint64_t slots = (node - sizeof(std::uint32_t)) / (key_bytes(keys) + row_bytes);
  const std::uint64_t hashed = hashed_keys(keys, options.repeats);
  const std::uint64_t each = slots * options.occupancy;
  const std::uint64_t chains = std::max<std::uint64_t>(1, (hashed * 100 + each - 1) / each);
  // A chain has k entries with the probability of Poisson's distribution.
  const double mean = static_cast<double>(hashed) / static_cast<double>(chains);
  double nodes_of_chain = std::exp(-mean);  // one without entries
  double probability = nodes_of_chain;
  for (std::uint64_t k = 1; k < 20 * slots; ++k) {
    const std::uint64_t nodes = (k + slots - 1) / slots;
    probability *= mean / static_cast<double>(k);
    nodes_of_chain += probability * static_cast<double>(nodes);
  }
  const auto all_nodes = static_cast<std::uint64_t>(nodes_of_chain * static_cast<double>(chains));
  return estimate_table("hash_bucket", where, keys, options.repeats,
                        {.buckets = std::max(all_nodes, chains), .slots = slots, .bytes = node},
                        2 * chains * sizeof(std::uint64_t));
}

}  // namespace

extern constinit const structure_entry hash_bucket_entry =
    for_keys<hash_bucket_table, build_hash_bucket, estimate_hash_bucket>;

}  // namespace raydex
