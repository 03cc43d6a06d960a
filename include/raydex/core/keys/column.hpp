// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reading columns inside kernels: keys as their codes, values as numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::core {

/// Reads one T through the read-only cache on a device.
template <class T>
RAYDEX_HD inline T load(const T* address) {
#if defined(__CUDA_ARCH__)
  return __ldg(address);
#else
  return *address;
#endif
}

/// Reads one T that is not needed again: on a device it is the first to leave the caches.
template <class T>
RAYDEX_HD inline T load_once(const T* address) {
#if defined(__CUDA_ARCH__)
  return __ldcs(address);
#else
  return *address;
#endif
}

/// Has a core fetch what it will read soon. A device has other threads meanwhile.
RAYDEX_HD inline void prefetch([[maybe_unused]] const void* address) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(address);
  // A function that does nothing else has no effect for GCC, which drops its calls.
  asm volatile("" : : "r"(address));
#endif
}

/// Writes one T that is not read again soon: on a device it is the first to leave the caches.
template <class T>
RAYDEX_HD inline void store_once(T* address, T value) {
#if defined(__CUDA_ARCH__)
  __stcs(address, value);
#else
  *address = value;
#endif
}

/// Raw cells of a column: where they are and what they hold.
struct cells {
  const std::byte* data = nullptr;  ///< the first cell
  std::uint64_t stride = 0;         ///< bytes from one cell to the next
  const std::uint8_t* validity =
      nullptr;                 ///< one bit a cell, least significant first; null: all valid
  key_format format;           ///< what a cell holds
  std::uint8_t first_bit = 0;  ///< the bit of the first cell, below 8

  /// Whether cell `i` holds a key; false for a missing one.
  RAYDEX_HD bool valid(std::uint64_t i) const {
    if (validity == nullptr) return true;
    const std::uint64_t bit = i + first_bit;
    return ((load(validity + bit / 8) >> (bit % 8)) & 1) != 0;
  }
  /// The validity of the cells from `first` on, a multiple of 8, and below `size`: a bit each, of
  /// up to 8 cells. There is a bitmap.
  RAYDEX_HD unsigned valid_bits(std::uint64_t first, std::uint64_t size) const {
    unsigned bits = load(validity + first / 8);
    // The byte behind is read only if it has bits of these cells.
    if (first_bit != 0 && first_bit + (size - first) > 8)
      bits |= unsigned{load(validity + first / 8 + 1)} << 8;
    return bits >> first_bit;
  }

  /// The bits of cell `i` as a T.
  template <class T>
  RAYDEX_HD T get(std::uint64_t i) const {
    return load(reinterpret_cast<const T*>(data + i * stride));
  }
};

/// A column whose cells are read as codes of type Key (`std::uint32_t` or `std::uint64_t`). The
/// key type is known at run time only, so that kernels need one instantiation a width: the branch
/// is the same for every thread.
template <class Key>
struct encoded_column : cells {
  /// The code of cell `i`.
  RAYDEX_HD Key operator[](std::uint64_t i) const {
    Key bits[1] = {raw(i)};
    encode_all(bits);
    return bits[0];
  }

  /// The cell `i` as bits; those of a byte string are encoded already. Apart from `encode_all`, so
  /// that several cells can be read before the first is looked at.
  RAYDEX_HD Key raw(std::uint64_t i) const {
    if (format.type != key_type::bytes) {
      return load_once(reinterpret_cast<const Key*>(data + i * stride));
    }
    return encode_bytes<Key>(reinterpret_cast<const char*>(data + i * stride), format.width);
  }
  /// The codes of several cells' bits, in place. The type is looked at once.
  template <std::size_t N>
  RAYDEX_HD void encode_all(Key (&bits)[N]) const {
    constexpr bool wide = sizeof(Key) == 8;
    using integer = std::conditional_t<wide, std::int64_t, std::int32_t>;
    using floating = std::conditional_t<wide, double, float>;
    if (format.type == (wide ? key_type::int64 : key_type::int32)) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        bits[j] = encode(std::bit_cast<integer>(bits[j]));
    } else if (format.type == (wide ? key_type::float64 : key_type::float32)) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        bits[j] = encode(std::bit_cast<floating>(bits[j]));
    }
  }
};

/// Writes the codes of a column; of missing cells any.
template <class Key>
struct put_codes {
  encoded_column<Key> from;  ///< the column
  Key* out;                  ///< a code a cell
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = from[i]; }
};

/// Writes the complements of a column's codes, which are in the reverse order; of missing cells
/// any.
template <class Key>
struct put_complements {
  encoded_column<Key> from;  ///< the column
  Key* out;                  ///< a number a cell
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = static_cast<Key>(~from[i]); }
};

/// A column of values to sum. Integers are read modulo 2^64, floats as double.
struct value_column : cells {
  /// The value of cell `i`, an integer.
  RAYDEX_HD std::uint64_t integer(std::uint64_t i) const {
    switch (format.type) {
      case key_type::uint32:
        return get<std::uint32_t>(i);
      case key_type::int32:
        return static_cast<std::uint64_t>(std::int64_t{get<std::int32_t>(i)});
      default:
        return get<std::uint64_t>(i);
    }
  }

  /// The value of cell `i`, a float or double.
  RAYDEX_HD double floating(std::uint64_t i) const {
    return format.type == key_type::float32 ? double{get<float>(i)} : get<double>(i);
  }
};

}  // namespace raydex::core
