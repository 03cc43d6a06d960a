// SPDX-License-Identifier: Apache-2.0
/// @file
/// From what probes found to the rows of a join, in the same time however they are spread over the
/// probes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Which rows of a join a probe has.
enum class joining : std::uint8_t {
  matches,         ///< its matches
  matches_or_one,  ///< the same, and one without a match where there are none
  once_if_any,     ///< itself, if it has a match
  once_if_none     ///< itself, if it has none
};

/// Whether a probe has one row at most, however many match.
RAYDEX_HD constexpr bool is_once(joining kind) {
  return kind == joining::once_if_any || kind == joining::once_if_none;
}

/// How many rows of a join a probe of so many matches has.
RAYDEX_HD constexpr std::uint64_t rows_of_join(joining kind, std::uint64_t matches) {
  switch (kind) {
    case joining::matches:
      return matches;
    case joining::matches_or_one:
      return matches == 0 ? 1 : matches;
    case joining::once_if_any:
      return matches == 0 ? 0 : 1;
    case joining::once_if_none:
      return matches == 0 ? 1 : 0;
  }
  return 0;
}

/// What a batch of probes found. Of one match `begins` has the row; of more, where the rows are in
/// a list. Without `counts` no probe has more than one.
template <class RowId>
struct located_probes {
  using row_id = RowId;                                             ///< a build row
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  const RowId* begins;  ///< a number a probe; `none` where there are no counts and no match
  const RowId* counts;  ///< matches of each probe; null: one, or none
  const RowId* list;    ///< rows by position
  std::uint64_t size;   ///< probes
  joining kind;         ///< which rows of the join they have
  /// The probe row of each; null: its number.
  const RowId* probe_rows = nullptr;

  /// The probe row of a probe.
  RAYDEX_HD std::uint64_t probe_row(std::uint64_t probe) const {
    return probe_rows == nullptr ? probe : load(probe_rows + probe);
  }
  /// How many matches a probe has.
  RAYDEX_HD std::uint64_t matches(std::uint64_t probe) const {
    if (counts != nullptr) return load(counts + probe);
    return load(begins + probe) == none ? 0 : 1;
  }
  /// How many rows of the join.
  RAYDEX_HD std::uint64_t rows(std::uint64_t probe) const {
    return rows_of_join(kind, matches(probe));
  }
  /// Whether no probe has more than one.
  RAYDEX_HD bool at_most_one() const { return counts == nullptr || is_once(kind); }
  /// The build row of the k-th of them; `none` where there is none.
  RAYDEX_HD RowId build_row(std::uint64_t probe, std::uint64_t k) const {
    const RowId begin = load(begins + probe);
    if (counts == nullptr) return begin;
    const RowId count = load(counts + probe);
    if (count == 0) return none;
    return count == 1 ? begin : load(list + begin + k);
  }
};

/// Row numbers of 32 or 64 bits, or none.
class row_numbers {
 public:
  /// Of 32 bits.
  RAYDEX_HD explicit row_numbers(const std::uint32_t* numbers) : narrow_(numbers) {}
  /// Of 64 bits.
  RAYDEX_HD explicit row_numbers(const std::uint64_t* numbers) : wide_(numbers) {}

  /// Whether there are any.
  RAYDEX_HD bool any() const { return narrow_ != nullptr || wide_ != nullptr; }
  /// One of them.
  RAYDEX_HD std::uint64_t operator[](std::uint64_t i) const {
    return narrow_ != nullptr ? load(narrow_ + i) : load(wide_ + i);
  }

 private:
  const std::uint32_t* narrow_ = nullptr;
  const std::uint64_t* wide_ = nullptr;
};

/// Marks the build rows that probes of points found: a row that alone has its key, or else the
/// first and the last position of the rows of a key. Rows of different keys lie apart, so that all
/// who mark a place mark it alike, and most see that it is marked.
struct mark_found {
  row_numbers begins;      ///< as of `located_probes`
  row_numbers counts;      ///< likewise
  std::uint64_t rows;      ///< build rows
  std::uint32_t* matched;  ///< a number a build row: 1 where it is found
  std::uint32_t* bounds;   ///< a number a position: 1 at the first one of a key, -1 at the last one

  /// Marks what one found.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const std::uint64_t begin = begins[probe];
    const std::uint64_t alone = begin < rows ? 1 : 0;  // or nothing is found
    const std::uint64_t count = counts.any() ? counts[probe] : alone;
    if (count == 0) return;
    if (count == 1) return mark(matched + begin, 1);
    mark(bounds + begin, 1);
    mark(bounds + begin + count - 1, ~std::uint32_t{0});
  }

 private:
  RAYDEX_HD static void mark(std::uint32_t* place, std::uint32_t as) {
    if (load_atomically(place) != as) store_atomically(place, as);
  }
};

/// Marks the build rows at the positions of keys that were found.
struct mark_found_positions {
  const std::uint32_t* inside;  ///< sums of `bounds`: 1 up to the last position of a key, there 0
  row_numbers list;             ///< rows by position
  std::uint32_t* matched;       ///< a number a build row

  /// Marks the row at one.
  RAYDEX_HD void operator()(std::uint64_t position) const {
    const bool is_last = position != 0 && load(inside + position - 1) != 0;
    if (is_last || load(inside + position) != 0) matched[list[position]] = 1;
  }
};

/// Probes of a tile: what a group of threads turns into rows at a time. Groups have 256 threads, or
/// one.
inline constexpr unsigned tile_probes = 1024;

/// The tiles of so many probes.
RAYDEX_HD constexpr std::uint64_t tiles_of(std::uint64_t probes) {
  return (probes + tile_probes - 1) / tile_probes;
}

/// A tile of more rows than `heavy_rows` is left to many groups; each one writes
/// `rows_at_once` of them.
inline constexpr std::uint64_t heavy_rows = std::uint64_t{1} << 16;
/// See `heavy_rows`.
inline constexpr std::uint64_t rows_at_once = std::uint64_t{1} << 14;

/// Where the rows of a tile's probes end, counted from its first one, in a group's scratch.
class tile_ends {
 public:
  /// Bytes of scratch.
  static constexpr std::size_t scratch_bytes = (tile_probes + 8) * sizeof(std::uint64_t);

  /// In this scratch.
  RAYDEX_HD explicit tile_ends(std::byte* scratch)
      : ends_(reinterpret_cast<std::uint64_t*>(scratch)) {}

  /// Adds up `rows(i)` of the tile's probes; the last tile may have fewer.
  template <summing_group Group, class Rows>
  RAYDEX_HD void add_up(const Group& group, unsigned probes, const Rows& rows) const {
    const unsigned each = tile_probes / group.lanes();
    const unsigned first = group.lane() * each;
    std::uint64_t sum = 0;
    for (unsigned i = first; i < first + each; ++i)
      sum += i < probes ? rows(i) : 0;
    std::uint64_t end = group.sum_before(sum, ends_ + tile_probes);
    for (unsigned i = first; i < first + each; ++i) {
      end += i < probes ? rows(i) : 0;
      ends_[i] = end;
    }
    group.sync();
  }

  /// Where the rows of a probe begin.
  RAYDEX_HD std::uint64_t begin(unsigned probe) const { return probe == 0 ? 0 : ends_[probe - 1]; }
  /// Where they end.
  RAYDEX_HD std::uint64_t end(unsigned probe) const { return ends_[probe]; }

  /// The probe that has row `i`, which exists: `from`, or one after it.
  template <class Group>
  RAYDEX_HD unsigned probe_of(const Group& group, std::uint64_t i, unsigned from) const {
    if (ends_[from] > i) return from;
    if (group.lanes() == 1) {
      while (ends_[from] <= i)
        ++from;
      return from;
    }
    // It is after `from`, mostly not far.
    unsigned step = 1;
    while (from + step < tile_probes - 1 && ends_[from + step] <= i) {
      from += step;
      step *= 2;
    }
    unsigned last = from + step < tile_probes - 1 ? from + step : tile_probes - 1;
    while (last - from > 1) {
      const unsigned middle = (from + last) / 2;
      if (ends_[middle] > i) {
        last = middle;
      } else {
        from = middle;
      }
    }
    return last;
  }

 private:
  std::uint64_t* ends_;
};

/// Probes of a tile of a batch.
RAYDEX_HD constexpr unsigned probes_of_tile(std::uint64_t tile, std::uint64_t probes) {
  const std::uint64_t left = probes - tile * tile_probes;
  return left < tile_probes ? static_cast<unsigned>(left) : tile_probes;
}

/// Writes how many rows each tile has.
template <class Located>
struct count_tile_rows {
  static constexpr std::size_t most_scratch_bytes = 8 * sizeof(std::uint64_t);  ///< of a group

  Located found;        ///< the probes
  std::uint64_t* rows;  ///< a number a tile

  /// See `most_scratch_bytes`.
  RAYDEX_HD static std::size_t scratch_bytes() { return most_scratch_bytes; }

  /// Counts those of one.
  template <summing_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t tile) const {
    const unsigned probes = probes_of_tile(tile, found.size);
    std::uint64_t sum = 0;
    for (unsigned i = group.lane(); i < probes; i += group.lanes())
      sum += found.rows(tile * tile_probes + i);
    const std::uint64_t before = group.sum_before(sum, reinterpret_cast<std::uint64_t*>(scratch));
    if (group.lane() == group.lanes() - 1) rows[tile] = before + sum;
  }
};

/// A slice of the rows of a join, and where it is written.
template <class Out>
struct row_slice {
  std::uint64_t begin;  ///< the first row
  std::uint64_t end;    ///< behind the last one
  Out* probe_rows;      ///< the probe row of each
  Out* build_rows;      ///< the build row; null: not written
};

/// Which rows of a join each tile of probes has, and which of them are written.
template <class Out>
class tile_writer {
 public:
  static constexpr std::size_t most_scratch_bytes = tile_ends::scratch_bytes;  ///< of a group

  /// `ends`: where the rows of each tile end.
  RAYDEX_HD tile_writer(std::uint64_t probes, const std::uint64_t* ends,
                        const row_slice<Out>& slice)
      : probes_(probes), ends_(ends), slice_(slice) {}

  /// See `most_scratch_bytes`.
  RAYDEX_HD static std::size_t scratch_bytes() { return most_scratch_bytes; }

 protected:
  /// Where the rows of a tile begin.
  RAYDEX_HD std::uint64_t begin_of(std::uint64_t tile) const {
    return tile == 0 ? 0 : load(ends_ + tile - 1);
  }
  /// Where they end.
  RAYDEX_HD std::uint64_t end_of(std::uint64_t tile) const { return load(ends_ + tile); }
  /// Whether a tile is left to many groups.
  RAYDEX_HD bool is_heavy(std::uint64_t tile) const {
    return end_of(tile) - begin_of(tile) > heavy_rows;
  }
  /// The tile that has a row.
  RAYDEX_HD std::uint64_t tile_of(std::uint64_t row) const {
    std::uint64_t first = 0;
    std::uint64_t last = tiles_of(probes_) - 1;
    while (first < last) {
      const std::uint64_t middle = first + (last - first) / 2;
      if (end_of(middle) > row) {
        last = middle;
      } else {
        first = middle + 1;
      }
    }
    return first;
  }
  /// Leaves of the rows [begin, end) those of a tile that are in the slice.
  RAYDEX_HD void clip(std::uint64_t tile, std::uint64_t& begin, std::uint64_t& end) const {
    begin = latest(begin, latest(begin_of(tile), slice_.begin));
    end = earliest(end, earliest(end_of(tile), slice_.end));
  }
  /// The slice.
  RAYDEX_HD const row_slice<Out>& slice() const { return slice_; }

 private:
  RAYDEX_HD static std::uint64_t latest(std::uint64_t a, std::uint64_t b) { return a < b ? b : a; }
  RAYDEX_HD static std::uint64_t earliest(std::uint64_t a, std::uint64_t b) {
    return a < b ? a : b;
  }

  std::uint64_t probes_;
  const std::uint64_t* ends_;
  row_slice<Out> slice_;
};

/// Writes rows of a join, the threads of a group one after the other.
template <class Located, class Out>
class row_writer : public tile_writer<Out> {
 public:
  /// `ends`: where the rows of each tile end.
  RAYDEX_HD row_writer(const Located& found, const std::uint64_t* ends, const row_slice<Out>& slice)
      : tile_writer<Out>(found.size, ends, slice), found_(found) {}

 protected:
  /// Writes those of a tile that are in the slice and in [begin, end).
  template <class Group>
  RAYDEX_HD void write(const Group& group, std::byte* scratch, std::uint64_t tile,
                       std::uint64_t begin, std::uint64_t end) const {
    this->clip(tile, begin, end);
    if (begin >= end) return;
    const std::uint64_t first = this->begin_of(tile);
    const std::uint64_t first_probe = tile * tile_probes;
    const unsigned probes = probes_of_tile(tile, found_.size);
    const std::uint64_t rows = this->end_of(tile) - first;
    if (found_.at_most_one() && rows == probes) {  // each probe has one
      for (std::uint64_t at = begin + group.lane(); at < end; at += group.lanes())
        put(at, first_probe + (at - first), 0);
      return;
    }
    if (found_.at_most_one() && rows <= few_rows) {
      write_few(group, scratch, first, first_probe, probes, begin, end);
      return;
    }
    const tile_ends ends(scratch);
    ends.add_up(group, probes, [&](unsigned i) { return found_.rows(first_probe + i); });
    if (found_.at_most_one()) {
      // Without a search for the probe of each row.
      for (unsigned i = group.lane(); i < probes; i += group.lanes()) {
        const std::uint64_t at = first + ends.begin(i);
        if (ends.end(i) != ends.begin(i) && at >= begin && at < end) put(at, first_probe + i, 0);
      }
    } else {
      // Threads of a warp write side by side, and each warp rows that follow each other, so that
      // the next row is not far from the last one.
      constexpr unsigned warp = 32;
      const unsigned lanes = group.lanes() < warp ? group.lanes() : warp;
      const std::uint64_t steps = (end - begin + group.lanes() - 1) / group.lanes();
      const std::uint64_t own = begin - first + group.lane() / lanes * steps * lanes;
      const std::uint64_t own_end =
          own + steps * lanes < end - first ? own + steps * lanes : end - first;
      unsigned probe = 0;
      for (std::uint64_t i = own + group.lane() % lanes; i < own_end; i += lanes) {
        probe = ends.probe_of(group, i, probe);
        put(first + i, first_probe + probe, i - ends.begin(probe));
      }
    }
    group.sync();
  }

 private:
  // So few of a tile that it is no matter if threads do not write side by side.
  static constexpr std::uint64_t few_rows = tile_probes / 16;

  // Writes those of a tile whose probes have one at most. Each thread looks at some that follow
  // each other.
  template <class Group>
  RAYDEX_HD void write_few(const Group& group, std::byte* scratch, std::uint64_t first,
                           std::uint64_t first_probe, unsigned probes, std::uint64_t begin,
                           std::uint64_t end) const {
    const unsigned each = tile_probes / group.lanes();
    const unsigned own = group.lane() * each;
    const unsigned own_end = own + each < probes ? own + each : probes;
    std::uint64_t count = 0;
    for (unsigned i = own; i < own_end; ++i)
      count += found_.rows(first_probe + i);
    std::uint64_t at = first + group.sum_before(count, reinterpret_cast<std::uint64_t*>(scratch));
    for (unsigned i = own; count != 0 && i < own_end; ++i) {
      if (found_.rows(first_probe + i) == 0) continue;
      if (at >= begin && at < end) put(at, first_probe + i, 0);
      ++at;
      --count;
    }
    group.sync();
  }

  // Writes row `at` of the join, the k-th one of a probe.
  RAYDEX_HD void put(std::uint64_t at, std::uint64_t probe, std::uint64_t k) const {
    const row_slice<Out>& slice = this->slice();
    store_once(slice.probe_rows + (at - slice.begin), static_cast<Out>(found_.probe_row(probe)));
    if (slice.build_rows == nullptr) return;
    const auto row = found_.build_row(probe, k);
    store_once(slice.build_rows + (at - slice.begin),
               row == Located::none ? std::numeric_limits<Out>::max() : static_cast<Out>(row));
  }

  Located found_;
};

/// Writes the rows of a tile, unless it is heavy.
template <class Writer>
struct write_tile_rows : Writer {
  using Writer::Writer;

  /// Writes those of one.
  template <summing_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t tile) const {
    if (!this->is_heavy(tile)) this->write(group, scratch, tile, 0, ~std::uint64_t{0});
  }
};

/// Writes the rows of heavy tiles among `rows_at_once` rows of the slice.
template <class Writer>
struct write_heavy_rows : Writer {
  using Writer::Writer;

  /// Writes part `i`. A heavy tile has more rows than a part, so that it has the first row of it or
  /// the last one.
  template <summing_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t i) const {
    const std::uint64_t begin = this->slice().begin + i * rows_at_once;
    const std::uint64_t left = this->slice().end - begin;
    const std::uint64_t end = begin + (left < rows_at_once ? left : rows_at_once);
    const std::uint64_t first = this->tile_of(begin);
    const std::uint64_t last = this->tile_of(end - 1);
    if (this->is_heavy(first)) this->write(group, scratch, first, begin, end);
    if (last != first && this->is_heavy(last)) this->write(group, scratch, last, begin, end);
  }
};

/// Writes how many rows of the join each probe row has.
template <class Located>
struct write_row_counts {
  Located found;       ///< the probes
  std::uint64_t* out;  ///< a number a probe row
  /// Writes that of a probe.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    out[found.probe_row(probe)] = found.rows(probe);
  }
};

/// Adds up how often each row that the probes found is in the join, if probe rows were found by
/// build rows.
template <class Located>
struct add_row_counts {
  Located found;       ///< the build rows
  std::uint64_t* out;  ///< a number a probe row
  /// Adds those of a build row.
  RAYDEX_HD void operator()(std::uint64_t build) const {
    for (std::uint64_t k = 0; k < found.matches(build); ++k)
      add_atomically(out + found.build_row(build, k), std::uint64_t{1});
  }
};

}  // namespace raydex::core
