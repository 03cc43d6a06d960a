// SPDX-License-Identifier: Apache-2.0
// What the backends' hash tables with chains have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/core/lookups/hash_bucket.hpp"
#include "raydex/hash_bucket.hpp"
#include "src/interface/dispatch.hpp"
#include "src/structures/shared/hashed.hpp"

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
      : base(info, on, options), occupancy_(options.occupancy) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  std::optional<filled> place(const context& on, const placed& from, bool anyhow) const override {
    const std::uint32_t chains = base::checked(chains_of(from.size));
    buffer<std::uint64_t> begins(on, chains + std::uint64_t{1});
    Executor::for_each(on, core::put_chain_begins<Key, RowId>{from, chains, begins.data()},
                       from.size + 1);
    buffer<std::uint64_t> further(on, chains);
    spread_counts<1, Executor> too_long(on);
    const std::uint64_t most = anyhow ? base::most_buckets : most_nodes(chains);
    Executor::for_each(
        on, core::count_further_nodes<nodes>{begins.data(), further.data(), most, too_long[0]},
        chains);
    if (too_long.sums(on)[0] != 0) return std::nullopt;
    Executor::inclusive_sum(on, further.data(), chains);
    const std::uint64_t all = chains + Executor::read(on, further.data() + (chains - 1));
    filled made(on, {.nodes = base::checked(all), .chains = chains}, base::checked(all));
    made.hold_runs(on, from);
    if (from.size != 0)
      made.buckets_an_entry = static_cast<double>(all) / static_cast<double>(from.size);
    Executor::for_each(
        on,
        core::fill_chains<Key, RowId>{
            from, {made.words.data()}, made.runs.data(), begins.data(), further.data(), chains},
        std::uint64_t{chains} * nodes::slots);
    return made;
  }

  std::uint32_t keep_sizes(kept_memory& file, typename hash_bucket::table_storage& how) override {
    file.number("chains", how.chains, base::most_buckets, 1);
    file.number("nodes", how.nodes, base::most_buckets, how.chains);
    return how.nodes;
  }

  // Chains that a build has for so many entries.
  std::uint64_t chains_of(std::uint64_t entries) const {
    const std::uint64_t each = std::uint64_t{nodes::slots} * occupancy_;
    return std::max<std::uint64_t>(1, (entries * 100 + each - 1) / each);
  }

  // Nodes that a chain should have at most, by Bernstein's inequality, once there are twice the
  // entries of a build.
  std::uint64_t most_nodes(std::uint64_t chains) const {
    const double usual = 2 * nodes::slots * occupancy_ / 100.;
    const double rare = base::rarity(chains);
    const double more = rare / 3 + std::sqrt(rare * rare / 9 + 2 * usual * rare);
    return core::nodes_of<nodes>(static_cast<std::uint64_t>(usual + more));
  }

  // About as many nodes as a build has for so many entries.
  std::uint64_t nodes_of_build(std::uint64_t entries) const {
    const double all = this->held().buckets_an_entry * static_cast<double>(entries);
    return std::max(chains_of(entries), static_cast<std::uint64_t>(all));
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
        on,
        core::measure_chain_edits<Key, RowId>{edits, counts[0], counts[1], further.data(),
                                              most_nodes(this->table_.chains)},
        further.size());
    const auto [conflicts, erased] = counts.sums(on);
    if (conflicts != 0) return std::nullopt;
    Executor::inclusive_sum(on, further.data(), further.size());
    const std::uint64_t all =
        this->table_.nodes + Executor::read(on, further.data() + (further.size() - 1));
    const std::uint64_t entries = this->info_.entries + inserted - erased;
    if (all > base::most_buckets || all > 2 * nodes_of_build(entries)) return std::nullopt;
    // In a copy, so that a device that fails on the way leaves what was there.
    filled next(on, this->table_, static_cast<std::uint32_t>(all));
    next.buckets_an_entry = this->held().buckets_an_entry;
    next.storage.nodes = static_cast<std::uint32_t>(all);
    base::copy_table(on, this->held(), next);
    Executor::for_each(on,
                       core::write_chain_edits<Key, RowId>{
                           edits, {next.words.data()}, further.data(), this->table_.nodes},
                       further.size());
    Executor::synchronise(on);
    this->replace(std::move(next));
    return entries;
  }

  view_type queried() const override { return this->template view<Key, RowId>(); }

  unsigned occupancy_;
};

template <class Executor>
std::unique_ptr<hash_bucket> make_hash_bucket(const index_info& info, const context& on,
                                              const column& keys,
                                              const std::optional<column>& row_ids,
                                              const hash_bucket_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<hash_bucket> {
    return std::make_unique<built_hash_bucket<Key, RowId, Executor>>(info, on, keys, row_ids,
                                                                     options);
  });
}

}  // namespace raydex
