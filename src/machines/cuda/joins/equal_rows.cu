// SPDX-License-Identifier: Apache-2.0
// Few build rows whose keys differ lie in a hash table in the L2. Large tables are divided by a
// hash on both sides, until the build rows of a part fit a block's shared memory: Sioulas and
// others, "Hardware-conscious hash-joins on GPUs" (ICDE 2019).
#include "src/machines/cuda/joins/equal_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "raydex/error.hpp"
#include "src/machines/cuda/check.hpp"
#include "src/machines/cuda/executor.cuh"
#include "src/machines/cuda/joins/division.cuh"
#include "src/machines/cuda/joins/key_table.cuh"
#include "src/machines/cuda/joins/part_lookup.cuh"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex::cuda {

namespace {

template <class T>
void fill_with_ones(const context& on, buffer<T>& numbers) {
  check(cudaMemsetAsync(numbers.data(), 0xff, numbers.bytes(), on.stream), "cudaMemsetAsync");
}

// Which way takes the least time was measured on an H100 with 2^10 to 2^26 rows a side.

// Whether a table does. Up to `in_l2` rows it stays in the L2; lookups of larger ones are for the
// order of many probes, which parts lose.
template <class Key>
bool table_pays(std::uint64_t build, std::uint64_t probe, const equality& how) {
  constexpr std::uint64_t in_l2 = std::uint64_t{1} << 21;
  if (how.any_row() && how.hashed_from == nullptr) return build <= 2 * in_l2;
  if (build <= in_l2) return true;
  if (how.order != join_order::probe_rows || probe < 2 * build) return false;
  return build <= (sizeof(Key) == 4 ? 2 : 4) * in_l2;
}

// Whether passes over both sides do, and not an index.
template <class Key>
bool parts_pay(std::uint64_t build, std::uint64_t probe, join_order order) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 29;      // or parts are too large
  constexpr std::uint64_t index_in_l2 = std::uint64_t{1} << 21;  // so that lookups are fast
  if (build >= largest || probe > most_divided_rows) return false;
  if (order == join_order::probe_rows && probe > probes_in_l2)
    return build / (sizeof(std::uint64_t) / sizeof(Key)) >= probe;
  return probe / build <= (build <= index_in_l2 ? 4 : 8);
}

// Into how many parts the build rows are divided, as a power of two. 16 bits take two passes, as 9
// do.
unsigned part_bits(std::uint64_t rows) {
  constexpr std::uint64_t of_part = 1024;
  return std::clamp(static_cast<unsigned>(std::bit_width((rows - 1) / of_part)), 1U, 16U);
}

// Sides of a join in parts, and what probe rows found.
template <class Key>
class part_join {
 public:
  // See `find_by_parts`.
  part_join(const context& on, const column& build, const column& probe, const equality& how,
            bool keys_repeat, std::uint64_t in_l2)
      : on_(on),
        how_(how),
        bits_(part_bits(build.size)),
        build_rows_(build.size),
        probe_rows_(probe.size),
        build_(divided<Key>(on, build, how.seed, bits_)),
        probe_(divided<Key>(on, probe, how.seed, bits_)),
        // Without the rows whose key is missing, not all would have an answer.
        in_order_(how.order == join_order::probe_rows || probe_.size != probe.size),
        at_once_(in_order_ && (probe.size <= in_l2 || probe_.size != probe.size)) {
    found_.begins = {on_, probe_rows_};
    if (probe_.size != probe_rows_) fill_with_ones(on_, found_.begins);
    if (build_.size == 0 || probe_.size == 0) {
      fill_with_ones(on_, found_.begins);
      return;
    }
    if (keys_repeat) make_room_for_groups();
    if (!in_order_) found_.tile_ends = {on_, core::tiles_of(probe_rows_)};
    look_up();
    if (!fits_) return;
    if (firsts_.size() != 0) compare();
    if (!in_order_) take_order_of_parts();
    if (in_order_ && !at_once_) put_in_order_of_rows();
  }

  // Whether parts are small enough; else nothing is found.
  bool fits() const { return fits_; }
  std::uint64_t entries() const { return build_.size; }
  bool confused() const { return confused_; }
  found_rows<std::uint32_t> take() { return std::move(found_); }

 private:
  using table = part_table<Key>;

  std::uint64_t parts() const { return std::uint64_t{1} << bits_; }

  divided_side<Key> side(const divided_column<Key>& of, const std::uint32_t* begins) const {
    return {of.hashes.data(), of.rows.data(), begins, of.size};
  }

  // Rows that parts of different keys hardly ever have more of: eight deviations above the mean.
  unsigned expected_room() const {
    const double mean = static_cast<double>(build_.size) / static_cast<double>(parts());
    return static_cast<unsigned>(mean + 8 * std::sqrt(mean)) + 8;
  }

  // Whether a block may hold so many rows of a part.
  static bool has_room(unsigned rows, bool repeat) {
    return rows <= table::most_rows &&
           table::scratch_bytes(rows, repeat) <= executor::fast_memory();
  }

  // Looks up parts by their size, so that those of most rows do not take the room of all: a block
  // of much shared memory has a multiprocessor to itself. Again from the start if keys repeat.
  void look_up() {
    const std::uint64_t ends = parts() + 1;
    buffer<std::uint32_t> begins(on_, 2 * ends);
    buffer<part_findings> device_findings(on_, 1);
    const divided_side<Key> build = side(build_, begins.data());
    const divided_side<Key> probe = side(probe_, begins.data() + ends);
    executor::for_each_alone(
        on_, put_part_begins<Key>{{build, probe}, bits_, begins.data(), device_findings.data()},
        begins.size());
    unsigned above = 0;
    unsigned room = expected_room();
    for (;;) {
      if (above == 0 && !in_order_)
        executor::clear(on_, found_.tile_ends.data(), found_.tile_ends.size());
      const bool repeat = found_.counts.size() != 0;
      fits_ = has_room(room, repeat);
      if (!fits_) return;
      const part_lookup<Key> lookup{build,
                                    probe,
                                    bits_,
                                    above,
                                    room,
                                    at_once_,
                                    how_.joining,
                                    found_.tile_ends.data(),
                                    found_.begins.data(),
                                    found_.counts.data(),
                                    reinterpret_cast<std::uint32_t*>(found_.own_list.data()),
                                    firsts_.data(),
                                    device_findings.data()};
      executor::for_each_in_blocks(on_, look_up_parts<Key>{lookup}, parts());
      part_findings findings{};
      const auto read = [&] {
        executor::copy_out(on_, &findings, device_findings.data(), sizeof findings);
      };
      read();
      if (findings.probes_crowd != 0) {
        executor::for_each_in_blocks(on_, look_up_larger_parts<Key>{lookup},
                                     (probe.size + lookup.heavy - 1) / lookup.heavy);
        read();
      }
      fits_ = has_room(findings.largest, repeat || findings.keys_repeat != 0);
      if (!fits_) return;
      if (findings.keys_repeat != 0 && !repeat) {
        make_room_for_groups();
        above = 0;
        room = expected_room();
      } else if (findings.largest > room) {
        constexpr unsigned larger = 4;  // parts of the next launch, at most
        above = room;
        room = std::min(larger * room, findings.largest);
      } else {
        return;
      }
      executor::clear(on_, device_findings.data());
    }
  }

  // What there is beside `begins` where keys repeat.
  void make_room_for_groups() {
    found_.counts = {on_, probe_rows_};
    if (probe_.size != probe_rows_)
      executor::clear(on_, found_.counts.data(), found_.counts.size());
    found_.own_list = {on_, build_.size * sizeof(std::uint32_t)};
    found_.list = found_.own_list.data();
    if (how_.hashed_from == nullptr) return;
    firsts_ = {on_, build_rows_};
    fill_with_ones(on_, firsts_);
  }

  // What was found is in the order of the parts, and its rows are counted.
  void take_order_of_parts() {
    found_.probe_rows = std::move(probe_.rows);
    const std::uint64_t tiles = found_.tile_ends.size();
    executor::inclusive_sum(on_, found_.tile_ends.data(), tiles);
    found_.rows = executor::read(on_, found_.tile_ends.data() + tiles - 1);
  }

  void put_in_order_of_rows() {
    probe_.hashes = {};
    put_in_order(on_, probe_.rows, found_.begins);
    if (found_.counts.size() != 0) put_in_order(on_, probe_.rows, found_.counts);
  }

  // Compares build rows of equal hashes with the first one.
  void compare() {
    spread_counts<1, executor> different(on_);
    executor::for_each(
        on_,
        core::count_different_keys<std::uint32_t>{*how_.hashed_from, firsts_.data(), different[0]},
        build_rows_);
    confused_ = different.sums(on_)[0] != 0;
  }

  context on_;
  equality how_;
  unsigned bits_;
  std::uint64_t build_rows_;
  std::uint64_t probe_rows_;
  divided_column<Key> build_;
  divided_column<Key> probe_;
  bool in_order_;  // whether what is found is wanted in the order of the probe rows
  bool at_once_;   // whether lookups write it in that order
  bool fits_ = true;
  buffer<std::uint32_t> firsts_;  // as of `part_lookup`
  bool confused_ = false;
  found_rows<std::uint32_t> found_;
};

// A table of the keys of the first build rows, so many.
template <class Key, class Slot>
class filled_table {
 public:
  // Nobody looks whether keys repeat if `repeat` is null.
  filled_table(const context& on, const column& build, std::uint64_t rows, std::uint64_t seed,
               std::uint64_t* repeat)
      : slots_(on, slots_a_row(rows) * rows + 1), mix_(core::hash_by<Key>(seed)) {
    fill_with_ones(on, slots_);
    executor::for_each_alone(on, put_keys<Key, Slot>{{cells_of(build)}, view(), repeat}, rows);
  }

  key_table<Key, Slot> view() {
    return {mix_, slots_.data(), static_cast<std::uint32_t>(slots_.size() - 1)};
  }

 private:
  // In a small table, a thread waits for the slots that it looks at, one after the other: more of
  // them are empty.
  static std::uint64_t slots_a_row(std::uint64_t rows) {
    constexpr std::uint64_t small = std::uint64_t{1} << 17;
    return rows <= small ? 8 : 2;
  }

  buffer<Slot> slots_;
  core::hash_function<Key> mix_;
};

// Whether keys of the first rows of a large table repeat: then most likely others do, too.
template <class Key>
bool repeat_soon(const context& on, const column& build, std::uint64_t seed) {
  constexpr std::uint64_t tried = std::uint64_t{1} << 16;
  if (build.size <= 16 * tried) return false;
  buffer<std::uint64_t> differ(on, 1);
  fill_with_ones(on, differ);
  const filled_table<Key, key_slot<Key>> table(on, build, tried, seed, differ.data());
  return executor::read(on, differ.data()) == 0;
}

// By a table of the build keys; nothing if slots keep rows and two rows have equal keys.
template <class Key, class Slot>
std::optional<found_rows<std::uint32_t>> find_in_table(const context& on, const column& build,
                                                       const column& probe, const equality& how) {
  constexpr bool may_repeat = std::is_same_v<Slot, key_slot<Key>>;
  const std::uint64_t tiles = core::tiles_of(probe.size);
  found_rows<std::uint32_t> found;
  found.begins = {on, probe.size};
  found.tile_ends = {on, tiles + 1};
  std::uint64_t* const differ = found.tile_ends.data() + tiles;  // is read with the rows' number
  if (!may_repeat)
    check(cudaMemsetAsync(differ, 0xff, sizeof *differ, on.stream), "cudaMemsetAsync");
  {
    filled_table<Key, Slot> table(on, build, build.size, how.seed, may_repeat ? nullptr : differ);
    executor::for_each_in_blocks(on,
                                 find_keys<Key, Slot>{{cells_of(probe)},
                                                      probe.size,
                                                      table.view(),
                                                      how.joining,
                                                      found.begins.data(),
                                                      found.tile_ends.data()},
                                 tiles);
  }
  if (tiles > 1) executor::inclusive_sum(on, found.tile_ends.data(), tiles);
  std::uint64_t last[may_repeat ? 1 : 2];
  executor::copy_out(on, last, differ - 1, sizeof last);
  if constexpr (!may_repeat) {
    if (last[1] == 0) return std::nullopt;
  }
  found.rows = last[0];
  // Probes whose key only has an equal hash have fewer.
  if (how.hashed_from != nullptr) found.tile_ends = {};
  return found;
}

}  // namespace

template <class Key>
std::optional<found_rows<std::uint32_t>> find_by_table(const context& on, const column& build,
                                                       const column& probe, const equality& how) {
  if (how.any_row() && how.hashed_from == nullptr)
    return find_in_table<Key, key_slot<Key>>(on, build, probe, how);
  if (repeat_soon<Key>(on, build, how.seed)) return std::nullopt;
  return find_in_table<Key, row_slot<Key>>(on, build, probe, how);
}

template <class Key>
std::optional<equal_rows<std::uint32_t>> find_by_parts(const context& on, const column& build,
                                                       const column& probe, const equality& how,
                                                       bool keys_repeat, std::uint64_t in_l2) {
  part_join<Key> found(on, build, probe, how, keys_repeat, in_l2);
  if (!found.fits()) return std::nullopt;
  return equal_rows<std::uint32_t>{found.take(), found.entries(), found.confused()};
}

template std::optional<found_rows<std::uint32_t>> find_by_table<std::uint32_t>(const context&,
                                                                               const column&,
                                                                               const column&,
                                                                               const equality&);
template std::optional<found_rows<std::uint32_t>> find_by_table<std::uint64_t>(const context&,
                                                                               const column&,
                                                                               const column&,
                                                                               const equality&);
template std::optional<equal_rows<std::uint32_t>> find_by_parts<std::uint32_t>(
    const context&, const column&, const column&, const equality&, bool, std::uint64_t);
template std::optional<equal_rows<std::uint32_t>> find_by_parts<std::uint64_t>(
    const context&, const column&, const column&, const equality&, bool, std::uint64_t);

template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how) {
  if constexpr (sizeof(RowId) == 4) {
    if (build.size == 0 || probe.size == 0 || probe.size >= not_found<std::uint32_t>)
      return std::nullopt;
    try {
      bool keys_repeat = false;
      if (table_pays<Key>(build.size, probe.size, how)) {
        auto found = find_by_table<Key>(on, build, probe, how);
        if (found) return equal_rows<RowId>{std::move(*found), build.size, false};
        keys_repeat = true;
      }
      if (!parts_pay<Key>(build.size, probe.size, how.order)) return std::nullopt;
      return find_by_parts<Key>(on, build, probe, how, keys_repeat);
    } catch (const out_of_memory&) {
      return std::nullopt;  // an index and lookups take less
    }
  } else {
    return std::nullopt;
  }
}

template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint32_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint32_t>> find_equal_rows<std::uint64_t, std::uint32_t>(
    const context&, const column&, const column&, const equality&);
template std::optional<equal_rows<std::uint64_t>> find_equal_rows<std::uint64_t, std::uint64_t>(
    const context&, const column&, const column&, const equality&);

}  // namespace raydex::cuda
