// SPDX-License-Identifier: Apache-2.0
// Keys of every type for tests, with an order that knows nothing of the codec.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/column.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

// The order that the design prescribes: NaN last and equal to itself, -0.0 equal to 0.0.
struct key_less {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return false;
      return std::isnan(b) || a < b;
    } else if constexpr (std::is_integral_v<T>) {
      return a < b;
    } else {
      return std::memcmp(a.data(), b.data(), a.size()) < 0;
    }
  }
};

// Any bit pattern of the type.
template <class T>
T random_key(std::mt19937_64& random) {
  T key{};
  const std::uint64_t bits = random();
  std::memcpy(&key, &bits, sizeof key);
  return key;
}

// The i-th smallest of evenly spread keys: a dense set for integers, neighbours for the others.
template <class T>
T dense_key(std::uint64_t i) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(i);
  } else {
    T key{};
    for (std::size_t byte = key.size(); byte-- > 0; i >>= 8)
      key[byte] = static_cast<char>(i & 0xff);
    return key;
  }
}

// The keys that break things.
template <class T>
std::vector<T> extreme_keys() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return {T(0),
            -T(0),
            limits::quiet_NaN(),
            -limits::quiet_NaN(),
            limits::signaling_NaN(),
            limits::infinity(),
            -limits::infinity(),
            limits::max(),
            limits::lowest(),
            limits::min(),
            -limits::min(),
            limits::denorm_min(),
            -limits::denorm_min(),
            T(1),
            T(-1)};
  } else if constexpr (std::is_integral_v<T>) {
    return {T(0),          T(1),
            limits::min(), static_cast<T>(limits::min() + 1),
            limits::max(), static_cast<T>(limits::max() - 1)};
  } else {
    T none{};
    T all;
    all.fill('\xff');
    T top{};
    top[0] = '\x80';
    T low{};
    low.back() = '\x01';
    return {none, all, top, low};
  }
}

// A key's neighbour in the order of its type, up or down; itself at the end.
template <class T>
T neighbour(const T& key, bool up) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(
        key, up ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity());
  } else if constexpr (std::is_integral_v<T>) {
    if (key == (up ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min())) return key;
    return static_cast<T>(up ? key + 1 : key - 1);
  } else {
    T other = key;
    auto& last = reinterpret_cast<unsigned char&>(other.back());
    if (up ? last != 0xff : last != 0) last = static_cast<unsigned char>(up ? last + 1 : last - 1);
    return other;
  }
}

}  // namespace raydex::test
