// SPDX-License-Identifier: Apache-2.0
// Build rows whose keys differ lie in a hash table, which is filled by parts if the L2 does not
// hold it. For keys that repeat, and for rows in any order unless keys are hashed, both sides are
// divided by a hash, until the build rows of a part fit a block's shared memory: Sioulas and
// others, "Hardware-conscious hash-joins on GPUs" (ICDE 2019).
#include "src/machines/cuda/joins/equal_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "raydex/error.hpp"
#include "src/machines/cuda/check.hpp"
#include "src/machines/cuda/executor.cuh"
#include "src/machines/cuda/joins/compared_keys.cuh"
#include "src/machines/cuda/joins/division.cuh"
#include "src/machines/cuda/joins/key_table.cuh"
#include "src/machines/cuda/joins/part_lookup.cuh"
#include "src/operations/lookups/built_index.hpp"

namespace raydex::cuda {

namespace {

template <class T>
void fill_with_ones(const context& on, T* numbers, std::uint64_t size) {
  check(cudaMemsetAsync(numbers, 0xff, size * sizeof(T), on.stream), "cudaMemsetAsync");
}
template <class T>
void fill_with_ones(const context& on, buffer<T>& numbers) {
  fill_with_ones(on, numbers.data(), numbers.size());
}

// What has a table made in one part, in which equal keys of any number take one slot.
constexpr std::size_t in_one_part = std::numeric_limits<std::size_t>::max();

// Of more, parts are too large for a block.
constexpr std::uint64_t most_build_rows = (std::uint64_t{1} << 29) - 1;

// Which way takes the least time was measured on an H200 with 2^20 to 2^26 rows a side.

// Whether both sides in parts take less time than a table, if keys differ, and blocks have room.
bool parts_first(std::uint64_t build, std::uint64_t probe, const equality& how) {
  constexpr std::uint64_t least = std::uint64_t{1} << 22;
  constexpr std::uint64_t most = std::uint64_t{1} << 28;
  if (how.order != join_order::any || how.any_row() || probe > most_divided_rows) return false;
  if (how.hashed()) return false;  // the keys of probes in their order are compared faster
  return build >= least && build <= most && probe / build <= (build == least ? 1 : 4);
}

// Whether the sides had better change places: the probe rows then lie in a table, and those of a
// key side by side, which takes more launches.
bool turning_pays(std::uint64_t build, std::uint64_t probe, const equality& how) {
  constexpr std::uint64_t least = std::uint64_t{1} << 18;
  constexpr std::uint64_t of_one_part = table_options{}.in_l2 / table_options::bytes_a_row;
  if (how.order != join_order::any || !how.may_turn) return false;
  return build >= least && probe <= build / 2 && probe <= of_one_part;
}

// Whether parts take less time than an index, if keys repeat.
template <class Key>
bool parts_pay(std::uint64_t build, std::uint64_t probe, join_order order) {
  constexpr std::uint64_t found_in_l2 = std::uint64_t{1} << 23;  // rows that are put in order there
  constexpr std::uint64_t index_in_l2 = std::uint64_t{1} << 21;  // so that lookups are fast
  if (probe > most_divided_rows) return false;
  if (order == join_order::probe_rows && probe > found_in_l2)
    return build / (sizeof(std::uint64_t) / sizeof(Key)) >= probe;
  return probe / build <= (build <= index_in_l2 ? 4 : 8);
}

// Into how many parts the build rows are divided, as a power of two. 16 bits take two passes, as 9
// do.
unsigned part_bits(std::uint64_t rows) {
  constexpr std::uint64_t of_part = 1024;
  return std::clamp(static_cast<unsigned>(std::bit_width((rows - 1) / of_part)), 1U, 16U);
}

// Rows that parts of different keys hardly ever have more of: eight deviations above the mean.
unsigned expected_room(std::uint64_t rows, unsigned part_bits) {
  const double mean = static_cast<double>(rows) / std::ldexp(1., static_cast<int>(part_bits));
  return static_cast<unsigned>(mean + 8 * std::sqrt(mean)) + 8;
}

// Sides of a join in parts, and what probe rows found.
template <class Key>
class part_join {
 public:
  // See `find_by_parts`.
  part_join(const context& on, const column& build, const column& probe, const equality& how,
            bool keys_repeat)
      : on_(on),
        how_(how),
        bits_(part_bits(build.size)),
        build_rows_(build.size),
        probe_rows_(probe.size),
        build_(divided<Key>(on, build, how.seed, bits_)),
        probe_(divided<Key>(on, probe, how.seed, bits_)),
        // Without the rows whose key is missing, not all would have an answer.
        in_order_(how.order == join_order::probe_rows || probe_.size != probe.size) {
    found_.begins = {on_, probe_rows_};
    if (probe_.size != probe_rows_) fill_with_ones(on_, found_.begins);
    if (build_.size == 0 || probe_.size == 0) {
      fill_with_ones(on_, found_.begins);
      return;
    }
    if (keys_repeat) make_room_for_groups();
    look_up();
    if (!in_order_) found_.probe_rows = std::move(probe_.rows);
    if (how_.hashed() && fits_) compare();
  }

  // Whether parts are small enough; else nothing is found.
  bool fits() const { return fits_; }
  std::uint64_t entries() const { return build_.size; }
  bool confused() const { return confused_; }
  found_rows<std::uint32_t> take() { return std::move(found_); }

 private:
  std::uint64_t parts() const { return std::uint64_t{1} << bits_; }

  divided_side<Key> side(const divided_column<Key>& of, const std::uint32_t* begins) const {
    return {of.hashes.data(), of.rows.data(), begins, of.size};
  }

  // Whether a block may hold so many rows of a part.
  template <bool Groups>
  static bool has_room(unsigned rows) {
    using table = part_table<Key, Groups>;
    return rows <= table::most_rows && table::scratch_bytes(rows) <= executor::fast_memory();
  }

  void look_up() {
    const std::uint64_t ends = parts() + 1;
    buffer<std::uint32_t> begins(on_, 2 * ends);
    buffer<part_findings> findings(on_, 1);
    executor::clear(on_, findings.data());
    const divided_side<Key> build = side(build_, begins.data());
    const divided_side<Key> probe = side(probe_, begins.data() + ends);
    executor::for_each_alone(on_, put_part_begins<Key>{{build, probe}, bits_, begins.data()},
                             begins.size());
    if (found_.counts.size() == 0 && !look_up_parts_of<false>(build, probe, findings)) {
      make_room_for_groups();
      executor::clear(on_, findings.data());
    }
    if (found_.counts.size() != 0) look_up_parts_of<true>(build, probe, findings);
  }

  // Looks up parts by their size, so that those of most rows do not take the room of all: a block
  // of much shared memory has a multiprocessor to itself. False if keys repeat and may not.
  template <bool Groups>
  bool look_up_parts_of(const divided_side<Key>& build, const divided_side<Key>& probe,
                        buffer<part_findings>& of_device) {
    unsigned above = 0;
    unsigned room = expected_room(build_.size, bits_);
    for (;;) {
      fits_ = has_room<Groups>(room);
      if (!fits_) return true;
      const part_lookup<Key, Groups> lookup{
          build,
          probe,
          bits_,
          above,
          room,
          in_order_,
          found_.begins.data(),
          found_.counts.data(),
          reinterpret_cast<std::uint32_t*>(found_.own_list.data()),
          firsts_.data(),
          of_device.data()};
      executor::for_each_in_blocks(on_, look_up_parts<Key, Groups>{lookup}, parts());
      part_findings findings{};
      const auto read = [&] {
        executor::copy_out(on_, &findings, of_device.data(), sizeof findings);
      };
      read();
      if (findings.probes_crowd != 0) {
        executor::for_each_in_blocks(on_, look_up_larger_parts<Key, Groups>{lookup},
                                     (probe.size + lookup.heavy - 1) / lookup.heavy);
        read();
      }
      const bool repeat = findings.keys_repeat != 0;
      fits_ = repeat ? has_room<true>(findings.largest) : has_room<Groups>(findings.largest);
      if (!fits_) return true;
      if (repeat) return false;
      if (findings.largest <= room) return true;
      constexpr unsigned larger = 4;  // parts of the next launch, at most
      above = room;
      room = std::min(larger * room, findings.largest);
      executor::clear(on_, of_device.data());
    }
  }

  // What there is beside `begins` where keys repeat.
  void make_room_for_groups() {
    found_.counts = {on_, probe_rows_};
    if (probe_.size != probe_rows_)
      executor::clear(on_, found_.counts.data(), found_.counts.size());
    found_.own_list = {on_, build_.size * sizeof(std::uint32_t)};
    found_.list = found_.own_list.data();
    if (!how_.hashed()) return;
    firsts_ = {on_, build_rows_};
    fill_with_ones(on_, firsts_);
  }

  // Compares build rows of equal hashes with the first one, and probe rows with what they found.
  void compare() {
    buffer<std::uint64_t> equal(on_, 1);
    fill_with_ones(on_, equal);
    const core::composite_cells& keys = *how_.build_keys;
    if (firsts_.size() != 0)
      executor::for_each(on_,
                         compare_found{keys, keys, firsts_.data(), nullptr, nullptr, nullptr,
                                       nullptr, equal.data()},
                         build_rows_);
    executor::for_each(
        on_,
        compare_found{*how_.probe_keys, keys, found_.begins.data(), found_.counts.data(),
                      static_cast<const std::uint32_t*>(found_.list), found_.probe_rows.data(),
                      nullptr, equal.data()},
        found_.begins.size());
    confused_ = executor::read(on_, equal.data()) == 0;
  }

  context on_;
  equality how_;
  unsigned bits_;
  std::uint64_t build_rows_;
  std::uint64_t probe_rows_;
  divided_column<Key> build_;
  divided_column<Key> probe_;
  bool in_order_;
  bool fits_ = true;
  buffer<std::uint32_t> firsts_;  // as of `part_lookup`
  bool confused_ = false;
  found_rows<std::uint32_t> found_;
};

// A table of the keys of the first build rows, so many. Numbers that keys `differ` and slots
// `suffice` become 0 if they do not; `differ` is null if they need not.
template <class Key, class Slot>
class filled_table {
 public:
  // `filtered`: whether it has a filter, if that is not too large; only parts have one.
  filled_table(const context& on, const column& build, std::uint64_t rows, std::uint64_t seed,
               const table_options& options, bool filtered, std::uint64_t* differ,
               std::uint64_t* suffice)
      : part_bits_(is_in_one_part(rows, options.in_l2, filtered) ? 0 : part_bits(rows)),
        part_slots_(part_bits_ == 0 ? rows * slots_a_row(rows)
                                    : expected_room(rows, part_bits_) * 3 / 2),
        mix_(core::hash_by<Key>(seed)) {
    if (part_bits_ == 0) {
      slots_ = {on, slots()};
      fill_with_ones(on, slots_.data(), slots());
      executor::for_each_alone(on, put_keys<Key, Slot>{{cells_of(build)}, view(), differ}, rows);
    } else {
      filtered = filtered && filter_words() * sizeof(std::uint32_t) <= options.filter;
      fill_by_parts(on, build, seed, filtered, differ, suffice);
    }
  }

  key_table<Key, Slot> view() {
    return {mix_, slots_.data(), part_bits_, static_cast<std::uint32_t>(part_slots_),
            filter_.data()};
  }
  bool is_one_part() const { return part_bits_ == 0; }
  bool has_filter() const { return filter_.size() != 0; }

 private:
  // Up to 2^21 rows, or what the L2 holds if slots have no rows and lookups ask no filter. To fill
  // parts is faster than to insert more rows at random.
  static bool is_in_one_part(std::uint64_t rows, std::size_t in_l2, bool filtered) {
    constexpr bool has_rows = std::is_same_v<Slot, row_slot<Key>>;
    if (rows <= in_l2 / table_options::bytes_a_row) return true;
    return !has_rows && !filtered && 2 * rows * sizeof(Slot) <= in_l2;
  }

  // In a small table, a thread waits for the slots that it looks at, one after the other: more of
  // them are empty.
  static std::uint64_t slots_a_row(std::uint64_t rows) {
    constexpr std::uint64_t small = std::uint64_t{1} << 17;
    return rows <= small ? 8 : 2;
  }

  // Those of all parts, and the one of the key whose hash is the empty mark.
  std::uint64_t slots() const { return (part_slots_ << part_bits_) + 1; }
  std::uint64_t filter_words() { return std::uint64_t{view().filter_words()} << part_bits_; }

  void fill_by_parts(const context& on, const column& build, std::uint64_t seed, bool filtered,
                     std::uint64_t* differ, std::uint64_t* suffice) {
    const divided_column<Key> rows = divided<Key>(on, build, seed, part_bits_);
    const std::uint64_t parts = std::uint64_t{1} << part_bits_;
    buffer<std::uint32_t> begins(on, parts + 1);
    slots_ = {on, slots()};  // not before, since the division takes twice what it leaves
    if (filtered) filter_ = {on, filter_words()};
    fill_with_ones(on, slots_.data() + slots() - 1, 1);
    const divided_side<Key> side{rows.hashes.data(), rows.rows.data(), begins.data(), rows.size};
    executor::for_each_alone(on, put_part_begins<Key>{{side, {}}, part_bits_, begins.data()},
                             parts + 1);
    executor::for_each_in_blocks(on, fill_parts<Key, Slot>{side, view(), differ, suffice}, parts);
  }

  unsigned part_bits_;
  std::uint64_t part_slots_;
  buffer<Slot> slots_;
  buffer<std::uint32_t> filter_;
  core::hash_function<Key> mix_;
};

// Whether keys of the first rows of a large table repeat: then most likely others do, too.
template <class Key>
bool repeat_soon(const context& on, const column& build, std::uint64_t seed) {
  constexpr std::uint64_t tried = std::uint64_t{1} << 16;
  if (build.size <= 16 * tried) return false;
  buffer<std::uint64_t> differ(on, 1);
  fill_with_ones(on, differ);
  const filled_table<Key, key_slot<Key>> table(on, build, tried, seed, {}, false, differ.data(),
                                               nullptr);
  return executor::read(on, differ.data()) == 0;
}

// A join by a table of the build keys.
template <class Key, class Slot>
class table_join {
 public:
  table_join(const context& on, const column& build, const column& probe, const equality& how,
             const table_options& options)
      : on_(on),
        how_(how),
        build_rows_(build.size),
        tiles_(core::tiles_of(probe.size)),
        found_(room_for(on, probe.size)),
        table_(on, build, build.size, how.seed, options,
               probe.size / 2 >= build.size && !options.keys_repeat,
               how.any_row() || options.keys_repeat ? nullptr : differ(), suffice()),
        probes_{{cells_of(probe)}, probe.size, table_.view()},
        hits_(counted_hits()) {
    if (!options.keys_repeat) find(differ());
    if constexpr (has_rows) {
      const bool small = build.size <= options.grouped && how.order == join_order::any;
      if (complete_ || how.any_row() || !(small || options.keys_repeat)) return;
      group(build);
      find(suffice());
    }
  }

  // Nothing if keys repeat and are not grouped, or a part of the table has too few slots.
  std::optional<equal_rows<std::uint32_t>> take() {
    if (!complete_) return std::nullopt;
    return equal_rows<std::uint32_t>{std::move(found_), build_rows_, confused_};
  }

 private:
  static constexpr bool has_rows = std::is_same_v<Slot, row_slot<Key>>;

  static found_rows<std::uint32_t> room_for(const context& on, std::uint64_t probes) {
    const std::uint64_t tiles = core::tiles_of(probes);
    found_rows<std::uint32_t> room;
    room.begins = {on, probes};
    room.tile_ends = {on, tiles + 3};
    fill_with_ones(on, room.tile_ends.data() + tiles, 3);
    return room;
  }
  // Numbers that are read with that of the rows. The last one becomes 0 if keys of equal hashes
  // differ.
  std::uint64_t* differ() { return found_.tile_ends.data() + tiles_; }
  std::uint64_t* suffice() { return differ() + 1; }
  std::uint64_t* equal() { return differ() + 2; }

  buffer<std::uint32_t> counted_hits() const {
    if (!table_.has_filter()) return {};
    buffer<std::uint32_t> hits(on_, 2);
    executor::clear(on_, hits.data(), hits.size());
    const std::uint64_t groups = std::min(tiles_, count_hits<Key, Slot>::most_groups);
    executor::for_each_in_blocks(on_, count_hits<Key, Slot>{probes_, groups, hits.data()}, groups);
    return hits;
  }

  // Finds nothing if the number there is 0.
  void find(const std::uint64_t* unless) {
    std::uint64_t* const ends = found_.tile_ends.data();
    executor::for_each_in_blocks(
        on_,
        find_keys<Key, Slot>{probes_, how_.joining, unless, hits_.data(), found_.begins.data(),
                             group_ends_.data(), found_.counts.data(), ends},
        tiles_);
    if (how_.hashed())
      executor::for_each(
          on_,
          compare_found{*how_.probe_keys, *how_.build_keys, found_.begins.data(),
                        found_.counts.data(), static_cast<const std::uint32_t*>(found_.list),
                        nullptr, unless, equal()},
          probes_.size);
    if (!how_.counted && !has_rows && table_.is_one_part()) {  // which nothing can be wrong with
      complete_ = true;
      return;
    }
    if (tiles_ > 1) executor::inclusive_sum(on_, ends, tiles_);
    std::uint64_t last[4];
    executor::copy_out(on_, last, ends + tiles_ - 1, sizeof last);
    found_.rows = last[0];
    complete_ = last[2] != 0 && (last[1] != 0 || group_ends_.size() != 0);
    confused_ = last[3] == 0;
  }

  void group(const column& build) {
    const std::uint64_t rows = build.size;
    buffer<std::uint32_t> owners(on_, rows);
    buffer<std::uint32_t> ranks(on_, rows);
    group_ends_ = {on_, rows + 1};
    found_.own_list = {on_, rows * sizeof(std::uint32_t)};
    found_.list = found_.own_list.data();
    found_.counts = {on_, probes_.size};
    const key_groups groups{owners.data(), ranks.data(), group_ends_.data(),
                            reinterpret_cast<std::uint32_t*>(found_.own_list.data())};
    executor::clear(on_, group_ends_.data(), group_ends_.size());
    executor::for_each_in_blocks(
        on_, count_groups<Key>{{{cells_of(build)}, rows, table_.view()}, groups},
        core::tiles_of(rows));
    if (how_.hashed())
      executor::for_each(on_,
                         compare_found{*how_.build_keys, *how_.build_keys, owners.data(), nullptr,
                                       nullptr, nullptr, nullptr, equal()},
                         rows);
    executor::inclusive_sum(on_, groups.ends + 1, rows);
    executor::for_each(on_, list_groups{groups}, rows);
  }

  context on_;
  equality how_;
  std::uint64_t build_rows_;
  std::uint64_t tiles_;
  found_rows<std::uint32_t> found_;
  filled_table<Key, Slot> table_;
  looked_up<Key, Slot> probes_;
  buffer<std::uint32_t> hits_;  // as of `find_keys`, as the next one
  buffer<std::uint32_t> group_ends_;
  bool complete_ = false;
  bool confused_ = false;
};

}  // namespace

template <class Key>
std::optional<equal_rows<std::uint32_t>> find_by_table(const context& on, const column& build,
                                                       const column& probe, const equality& how,
                                                       const table_options& options) {
  const auto find = [&](const table_options& by) {
    if (how.any_row() && !how.hashed())
      return table_join<Key, key_slot<Key>>(on, build, probe, how, by).take();
    return table_join<Key, row_slot<Key>>(on, build, probe, how, by).take();
  };
  auto found = find(options);
  if (found || !how.any_row()) return found;
  table_options whole = options;
  whole.in_l2 = in_one_part;
  return find(whole);
}

template <class Key>
std::optional<equal_rows<std::uint32_t>> find_by_parts(const context& on, const column& build,
                                                       const column& probe, const equality& how,
                                                       bool keys_repeat) {
  part_join<Key> found(on, build, probe, how, keys_repeat);
  if (!found.fits()) return std::nullopt;
  return equal_rows<std::uint32_t>{found.take(), found.entries(), found.confused()};
}

template std::optional<equal_rows<std::uint32_t>> find_by_table<std::uint32_t>(
    const context&, const column&, const column&, const equality&, const table_options&);
template std::optional<equal_rows<std::uint32_t>> find_by_table<std::uint64_t>(
    const context&, const column&, const column&, const equality&, const table_options&);
template std::optional<equal_rows<std::uint32_t>> find_by_parts<std::uint32_t>(
    const context&, const column&, const column&, const equality&, bool);
template std::optional<equal_rows<std::uint32_t>> find_by_parts<std::uint64_t>(
    const context&, const column&, const column&, const equality&, bool);

template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how) {
  if constexpr (sizeof(RowId) == 4) {
    if (build.size == 0 || probe.size == 0 || build.size > most_build_rows ||
        probe.size >= not_found<std::uint32_t>)
      return std::nullopt;
    try {
      if (turning_pays(build.size, probe.size, how)) {
        // Of one part, which has slots for all.
        equality turned = how;
        turned.joining = core::joining::matches;
        std::swap(turned.build_keys, turned.probe_keys);
        equal_rows<RowId> found =
            find_by_table<Key>(on, probe, build, turned, {.keys_repeat = true}).value();
        found.rows.turned_probes = probe.size;
        found.entries = build.size;
        return found;
      }
      const bool by_key_slots = how.any_row() && !how.hashed();
      bool keys_repeat = !by_key_slots && repeat_soon<Key>(on, build, how.seed);
      const bool in_parts = parts_first(build.size, probe.size, how);
      if (how.any_row() || (!keys_repeat && !in_parts)) {
        table_options options;
        if (keys_repeat) options.in_l2 = in_one_part;
        auto found = find_by_table<Key>(on, build, probe, how, options);
        if (found) return found;
        keys_repeat = true;
      }
      if (!in_parts && !parts_pay<Key>(build.size, probe.size, how.order)) return std::nullopt;
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
