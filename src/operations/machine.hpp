// SPDX-License-Identifier: Apache-2.0
// What a backend runs operations of core with.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/memory.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex {

// What an executor is tried with.
namespace archetype {

using operation = core::first_of_points<
    core::sorted_array_view<core::column_entries<std::uint32_t, std::uint32_t>>>;

struct item {
  RAYDEX_HD void operator()(std::uint64_t /*i*/) const {}
};

struct group_item {
  static constexpr std::size_t most_scratch_bytes = 0;
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }
  template <class Group>
  RAYDEX_HD void operator()(const Group& /*group*/, std::byte* /*scratch*/,
                            std::uint64_t /*i*/) const {}
};

struct line_item {
  static constexpr unsigned per_thread = 1;
  template <std::size_t N, class Group>
  RAYDEX_HD void some(const Group& /*group*/, std::uint64_t /*begin*/, std::uint64_t /*step*/,
                      std::uint64_t /*end*/) const {}
};

}  // namespace archetype

// All functions are static. They queue work on the stream, unless they are said to wait for it.
template <class E>
concept executor = requires(const context& on, const batch_plan& plan,
                            const archetype::operation& operation, const archetype::item& item,
                            const archetype::group_item& group_item,
                            const archetype::line_item& line_item, const column& keys,
                            const std::optional<column>& row_ids, const edits& batch,
                            const core::strided_list<std::uint64_t, std::uint32_t>& entries,
                            const sorted_edits<std::uint64_t, std::uint32_t>& sorted_batch,
                            std::uint64_t* numbers, const std::uint64_t* number, std::uint64_t size,
                            void* to, const void* from, std::size_t bytes) {
  // Sorts the entries of a column, or a batch of edits, by key if no `entry_order` follows; applies
  // a batch to sorted entries.
  {
    E::template sort_column<std::uint64_t, std::uint32_t>(on, keys, row_ids)
    } -> std::same_as<sorted_column<std::uint64_t, std::uint32_t>>;
  {
    E::template sort_edits<std::uint64_t, std::uint32_t>(on, batch)
    } -> std::same_as<sorted_edits<std::uint64_t, std::uint32_t>>;
  {
    E::edited(on, entries, sorted_batch)
    } -> std::same_as<std::optional<sorted_column<std::uint64_t, std::uint32_t>>>;
  // Has an operation answer all its probes.
  E::run(on, plan, operation);
  // Calls item(0) .. item(size - 1).
  E::for_each(on, item, size);
  // The same where an item is work enough for a thread.
  E::for_each_alone(on, item, size);
  // Calls group_item(group, scratch, 0) .. with a core::group each and `scratch_bytes()` bytes,
  // at most `most_scratch_bytes`. Allocates nothing.
  E::for_each_in_groups(on, group_item, size);
  // The same with a core::partitioning_group each, for work that keeps it busy.
  E::for_each_in_warps(on, group_item, size);
  // Calls line_item.some<N>(group, begin, step, end) with a core::line_group, for N items each that
  // are `step` apart; those from `end` on are none. N is `per_thread` where threads are many.
  E::for_each_by_lines(on, line_item, size);
  // The same as in groups with the largest ones, of up to 256 threads, for work that keeps them
  // busy.
  E::for_each_in_blocks(on, group_item, size);
  // Adds to each number those before it.
  E::inclusive_sum(on, numbers, size);
  // Makes each number the smallest of those up to it.
  E::inclusive_minimum(on, numbers, size);
  // Writes zeros.
  E::clear(on, numbers, size);
  // Copies numbers.
  E::copy(on, numbers, number, size);
  // Writes a number of the host's.
  E::set(on, numbers, size);
  // Copies from the host, and waits.
  E::copy_in(on, to, from, bytes);
  // Return or copy to the host, and wait.
  { E::read(on, number) } -> std::same_as<std::uint64_t>;
  E::copy_out(on, to, from, bytes);
  // Waits.
  E::synchronise(on);
  // How many bytes a view may pin.
  { E::fast_memory() } -> std::same_as<std::size_t>;
  // How many bytes of a tree's nodes stay near while leaves of 64 bytes are read.
  { E::node_cache() } -> std::same_as<std::size_t>;
  // Whether `sort_rows` sorts entries of these types side by side.
  { E::template sorts_rows<std::uint32_t, std::uint32_t> } -> std::convertible_to<bool>;
  // Whether scattered writes had better be put in order in fast memory first.
  { E::writes_in_tiles } -> std::convertible_to<bool>;
  // Whether many threads with little each hide the latency of reads best.
  { E::hides_latency_by_threads } -> std::convertible_to<bool>;
  // Whether threads are few, so that two columns that ascend had better be walked than searched.
  { E::walks_along } -> std::convertible_to<bool>;
  // Levels over an array that have fewer entries for a changed value are written anew.
  { E::entries_per_change } -> std::convertible_to<std::uint64_t>;
};

}  // namespace raydex
