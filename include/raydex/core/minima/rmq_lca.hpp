// SPDX-License-Identifier: Apache-2.0
/// @file
/// Range minima as lowest common ancestors in the Cartesian tree, by in-label numbers.
///
/// A value is a node of the tree, numbered in order from 1: a subtree is an interval of numbers.
/// The ancestors of a node come before it in the order of values; equal ones are ordered by place.
///
/// The multiples of powers of two form a complete binary tree over the numbers: an odd multiple of
/// `bit` has its children at half a `bit` to both sides. The *label* of a node is the number in its
/// subtree that is highest there. Labels rise on the way to the root, each a complete-tree ancestor
/// of the node's own number, so that the power of two in a label tells which one it is.
/// - Nodes of one label are a path that goes down to the node of this number; the topmost one is
///   the path's *head*.
/// - A node's *ascendants* are the bits of all labels on its way to the root, its own one lowest.
#pragma once

#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/minima/rmq.hpp"

namespace raydex::core {

/// A node of the Cartesian tree, which is read at once.
template <class Value, class Place>
struct alignas(2 * (sizeof(Value) > sizeof(Place) ? sizeof(Value) : sizeof(Place))) lca_node {
  Value value;  ///< its value
  Place place;  ///< where it is
};

/// @name Numbers in the complete binary tree.
/// @{

/// The power of two that a number is an odd multiple of.
template <class Place>
RAYDEX_HD constexpr Place lowest_bit(Place number) {
  return number & (Place{0} - number);
}
/// The largest power of two in a number.
template <class Place>
RAYDEX_HD constexpr Place highest_bit(Place number) {
  return Place{1} << floor_log2(number);
}
/// The ancestor of a number that is an odd multiple of `bit`.
template <class Place>
RAYDEX_HD constexpr Place ancestor_at(Place number, Place bit) {
  return (number | bit) & (Place{0} - bit);
}
/// @}

/// The structure as a view.
template <class Value, class Place>
struct rmq_lca_view {
  using value_type = Value;                              ///< of the values
  using place_type = Place;                              ///< of places
  value_array<Value> array{};                            ///< the values
  bool rightmost = false;                                ///< of equal values, whose place counts
  const Place* ascendants = nullptr;                     ///< of node i + 1
  const lca_node<Value, Place>* head_parents = nullptr;  ///< above the head of label i + 1

  /// The minimum of [first, last], places of the array.
  RAYDEX_HD Value minimum(Place first, Place last) const { return find(first, last).value; }

  /// The minimum and its place.
  RAYDEX_HD placed_minimum<Value, Place> find(Place first, Place last) const {
    const auto before = static_cast<Place>(array.first());
    const Place lower = first - before + 1;
    const Place upper = last - before + 1;
    const Place left_bits = ascendants[lower - 1];
    const Place right_bits = ascendants[upper - 1];
    // The lowest label that both have, which is that of the lowest common ancestor.
    const Place apart = highest_bit((lower ^ upper) | 1);
    const Place meet = lowest_bit(left_bits & right_bits & (Place{0} - apart));
    // One of the two nodes where they come to its path is the common ancestor.
    const lca_node<Value, Place> left = climb(first, lower, left_bits, meet);
    const lca_node<Value, Place> right = climb(last, upper, right_bits, meet);
    const bool is_left = rightmost ? less(left.value, right.value) : !less(right.value, left.value);
    return is_left ? placed_minimum<Value, Place>{left.value, left.place}
                   : placed_minimum<Value, Place>{right.value, right.place};
  }

 private:
  // The lowest ancestor, or the node itself, whose label has the bit `meet`.
  RAYDEX_HD lca_node<Value, Place> climb(Place place, Place number, Place bits, Place meet) const {
    const Place below = bits & (meet - 1);
    if (below == 0) return {array[place], place};
    return head_parents[ancestor_at(number, highest_bit(below)) - 1];
  }
};

/// The build of what `rmq_lca_view` reads. Its steps are done for many numbers at once, one step
/// after the other. They use no memory but the result: until the head of a label is known, its
/// entry holds the minimum of the label's subtree in the complete tree.
template <class Value, class Place>
struct lca_build {
  using node = lca_node<Value, Place>;  ///< a node
  value_array<Value> array;             ///< the values
  bool rightmost;                       ///< of equal values, whether the right one is the ancestor
  Place* ascendants;                    ///< as of `rmq_lca_view`
  node* head_parents;                   ///< as of `rmq_lca_view`

  /// Step 1, from the lowest labels to the highest, for even ones whose subtree is complete: takes
  /// the minimum of the subtree.
  RAYDEX_HD void take_minimum(Place label) const {
    const Place half = lowest_bit(label) / 2;
    const node left = first_of(least_below(label - half), node_of(label));
    head_parents[label - 1] = first_of(left, least_below(label + half));
  }

  /// Step 2, for all numbers: finds the label of a node, and keeps its bit. The subtree reaches to
  /// both sides as far as the node comes first, from one multiple of a power of two to the next.
  RAYDEX_HD void find_label(Place number) const {
    const Value value = node_of(number).value;
    Place left = number;
    for (Place bit = lowest_bit(left); bit != left; bit = lowest_bit(left)) {
      if (bit != 1 && is_first(least_below(left - bit / 2).value, value)) break;
      if (is_first(node_of(left - bit).value, value)) break;
      left -= bit;
    }
    Place right = number;
    for (Place bit = lowest_bit(right); bit <= size() - right; bit = lowest_bit(right)) {
      if (bit != 1 && !is_first(value, least_below(right + bit / 2).value)) break;
      if (!is_first(value, node_of(right + bit).value)) break;
      right += bit;
    }
    const Place left_bit = lowest_bit(left);
    const Place right_bit = lowest_bit(right);
    ascendants[number - 1] = left_bit > right_bit ? left_bit : right_bit;
  }

  /// Step 3, from the highest labels to the lowest, for all of them: finds the parent of the head,
  /// and the ascendants of the path. The parent is the lowest ancestor whose subtree reaches beyond
  /// that of the label, on either side.
  RAYDEX_HD void find_head(Place label) const {
    const Place bit = lowest_bit(label);
    if (ascendants[label - 1] != bit) return;  // no node has this label
    const bool has_left = bit != label;
    const bool has_right = bit <= size() - label;
    if (!has_left && !has_right) return;  // the head is the root
    node parent{};
    if (has_left) {
      parent = node_of(label - bit);
      if (bit != 1) parent = first_of(parent, least_below(label - bit / 2));
    }
    if (has_right) {
      node right = node_of(label + bit);
      if (bit != 1) right = first_of(least_below(label + bit / 2), right);
      if (!has_left || is_first(parent.value, right.value)) parent = right;
    }
    head_parents[label - 1] = parent;
    ascendants[label - 1] |= ascendants[label_of(number_of(parent)) - 1];
  }

  /// Step 4, for all numbers: a node has the ascendants of its path.
  RAYDEX_HD void take_ascendants(Place number) const {
    const Place label = label_of(number);
    if (label != number) ascendants[number - 1] = ascendants[label - 1];
  }

  /// The number of values.
  RAYDEX_HD Place size() const { return static_cast<Place>(array.size()); }

 private:
  // Of two values in their order in the array, whether the left one comes first.
  RAYDEX_HD bool is_first(Value left, Value right) const {
    return rightmost ? less(left, right) : !less(right, left);
  }
  RAYDEX_HD node first_of(const node& left, const node& right) const {
    return is_first(left.value, right.value) ? left : right;
  }
  RAYDEX_HD node node_of(Place number) const {
    const auto place = static_cast<Place>(array.first() + number - 1);
    return {array[place], place};
  }
  RAYDEX_HD Place number_of(const node& one) const {
    return static_cast<Place>(one.place - array.first() + 1);
  }
  // The minimum of a complete subtree of the complete tree.
  RAYDEX_HD node least_below(Place label) const {
    return lowest_bit(label) == 1 ? node_of(label) : head_parents[label - 1];
  }
  RAYDEX_HD Place label_of(Place number) const {
    return ancestor_at(number, lowest_bit(ascendants[number - 1]));
  }
};

}  // namespace raydex::core
