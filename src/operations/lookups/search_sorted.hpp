// SPDX-License-Identifier: Apache-2.0
// What the backends' searches in sorted columns have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "raydex/core/keys/column.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/search.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/line_tree.hpp"
#include "src/operations/lookups/ordered_entries.hpp"

namespace raydex {

// A view of a sorted column without missing cells, whose entries are its cells. Cost of a search:
// log2 n + 1 reads.
template <class Key, class Position>
class sorted_keys_view : public core::ordered_view<sorted_keys_view<Key, Position>, Key, Position> {
  using base = typename sorted_keys_view::ordered_view;

 public:
  using typename base::found;  // what a search finds

  // A view of `size` cells.
  sorted_keys_view(const core::cells& keys, Position size) : keys_{keys}, size_(size) {}

  // How many cells there are.
  RAYDEX_HD Position size() const { return size_; }
  // The key at a rank.
  RAYDEX_HD Key key(Position rank) const {
    const bool is_bytes = keys_.format.type == key_type::bytes;
    Key bits[1] = {is_bytes ? keys_.raw(rank) : keys_.template get<Key>(rank)};
    keys_.encode_all(bits);
    return bits[0];
  }
  // A rank is a row.
  RAYDEX_HD Position row_id(Position rank) const { return rank; }

  // Searches for N keys in step; see `ordered_view`.
  template <class Team, std::size_t N>
  RAYDEX_HD void descend(const Team& /*team*/, const Key (&wanted)[N],
                         const Position (&/*entered*/)[N], found (&at)[N]) const {
    Position ranks[N];
    core::lower_bounds([this](Position rank) { return key(rank); }, size_, wanted, ranks);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j] = {ranks[j], false, 0};
  }

 private:
  core::encoded_column<Key> keys_;
  Position size_;
};

// A search per thread: with few registers for each, more reads are under way on a GPU than with
// several searches per thread.
template <class Key, class Rank>
struct rank_one {
  sorted_keys_view<Key, Rank> in;
  core::encoded_column<Key> wanted;
  bool past;
  std::uint64_t* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto from = static_cast<Key>(wanted[i] + (past ? 1 : 0));
    std::uint64_t rank = in.locate(from).rank;
    if (past && from == 0) rank = in.size();  // nothing is above the last key
    out[i] = wanted.valid(i) ? rank : std::numeric_limits<std::uint64_t>::max();
  }
};

template <class Executor>
void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  const row_id_type ranks =
      sorted.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  dispatch(sorted.format, ranks, [&]<class Key, class Rank>() {
    using view = sorted_keys_view<Key, Rank>;
    const view in(cells_of(sorted), static_cast<Rank>(sorted.size));
    if constexpr (Executor::hides_latency_by_threads) {
      Executor::for_each_alone(on, rank_one<Key, Rank>{in, {cells_of(wanted)}, past, out},
                               wanted.size);
    } else {
      Executor::run(on, {}, core::rank_points<view>{in, probes_of<Key>(points(wanted)), past, out});
    }
  });
}

// From so many cells on, nodes are quantised where the keys allow it, which takes a wait for the
// stream.
inline constexpr std::uint64_t least_quantised = std::uint64_t{1} << 22;

// Keys and a tree over them. Ranks have 32 bits; more keys are searched without a tree.
template <class Key, class Executor>
class built_ascending_keys final : public ascending_keys {
  using entries = core::ranked_entries<Key, std::uint32_t>;
  using view = core::line_tree_view<entries>;

 public:
  built_ascending_keys(const context& on, const column& sorted) : size_(sorted.size) {
    constexpr std::uint64_t leaf = core::line_entries;
    leaves_ = {on, (size_ + leaf - 1) / leaf * leaf};
    Executor::for_each(on, put_leaves<Key>{{cells_of(sorted)}, size_, leaves_.data()},
                       leaves_.size());
    codes_ = leaves_.data();
    resident_bytes_ = leaves_.bytes();
    if (size_ == 0 || !has_tree()) return;
    tree_ = grow_line_tree<Executor>(
        on, entries(leaves_.data()), size_,
        size_ < least_quantised ? tree_nodes::exact : tree_nodes::automatic);
    resident_bytes_ += tree_.resident_bytes();
  }

  void rank(const context& on, const column& wanted, bool past, std::uint64_t* out) const override {
    if (size_ == 0) return Executor::clear(on, out, wanted.size);
    if (!has_tree())
      return search_sorted<Executor>(on, column(std::span(leaves_.data(), size_)), wanted, past,
                                     out);
    run(on, [&](const view& in) {
      return core::rank_points<view>{in, probes_of<Key>(points(wanted)), past, out};
    });
  }

  // Runs what f(view) returns, an operation over the tree; there is one, and a key.
  template <class F>
  void run(const context& on, const F& f) const {
    const view in(entries(leaves_.data()), static_cast<std::uint32_t>(size_),
                  tree_.template parts<view>());
    Executor::run(
        on,
        plan_of(
            {},
            {.schedule = scheduling::fixed, .threads = 1024, .lookups = 4, .pin = pinning::full}),
        f(in));
  }

 private:
  bool has_tree() const { return size_ < not_found<std::uint32_t>; }

  std::uint64_t size_;
  buffer<Key> leaves_;
  line_tree<Key> tree_;
};

template <class Executor>
std::unique_ptr<ascending_keys> hold_ascending(const context& on, const column& sorted) {
  return dispatch_key(sorted.format, [&]<class Key>() -> std::unique_ptr<ascending_keys> {
    return std::make_unique<built_ascending_keys<Key, Executor>>(on, sorted);
  });
}

// Searches by a tree that is made for the call.
template <class Executor>
void search_by_tree(const context& on, const column& sorted, const column& wanted, bool past,
                    std::uint64_t* out) {
  hold_ascending<Executor>(on, sorted)->rank(on, wanted, past, out);
}

}  // namespace raydex
