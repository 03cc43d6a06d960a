// SPDX-License-Identifier: Apache-2.0
#include "src/structures/hash_open/hash_open.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "raydex/hash_open.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/hash_bytes.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto hash_open_table = table_of<hash_open_options>(
    {.name = "hash_open", .backends = searching_backends, .updates = true, .ranges = false},
    std::array{worth_trying("50", number<&hash_open_options::load>(
                                      "load", {10, 95}, "percent of the slots that are filled")),
               number<&hash_open_options::bucket>("bucket", {64, 128, true}, "bytes of a bucket"),
               choice<&hash_open_options::placement>("placement",
                                                     {{"linear", core::hash_placement::linear},
                                                      {"jumps", core::hash_placement::jumps},
                                                      {"choices", core::hash_placement::choices}},
                                                     "where a key goes whose bucket is full"),
               repeats_option<hash_open_options>, reading_option<hash_open_options>,
               seed_option<hash_open_options>});

hash_open::hash_open(memory_resource& upstream) : index(upstream) {}
hash_open::~hash_open() = default;

void hash_open::check_view(std::size_t key_bits, row_id_type row_ids, unsigned bytes) const {
  check_entries(*this, key_bits, row_ids, layout::column, layout::column);
  if (bytes != table_.bytes)
    throw invalid_argument(fmt::format("view: this index was built with bucket={}", table_.bytes));
}

void hash_open::check_kind(const probes& batch) const {
  if (!batch.is_points)
    throw unsupported("probes: hash_open answers points, not ranges; pivot_tree answers both");
}

std::unique_ptr<hash_open> build_hash_open(backend where, const context& on, const column& keys,
                                           const std::optional<column>& row_ids,
                                           const hash_open_options& options) try {
  const auto info = checked(hash_open_table, options, where, on, keys, row_ids);
  keys_builder<hash_open, hash_open_options>& builder =
      options.bucket == 64
          ? builder_on(where, &structure_builders::build_hash_open)
          : builder_on(where, &paper_builders::build_two_line_hash, "hash_open with bucket=128");
  return builder(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

namespace {

// Of buckets for the keys that differ, and one that is never full, beside a number a bucket where
// keys are placed in order.
memory_estimate estimate_hash_open(backend where, const column_facts& keys,
                                   const hash_open_options& options) {
  const std::uint64_t slots = options.bucket / (key_bytes(keys) + row_bytes);
  const std::uint64_t used =
      (hashed_keys(keys, options.repeats) * 100 + options.load - 1) / options.load;
  const std::uint64_t buckets = std::max<std::uint64_t>(1, (used + slots - 1) / slots) + 1;
  const bool in_order = options.placement == core::hash_placement::linear;
  return estimate_table("hash_open", where, keys, options.repeats,
                        {.buckets = buckets, .slots = slots, .bytes = options.bucket},
                        in_order ? buckets * sizeof(std::uint64_t) : 0);
}

}  // namespace

extern constinit const structure_entry hash_open_entry =
    for_keys<hash_open_table, build_hash_open, estimate_hash_open>;

}  // namespace raydex
