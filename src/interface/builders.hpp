// SPDX-License-Identifier: Apache-2.0
// What each backend has: the way to its device, what it does with columns and indexes, and what
// builds each structure there.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/interval_coverage.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"
#include "raydex/nearest_join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/partition.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"
#include "raydex/window_join.hpp"
#include "src/interface/searchable.hpp"

namespace raydex {

// Of composite_keys.hpp.
struct composite_part;
struct packed_keys;
struct packed_ranges;
enum class closest_number : std::uint8_t;

// What a session needs of a backend.
class platform {
 public:
  platform() = default;
  platform(const platform&) = delete;
  platform& operator=(const platform&) = delete;
  virtual ~platform() = default;

  virtual memory_resource& memory() noexcept = 0;
  virtual stream_t stream() const noexcept = 0;
  virtual device_info device() const = 0;
  virtual void copy_in(void* to, const void* from, std::size_t bytes) const = 0;
  virtual void copy_out(void* to, const void* from, std::size_t bytes) const = 0;
  virtual void synchronize() const = 0;
};

// Builds from checked arguments; `info` says what follows from them.
template <class Structure, class Options>
using keys_builder = std::unique_ptr<Structure>(const index_info& info, const context& on,
                                                const column& keys,
                                                const std::optional<column>& row_ids,
                                                const Options& options);
template <class Structure, class Options>
using minima_builder = std::unique_ptr<Structure>(const rmq_info& info, const context& on,
                                                  const column& values, const Options& options);

using join_builder = std::unique_ptr<join>(const context& on, const key_parts& keys,
                                           const join_options& options, const index_maker& make);
using index_join_builder = std::unique_ptr<join>(const context& on, const index& over);
// Null if an index had better be built.
using once_joiner = std::unique_ptr<joined>(backend where, const context& on,
                                            const key_parts& build, const key_parts& probe,
                                            join_kind kind, const join_options& options);
// False if an index had better be asked.
using member_marker = bool(const context& on, const column& tests, const column& elements,
                           bool* out);
using range_join_builder = std::unique_ptr<range_join>(backend where, const context& on,
                                                       const column& values, const key_parts& by);
using interval_join_builder = std::unique_ptr<interval_join>(backend where, const context& on,
                                                             const column& lower,
                                                             const column& upper,
                                                             const key_parts& by,
                                                             closed_ends closed);
using inequality_join_builder = std::unique_ptr<inequality_join>(backend where, const context& on,
                                                                 const compared_column& first,
                                                                 const compared_column& second,
                                                                 const key_parts& by);
using nearest_join_builder = std::unique_ptr<nearest_join>(backend where, const context& on,
                                                           const column& lower, const column& upper,
                                                           const key_parts& by);
using interval_coverage_builder = std::unique_ptr<interval_coverage>(backend where,
                                                                     const context& on,
                                                                     const column& lower,
                                                                     const column& upper,
                                                                     const key_parts& by);
using asof_join_builder = std::unique_ptr<asof_join>(backend where, const context& on,
                                                     const column& times, const key_parts& by,
                                                     bool missing_equal);

using window_join_builder = std::unique_ptr<window_join>(backend where, const context& on,
                                                         const column& times, const key_parts& by,
                                                         const std::optional<column>& values,
                                                         const window_options& options);

using aggregate_builder = std::unique_ptr<aggregate>(const context& on, const index& over,
                                                     const std::optional<column>& values,
                                                     const aggregate_options& options);

using divider = std::unique_ptr<partition>(const context& on, backend where, const probes& batch,
                                           const column& splitters, std::uint64_t unit);
using splitter_chooser = void(const context& on, const column& sample, const value_span& out);

// Copies bytes between the host and a context's memory, in its stream's order, and waits.
using byte_copier = void(const context& on, void* to, const void* from, std::size_t bytes);

using sorted_searcher = void(const context& on, const column& sorted, const column& wanted,
                             bool past, std::uint64_t* out);

// Writes the first and the last code of each column, or the steps between codes.
using composite_span_finder = void(const context& on, std::span<const column> columns,
                                   std::span<composite_part> parts);
using composite_key_packer = packed_keys(const context& on, std::span<const composite_part> parts,
                                         std::span<const column> columns, bool are_rows);
using closest_number_packer = packed_keys(const context& on, std::span<const composite_part> parts,
                                          std::span<const column> columns, closest_number which);
using place_finder = void(const context& on, const packed_keys& before, const packed_keys* itself,
                          const key_parts& needed, packed_keys& numbers);
using composite_range_packer = packed_ranges(const context& on,
                                             std::span<const composite_part> parts,
                                             std::span<const column> equal,
                                             const std::optional<column>& lower,
                                             const std::optional<column>& upper);

// Writes narrow row ids as wide ones: `count` of them, which is in the backend's memory, or all.
using row_id_widener = void(const context& on, const std::uint32_t* narrow, std::uint64_t size,
                            const std::uint64_t* count, std::uint64_t* wide);
// Writes which of them are rows.
using found_marker = void(const context& on, const row_id_span& rows, bool* out);
// Writes a number in place of those that are none.
using not_found_replacer = void(const context& on, const row_id_span& rows, std::uint64_t number);
// Writes the bit of each row below `size`, which `index::bitset` explains. False if a row that
// matches is not below.
using bitset_writer = bool(const index& of, const context& on, const probes& batch,
                           std::uint64_t size, std::uint32_t* words);

// An index of 64-bit row ids, made of structures that `make` builds over slices of so many keys.
using wide_builder = std::unique_ptr<index>(const index_info& info, bool updates, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const index_maker& make, std::uint64_t of_slice);

// What a machine does with columns and indexes, whatever their structure.
struct operation_table {
  aggregate_builder* build_aggregate;
  join_builder* build_join;
  index_join_builder* build_index_join;
  once_joiner* join_once;
  member_marker* is_in;
  range_join_builder* build_range_join;
  interval_join_builder* build_interval_join;
  inequality_join_builder* build_inequality_join;
  nearest_join_builder* build_nearest_join;
  interval_coverage_builder* build_interval_coverage;
  ordered_intervals_builder* order_intervals;
  asof_join_builder* build_asof_join;
  ordered_times_builder* order_times;
  window_join_builder* build_window_join;
  byte_copier* copy_in;
  byte_copier* copy_out;
  divider* divide;
  splitter_chooser* choose_splitters;
  sorted_searcher* search_sorted;
  sorted_searcher* search_by_tree;
  ascending_keys_builder* hold_ascending;
  dictionary_builder* order_keys;
  dictionary_builder* hash_keys;
  composite_span_finder* find_composite_spans;
  composite_span_finder* find_composite_steps;
  composite_key_packer* pack_composite_keys;
  composite_range_packer* pack_composite_ranges;
  closest_number_packer* pack_closest_numbers;
  place_finder* place_among;
  row_id_widener* widen_row_ids;
  found_marker* mark_found;
  not_found_replacer* replace_not_found;
  bitset_writer* write_bitset;
  wide_builder* build_wide;
};

// In structure_builders.hpp, which the build makes.
struct structure_builders;
struct paper_builders;

// Events of a device, which order work of several streams.
struct event_table {
  int (*device)();                                   // the number of the current device
  void (*wait)(stream_t stream, void* event);        // has a stream wait for one: a cudaEvent_t*
  std::shared_ptr<void> (*record)(stream_t stream);  // one that follows what is queued so far
};

struct backend_table {
  backend where;
  std::string (*why_unavailable)();
  std::unique_ptr<platform> (*open_platform)();
  const operation_table* operations;
  const structure_builders* structures;
  const event_table* events;  // null where calls return when their work is done
};

namespace cpu {
std::unique_ptr<platform> open_platform();
extern const backend_table table;
extern const operation_table operations;
extern const structure_builders main_builders;
extern const paper_builders papers_builders;
}  // namespace cpu
namespace cuda {
std::unique_ptr<platform> open_platform();
std::string why_unavailable();  // empty if a device can be used
extern const backend_table table;
extern const event_table events;
extern const operation_table operations;
extern const structure_builders main_builders;
extern const paper_builders papers_builders;
}  // namespace cuda
namespace optix {
std::unique_ptr<platform> open_platform();
std::string why_unavailable();  // empty if a device and its driver can be used
extern const backend_table table;
extern const structure_builders main_builders;
extern const paper_builders papers_builders;
}  // namespace optix

// The table of a backend; null where it is not built.
const backend_table* find_backend(backend where) noexcept;
// The builders of libraydex_papers there; null if it has none. Throws `unavailable` if it is not
// installed, with the name of the structure that is wanted.
RAYDEX_INTERNAL const paper_builders* find_paper_builders(backend where, std::string_view name);

// What does this on a backend, which is built.
template <class Operation>
Operation& operation_on(backend where, Operation* operation_table::*operation) {
  return *(find_backend(where)->operations->*operation);
}

}  // namespace raydex
