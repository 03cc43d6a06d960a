// SPDX-License-Identifier: Apache-2.0
// What a batch of a join found, on any backend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "raydex/core/joins/pairs.hpp"
#include "raydex/join.hpp"
#include "src/operations/joins/found_rows.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Where the rows of each tile of probes end.
template <executor Executor>
class row_tiles {
 public:
  // Counts them; synchronises.
  template <class Located>
  row_tiles(const context& on, const Located& found)
      : tiles_(core::tiles_of(found.size)), ends_(on, tiles_) {
    if (tiles_ == 0) return;
    Executor::for_each_in_blocks(on, core::count_tile_rows<Located>{found, ends_.data()}, tiles_);
    if (tiles_ > 1) Executor::inclusive_sum(on, ends_.data(), tiles_);
    rows_ = Executor::read(on, ends_.data() + tiles_ - 1);
  }
  // Those of so many probes that are counted; behind the ends there may be other numbers.
  row_tiles(std::uint64_t probes, buffer<std::uint64_t> ends, std::uint64_t rows)
      : tiles_(core::tiles_of(probes)), ends_(std::move(ends)), rows_(rows) {}

  std::uint64_t rows() const { return rows_; }

  // Has a `core::row_writer` or the like write a slice of them.
  template <class Writer, class Found, class Out>
  void write(const context& on, const Found& found, const core::row_slice<Out>& slice) const {
    Executor::for_each_in_blocks(on, core::write_tile_rows<Writer>(found, ends_.data(), slice),
                                 tiles_);
    if constexpr (requires { found.at_most_one(); }) {
      if (found.at_most_one()) return;  // no tile is heavy
    }
    Executor::for_each_in_blocks(
        on, core::write_heavy_rows<Writer>(found, ends_.data(), slice),
        (slice.end - slice.begin + core::rows_at_once - 1) / core::rows_at_once);
  }

 private:
  std::uint64_t tiles_;
  buffer<std::uint64_t> ends_;
  std::uint64_t rows_ = 0;
};

// Calls f(row_slice) for rows of a join, from `first` on.
template <class F>
void with_slice(std::uint64_t first, const gather_maps& out, const F& f) {
  with_row_id(out.type, [&](auto zero) {
    using row = decltype(zero);
    f(core::row_slice<row>{first, first + out.size, static_cast<row*>(out.probe_rows),
                           static_cast<row*>(out.build_rows)});
  });
}

// Whether a join has build rows without a match.
inline bool wants_unmatched(join_kind kind) {
  return kind == join_kind::right || kind == join_kind::full;
}

// What a join with unmatched build rows has beside them.
inline join_kind without_unmatched(join_kind kind) {
  return kind == join_kind::full ? join_kind::left : join_kind::inner;
}

// The build rows that no probe found.
template <executor Executor>
class unmatched_rows {
 public:
  // Of so many, those that are in no row of a join; synchronises. Takes the time of its rows.
  unmatched_rows(const context& on, std::uint64_t rows, const joined& pairs)
      : matched_(marked(on, rows, pairs)), tiles_(on, view()) {}
  // Of so many, if an index has `entries` of them; synchronises.
  template <class RowId>
  unmatched_rows(const context& on, std::uint64_t rows, std::uint64_t entries,
                 const found_rows<RowId>& found)
      : matched_(marked(on, rows, entries, found)), tiles_(on, view()) {}

  std::uint64_t size() const { return tiles_.rows(); }

  // Writes a slice of a join that has these after so many others: f(row_slice) writes of the
  // others.
  template <class Out, class F>
  void write_after(const context& on, std::uint64_t others, const core::row_slice<Out>& slice,
                   const F& f) const {
    if (slice.begin < others) {
      core::row_slice<Out> before = slice;
      before.end = std::min(slice.end, others);
      f(before);
    }
    if (slice.end > others) {
      const std::uint64_t begin = std::max(slice.begin, others);
      const std::uint64_t written = begin - slice.begin;
      write(on, core::row_slice<Out>{begin - others, slice.end - others, slice.probe_rows + written,
                                     slice.build_rows + written});
    }
  }

 private:
  using located = core::located_probes<std::uint32_t>;

  // Of a join whose rows are marked so many at a time.
  static constexpr std::uint64_t marked_at_once = std::uint64_t{1} << 22;

  // Writes a slice of them, beside no probe rows.
  template <class Out>
  void write(const context& on, const core::row_slice<Out>& slice) const {
    // To the kernel they are the probes, and it writes those without a match.
    const core::row_slice<Out> turned{slice.begin, slice.end, slice.build_rows, slice.probe_rows};
    tiles_.template write<core::row_writer<located, Out>>(on, view(), turned);
  }

  located view() const {
    return {matched_.data(), matched_.data(), nullptr, matched_.size(),
            core::joining::once_if_none};
  }

  template <class RowId>
  static buffer<std::uint32_t> marked(const context& on, std::uint64_t rows, std::uint64_t entries,
                                      const found_rows<RowId>& found) {
    buffer<std::uint32_t> matched(on, rows);
    if (rows == 0) return matched;
    const bool repeat = found.list != nullptr;
    buffer<std::uint32_t> positions(on, repeat ? entries : 0);
    Executor::clear(on, matched.data(), rows);
    if (repeat) Executor::clear(on, positions.data(), entries);
    Executor::for_each(on,
                       core::mark_found{core::row_numbers(found.begins.data()),
                                        core::row_numbers(found.counts.data()), rows,
                                        matched.data(), positions.data()},
                       found.begins.size());
    if (!repeat) return matched;
    Executor::inclusive_sum(on, positions.data(), entries);
    Executor::for_each(
        on,
        core::mark_found_positions{positions.data(),
                                   core::row_numbers(static_cast<const RowId*>(found.list)),
                                   matched.data()},
        entries);
    return matched;
  }

  static buffer<std::uint32_t> marked(const context& on, std::uint64_t rows, const joined& pairs) {
    buffer<std::uint32_t> matched(on, rows);
    if (rows == 0) return matched;
    Executor::clear(on, matched.data(), rows);
    const bool narrow = std::max(rows, pairs.probes()) < not_found<std::uint32_t>;
    narrow ? mark<std::uint32_t>(on, pairs, matched) : mark<std::uint64_t>(on, pairs, matched);
    return matched;
  }

  template <class RowId>
  static void mark(const context& on, const joined& pairs, buffer<std::uint32_t>& matched) {
    buffer<RowId> probes(on, std::min(pairs.size(), marked_at_once));
    buffer<RowId> builds(on, probes.size());
    for (std::uint64_t first = 0; first < pairs.size(); first += probes.size()) {
      const std::uint64_t size = std::min(pairs.size() - first, probes.size());
      std::span<RowId> some_probes(probes.data(), size);
      std::span<RowId> some_builds(builds.data(), size);
      pairs.rows(on, first, gather_maps(some_probes, some_builds));
      // Each row is as the only one that a probe found.
      constexpr const RowId* none = nullptr;
      Executor::for_each(on,
                         core::mark_found{core::row_numbers(builds.data()), core::row_numbers(none),
                                          matched.size(), matched.data(), nullptr},
                         size);
    }
  }

  buffer<std::uint32_t> matched_;  // a number a build row: 1, or 0
  row_tiles<Executor> tiles_;
};

template <class RowId, executor Executor>
class built_joined final : public joined {
 public:
  // `rows`: of the build side, if the join has rows without a match.
  built_joined(const context& on, const index_info& build_side, join_kind kind,
               found_rows<RowId> found, std::uint64_t rows = 0)
      : joined(build_side.where, kind, found.probes(), last_row(build_side, rows)),
        found_(std::move(found)),
        tiles_(found_.tile_ends.size() != 0
                   ? row_tiles<Executor>(found_.begins.size(), std::move(found_.tile_ends),
                                         found_.rows)
                   : row_tiles<Executor>(on, found_.view(kind))),
        without_probe_(on, rows, build_side.entries, found_) {
    this->unmatched_ = without_probe_.size();
    this->size_ = tiles_.rows() + this->unmatched_;
  }

 private:
  using located = core::located_probes<RowId>;

  static std::uint64_t last_row(const index_info& build_side, std::uint64_t rows) {
    if (rows != 0) return rows - 1;
    return build_side.entries == 0 ? 0 : build_side.max_row_id;
  }

  void do_counts(const context& on, std::uint64_t* out) const override {
    const located found = found_.view(kind());
    if (found_.left_out != 0) Executor::clear(on, out, probes());
    Executor::for_each(on, core::write_row_counts<located>{found, out}, found.size);
  }

  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    with_slice(first, out, [&]<class Out>(const core::row_slice<Out>& slice) {
      without_probe_.write_after(on, tiles_.rows(), slice, [&](const core::row_slice<Out>& some) {
        tiles_.template write<core::row_writer<located, Out>>(on, found_.view(kind()), some);
      });
    });
  }

  found_rows<RowId> found_;
  row_tiles<Executor> tiles_;
  unmatched_rows<Executor> without_probe_;
};

// In a left join, a probe row without a match has one row.
struct put_one_if_none {
  std::uint64_t* out;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (out[i] == 0) out[i] = 1;
  }
};

// An inner or left join whose sides changed places: the build rows found the probe rows. Those that
// none found come last.
template <class RowId, executor Executor>
class turned_joined final : public joined {
 public:
  turned_joined(const context& on, const index_info& build_side, join_kind kind,
                found_rows<RowId> found)
      : joined(build_side.where, kind, found.turned_probes, build_side.max_row_id),
        found_(std::move(found)),
        tiles_(found_.begins.size(), std::move(found_.tile_ends), found_.rows),
        without_build_(on, kind == join_kind::left ? probes() : 0, probes(), found_) {
    this->size_ = tiles_.rows() + without_build_.size();
  }

 private:
  using located = core::located_probes<RowId>;

  void do_counts(const context& on, std::uint64_t* out) const override {
    const located found = found_.view(join_kind::inner);
    Executor::clear(on, out, probes());
    Executor::for_each(on, core::add_row_counts<located>{found, out}, found.size);
    if (kind() == join_kind::left) Executor::for_each(on, put_one_if_none{out}, probes());
  }

  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    with_slice(first, out, [&]<class Out>(const core::row_slice<Out>& slice) {
      const core::row_slice<Out> turned{slice.begin, slice.end, slice.build_rows, slice.probe_rows};
      without_build_.write_after(on, tiles_.rows(), turned, [&](const core::row_slice<Out>& some) {
        tiles_.template write<core::row_writer<located, Out>>(on, found_.view(join_kind::inner),
                                                              some);
      });
    });
  }

  found_rows<RowId> found_;
  row_tiles<Executor> tiles_;
  unmatched_rows<Executor> without_build_;
};

// A right or full join, by an inner or left one of the same rows.
template <executor Executor>
class joined_with_unmatched final : public joined {
 public:
  joined_with_unmatched(const context& on, backend where, join_kind kind, std::uint64_t table_rows,
                        std::unique_ptr<joined> pairs)
      : joined(where, kind, pairs->probes(), table_rows == 0 ? 0 : table_rows - 1),
        pairs_(std::move(pairs)),
        without_probe_(on, table_rows, *pairs_) {
    this->unmatched_ = without_probe_.size();
    this->size_ = pairs_->size() + this->unmatched_;
  }

 private:
  void do_counts(const context& on, std::uint64_t* out) const override {
    pairs_->counts(on, std::span(out, probes()));
  }

  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    with_slice(first, out, [&]<class Out>(const core::row_slice<Out>& slice) {
      without_probe_.write_after(on, pairs_->size(), slice, [&](const core::row_slice<Out>& some) {
        pairs_->rows(
            on, some.begin,
            gather_maps(out.type, some.probe_rows, some.build_rows, some.end - some.begin));
      });
    });
  }

  std::unique_ptr<joined> pairs_;
  unmatched_rows<Executor> without_probe_;
};

}  // namespace raydex
