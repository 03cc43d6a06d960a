// SPDX-License-Identifier: Apache-2.0
// What a batch of a join found, on any backend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "raydex/core/joins/pairs.hpp"
#include "raydex/join.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

inline core::joining joining_of(join_kind kind) {
  switch (kind) {
    case join_kind::left:
      return core::joining::matches_or_one;
    case join_kind::semi:
      return core::joining::once_if_any;
    case join_kind::anti:
      return core::joining::once_if_none;
    case join_kind::inner:
      break;
  }
  return core::joining::matches;
}

// Where the rows of each tile of probes end.
template <executor Executor>
class row_tiles {
 public:
  // Counts them; synchronises.
  template <class Located>
  row_tiles(const context& on, const Located& found)
      : ends_(on, (found.size + core::tile_probes - 1) / core::tile_probes) {
    if (ends_.size() == 0) return;
    Executor::for_each_in_blocks(on, core::count_tile_rows<Located>{found, ends_.data()},
                                 ends_.size());
    Executor::inclusive_sum(on, ends_.data(), ends_.size());
    rows_ = Executor::read(on, ends_.data() + ends_.size() - 1);
  }

  std::uint64_t rows() const { return rows_; }

  // Has a `core::row_writer` or the like write a slice of them.
  template <class Writer, class Found, class Out>
  void write(const context& on, const Found& found, const core::row_slice<Out>& slice) const {
    Executor::for_each_in_blocks(on, core::write_tile_rows<Writer>(found, ends_.data(), slice),
                                 ends_.size());
    Executor::for_each_in_blocks(
        on, core::write_heavy_rows<Writer>(found, ends_.data(), slice),
        (slice.end - slice.begin + core::rows_at_once - 1) / core::rows_at_once);
  }

 private:
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

// What probes found of an index.
template <class RowId>
struct found_rows {
  buffer<RowId> begins;
  buffer<RowId> counts;        // empty: no probe has more than one match
  buffer<std::byte> own_list;  // what `list` points to, unless the join has it
  const void* list = nullptr;

  core::located_probes<RowId> view(join_kind kind) const {
    return {begins.data(), counts.data(), static_cast<const RowId*>(list), begins.size(),
            joining_of(kind)};
  }
};

template <class RowId, executor Executor>
class built_joined final : public joined {
 public:
  built_joined(const context& on, const index_info& of, join_kind kind, found_rows<RowId> found)
      : joined(of.where, kind, found.begins.size(), of.entries == 0 ? 0 : of.max_row_id),
        found_(std::move(found)),
        tiles_(on, found_.view(kind)) {
    this->size_ = tiles_.rows();
  }

 private:
  using located = core::located_probes<RowId>;

  void do_counts(const context& on, std::uint64_t* out) const override {
    Executor::for_each(on, core::write_row_counts<located>{found_.view(kind()), out}, probes());
  }

  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    with_slice(first, out, [&]<class Out>(const core::row_slice<Out>& slice) {
      tiles_.template write<core::row_writer<located, Out>>(on, found_.view(kind()), slice);
    });
  }

  found_rows<RowId> found_;
  row_tiles<Executor> tiles_;
};

}  // namespace raydex
