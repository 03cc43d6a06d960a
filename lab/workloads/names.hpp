// SPDX-License-Identifier: Apache-2.0
/// @file
/// Enumerations by the names of their values.
#pragma once

#include <cstddef>
#include <vector>

namespace raydex::bench {

/// An enumeration beside which `names_of` lists the names of its values, in their order.
template <class Value>
concept named = requires(Value value) {
  names_of(value).size();
};

/// The name of a value.
template <named Value>
const char* to_string(Value value) {
  return names_of(value).at(static_cast<std::size_t>(value));
}

/// All values that have a name.
template <named Value>
std::vector<Value> all_values() {
  std::vector<Value> all;
  for (std::size_t i = 0; i < names_of(Value{}).size(); ++i)
    all.push_back(static_cast<Value>(i));
  return all;
}

}  // namespace raydex::bench
