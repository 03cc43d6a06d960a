// SPDX-License-Identifier: Apache-2.0
// What the backends' hash tables with chains have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/core/lookups/hash_bucket_build.hpp"
#include "raydex/hash_bucket.hpp"
#include "src/lookups/hashed.hpp"

namespace raydex {

template <class Key, class RowId, class Executor>
class built_hash_bucket final
    : public built_hash<hash_bucket, core::hash_bucket_view<Key, RowId>, Executor> {
  using base = typename built_hash_bucket::built_hash;
  using view_type = core::hash_bucket_view<Key, RowId>;
  using nodes = typename view_type::buckets;
  using typename base::filled;
  using typename base::placed;

 public:
  built_hash_bucket(const index_info& info, const context& on, const column& keys,
                    const std::optional<column>& row_ids, const hash_bucket_options& options)
      : base(info, on, options.reading, options.repeats), occupancy_(options.occupancy) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  filled place(const context& on, const placed& from) const override {
    const std::uint64_t each = std::uint64_t{nodes::slots} * occupancy_;
    const std::uint32_t chains =
        base::checked(std::max<std::uint64_t>(1, (from.size * 100 + each - 1) / each));
    buffer<std::uint64_t> begins(on, chains + std::uint64_t{1});
    Executor::for_each(on, core::put_chain_begins<Key, RowId>{from, chains, begins.data()},
                       from.size + 1);
    buffer<std::uint64_t> further(on, chains);
    Executor::for_each(on, core::count_further_nodes<nodes>{begins.data(), further.data()}, chains);
    Executor::inclusive_sum(on, further.data(), chains);
    const std::uint64_t all = chains + Executor::read(on, further.data() + (chains - 1));
    filled made(on, {.nodes = base::checked(all), .chains = chains}, base::checked(all));
    made.hold_runs(on, from);
    Executor::for_each(
        on,
        core::fill_chains<Key, RowId>{
            from, {made.words.data()}, made.runs.data(), begins.data(), further.data(), chains},
        std::uint64_t{chains} * nodes::slots);
    return made;
  }

  std::optional<std::uint64_t> edit_without_build(const context& on,
                                                  const sorted_edits<Key, RowId>& batch) override {
    const core::chain_edits<Key, RowId> edits{queried(), list_of(batch.insert), names_of(batch)};
    const std::uint64_t inserted = edits.insert.size;
    if (edits.threads() == 0) return this->info_.entries;
    // Chains twice as long as those of a build are made anew.
    const std::uint64_t most =
        std::uint64_t{this->table_.chains} * nodes::slots * occupancy_ / 100 * 2;
    if (this->keys_repeat() || this->info_.entries + inserted > most) return std::nullopt;
    spread_counts<2, Executor> counts(on);
    buffer<std::uint64_t> further(on, edits.threads());
    Executor::for_each(
        on, core::measure_chain_edits<Key, RowId>{edits, counts[0], counts[1], further.data()},
        further.size());
    const auto [conflicts, erased] = counts.sums(on);
    if (conflicts != 0) return std::nullopt;
    Executor::inclusive_sum(on, further.data(), further.size());
    const std::uint64_t all =
        this->table_.nodes + Executor::read(on, further.data() + (further.size() - 1));
    if (all > base::most_buckets) return std::nullopt;
    // In a copy, so that a device that fails on the way leaves what was there.
    filled next(on, this->table_, static_cast<std::uint32_t>(all));
    next.storage.nodes = static_cast<std::uint32_t>(all);
    base::copy_table(on, this->held(), next);
    Executor::for_each(on,
                       core::write_chain_edits<Key, RowId>{
                           edits, {next.words.data()}, further.data(), this->table_.nodes},
                       further.size());
    Executor::synchronise(on);
    this->replace(std::move(next));
    return this->info_.entries + inserted - erased;
  }

  view_type queried() const override { return this->template view<Key, RowId>(); }

  unsigned occupancy_;
};

}  // namespace raydex
