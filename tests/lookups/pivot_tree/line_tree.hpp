// SPDX-License-Identifier: Apache-2.0
// A tree of lines in the host's memory, with levels that an index has only for millions of entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/pivot_tree.hpp"
#include "raydex/core/lookups/tree_build.hpp"

namespace raydex::test {

// Entries in a layout; those after the last key pad the last leaf.
template <class Entries>
class host_entries;

template <class Key, class RowId>
class host_entries<core::column_entries<Key, RowId>> {
 public:
  explicit host_entries(std::size_t size) : keys_(size), rows_(size) {}
  void put(std::size_t i, Key key, RowId row) {
    keys_[i] = key;
    rows_[i] = row;
  }
  core::column_entries<Key, RowId> get() const { return {keys_.data(), rows_.data()}; }

 private:
  std::vector<Key> keys_;
  std::vector<RowId> rows_;
};

template <class Key, class RowId>
class host_entries<core::row_entries<Key, RowId>> {
  using entries = core::row_entries<Key, RowId>;

 public:
  explicit host_entries(std::size_t size) : words_(size * entries::words_per_entry) {}
  void put(std::size_t i, Key key, RowId row) { entries::put(words_.data(), i, key, row); }
  entries get() const { return {words_.data()}; }

 private:
  std::vector<std::uint32_t> words_;
};

template <class Entries>
class line_tree {
  using key = typename Entries::key_type;
  using row_id = typename Entries::row_id_type;
  using quantised = core::quantised_node<key>;
  using root_node = core::root_node<key>;

 public:
  using view_type = core::line_tree_view<Entries>;

  // Over ascending keys, with at most `rounded` levels of quantised nodes, above at most `narrow`
  // ones of narrow nodes, which are 0 or 1.
  line_tree(const std::vector<key>& keys, unsigned narrow, unsigned rounded,
            std::uint64_t most_roots)
      : size_(keys.size()), entries_(padded(size_)) {
    for (std::size_t i = 0; i < padded(size_); ++i)
      entries_.put(i, i < size_ ? keys[i] : std::numeric_limits<key>::max(),
                   i < size_ ? row_of(i) : std::numeric_limits<row_id>::max());
    const Entries all = entries_.get();
    const core::pivot_levels lowest(size_, core::line_entries, core::narrow_node<key>::fan_out,
                                    most_roots, narrow);
    narrow_nodes_.resize(lowest.nodes());
    const core::place_narrow_nodes<Entries> place_narrow{lowest, all, size_, narrow_nodes_.data()};
    run(place_narrow, place_narrow.items());
    const core::pivot_levels below(size_, lowest.entries_per_root(), quantised::fan_out, most_roots,
                                   rounded);
    nodes_.resize(below.nodes());
    const core::place_nodes<Entries> place_node{below, all, size_, nodes_.data()};
    run(place_node, place_node.items());
    const core::pivot_levels levels(size_, below.entries_per_root(), view_type::fan_out,
                                    most_roots);
    pivots_.resize(levels.size());
    run(core::place_pivots<Entries>{levels, all, size_, pivots_.data()}, levels.size());
    const auto root_pivots = static_cast<std::uint32_t>(levels.roots() - 1);
    root_.resize(root_node::bytes(root_pivots) / 8 + 1);
    auto* root = reinterpret_cast<std::byte*>(root_.data());
    if (root_pivots != 0) {
      run(typename root_node::template fill_scale<Entries>{all, size_, root}, 1);
      const typename root_node::template fill<Entries> fill{all, size_, levels.entries_per_root(),
                                                            root_pivots, root};
      run(fill, fill.items());
    }
    parts_ = {.root = {root, root_pivots},
              .exact = levels,
              .pivots = pivots_.data(),
              .rounded = below,
              .nodes = nodes_.data(),
              .lowest = narrow_nodes_.empty() ? nullptr : narrow_nodes_.data()};
  }
  line_tree(const line_tree&) = delete;
  line_tree& operator=(const line_tree&) = delete;

  view_type view() const { return {entries_.get(), static_cast<row_id>(size_), parts_}; }
  // The row id of the entry at a rank; row ids ascend as the keys do.
  static row_id row_of(std::size_t rank) { return static_cast<row_id>(1000 + rank); }

 private:
  static std::size_t padded(std::size_t size) {
    return (size + core::line_entries - 1) / core::line_entries * core::line_entries;
  }
  template <class Function>
  static void run(const Function& f, std::uint64_t items) {
    for (std::uint64_t i = 0; i < items; ++i)
      f(i);
  }

  std::size_t size_;
  host_entries<Entries> entries_;
  std::vector<core::narrow_node<key>> narrow_nodes_;
  std::vector<quantised> nodes_;
  std::vector<key> pivots_;
  std::vector<std::uint64_t> root_;
  typename view_type::parts parts_{};
};

}  // namespace raydex::test
