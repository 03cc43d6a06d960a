// SPDX-License-Identifier: Apache-2.0
/// @file
/// Key types and the order-preserving codec: every key becomes an unsigned 32- or 64-bit integer
/// whose order is the key's order. All structures work on encoded keys only.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/config.hpp"

namespace raydex {

/// What a key (or a value) is.
enum class key_type : std::uint8_t {
  uint32,   ///< unsigned, 4 bytes
  uint64,   ///< unsigned, 8 bytes
  int32,    ///< two's complement, 4 bytes
  int64,    ///< two's complement, 8 bytes
  float32,  ///< IEEE 754 single; -0.0 equals 0.0, NaN equals itself and sorts after everything
  float64,  ///< IEEE 754 double; the same rules
  bytes     ///< a string of 1 to 8 bytes, padded at its end with NUL, ordered byte by byte
};

/// Bytes of a number of this type. 0 for `bytes`, which have a choice, and for what is no type.
RAYDEX_HD constexpr std::uint8_t width_of(key_type type) {
  switch (type) {
    case key_type::uint32:
    case key_type::int32:
    case key_type::float32:
      return 4;
    case key_type::uint64:
    case key_type::int64:
    case key_type::float64:
      return 8;
    case key_type::bytes:
      break;
  }
  return 0;
}

/// A key type with its width in bytes. Only `bytes` has a choice; the constructors see to that.
struct key_format {
  key_type type = key_type::uint32;  ///< the type
  std::uint8_t width = 4;            ///< bytes per key, 1 to 8

  /// `uint32`.
  constexpr key_format() = default;
  /// Numbers of a type.
  RAYDEX_HD explicit constexpr key_format(key_type number)
      : type(number), width(width_of(number)) {}
  /// Byte strings of a length, 1 to 8.
  RAYDEX_HD static constexpr key_format bytes(std::uint8_t length) {
    key_format strings(key_type::bytes);
    strings.width = length;
    return strings;
  }

  /// Whether there are keys of this format: the type is one, and the width is one that it has.
  RAYDEX_HD constexpr bool is_legal() const {
    if (type == key_type::bytes) return width >= 1 && width <= 8;
    return width != 0 && width == width_of(type);
  }

  /// Bits of the encoded key: 32 for keys of up to four bytes, 64 for wider ones.
  RAYDEX_HD constexpr int encoded_bits() const { return width <= 4 ? 32 : 64; }

  /// Equal type and width.
  friend bool operator==(const key_format&, const key_format&) = default;
};

/// The format of a C++ key type; byte strings are `std::array<char, N>` with N from 1 to 8.
template <class T>
inline constexpr key_format format_of = [] {
  static_assert(std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "a key is a 32- or 64-bit integer, float, double, or array<char, N>");
  if (sizeof(T) == 4) return key_format(std::is_signed_v<T> ? key_type::int32 : key_type::uint32);
  return key_format(std::is_signed_v<T> ? key_type::int64 : key_type::uint64);
}();
/// @cond
template <>
inline constexpr key_format format_of<float>{key_type::float32};
template <>
inline constexpr key_format format_of<double>{key_type::float64};
template <std::size_t N>
requires(N >= 1 &&
         N <= 8) inline constexpr key_format format_of<std::array<char, N>> = key_format::bytes(N);
/// @endcond

/// Encodes a key: `a` sorts before `b` exactly if `encode(a) < encode(b)`, and they are equal keys
/// exactly if their codes are equal. Every bit pattern is legal. Cost: a few integer instructions.
RAYDEX_HD constexpr std::uint32_t encode(std::uint32_t key) {
  return key;
}
/// @copydoc encode(std::uint32_t)
RAYDEX_HD constexpr std::uint64_t encode(std::uint64_t key) {
  return key;
}
/// @copydoc encode(std::uint32_t)
RAYDEX_HD constexpr std::uint32_t encode(std::int32_t key) {
  return static_cast<std::uint32_t>(key) ^ 0x8000'0000u;
}
/// @copydoc encode(std::uint32_t)
RAYDEX_HD constexpr std::uint64_t encode(std::int64_t key) {
  return static_cast<std::uint64_t>(key) ^ 0x8000'0000'0000'0000u;
}
/// @copydoc encode(std::uint32_t)
RAYDEX_HD constexpr std::uint32_t encode(float key) {
  const auto bits = std::bit_cast<std::uint32_t>(key);
  const std::uint32_t magnitude = bits & 0x7fff'ffffu;
  if (magnitude > 0x7f80'0000u) return 0xffff'ffffu;  // NaN
  if (magnitude == 0) return 0x8000'0000u;            // 0.0 and -0.0
  return bits == magnitude ? bits | 0x8000'0000u : ~bits;
}
/// @copydoc encode(std::uint32_t)
RAYDEX_HD constexpr std::uint64_t encode(double key) {
  const auto bits = std::bit_cast<std::uint64_t>(key);
  const std::uint64_t magnitude = bits & 0x7fff'ffff'ffff'ffffu;
  if (magnitude > 0x7ff0'0000'0000'0000u) return 0xffff'ffff'ffff'ffffu;
  if (magnitude == 0) return 0x8000'0000'0000'0000u;
  return bits == magnitude ? bits | 0x8000'0000'0000'0000u : ~bits;
}

/// Encodes a byte string of `width` bytes (at most `sizeof(Encoded)`) at `key`: its first byte
/// becomes the most significant one.
template <class Encoded>
RAYDEX_HD constexpr Encoded encode_bytes(const char* key, int width) {
  Encoded code = 0;
  for (int i = 0; i < width; ++i) {
    const auto byte = static_cast<unsigned char>(key[i]);
    code |=
        static_cast<Encoded>(static_cast<Encoded>(byte) << (8 * (int{sizeof(Encoded)} - 1 - i)));
  }
  return code;
}
/// @copydoc encode(std::uint32_t)
template <std::size_t N>
RAYDEX_HD constexpr auto encode(const std::array<char, N>& key) {
  if constexpr (N <= 4) {
    return encode_bytes<std::uint32_t>(&key[0], static_cast<int>(N));
  } else {
    return encode_bytes<std::uint64_t>(&key[0], static_cast<int>(N));
  }
}

/// The unsigned type that keys of type T are encoded to.
template <class T>
using encoded_t = decltype(encode(T{}));

/// Gives back the key that `code` stands for: `encode(decode<T>(c)) == c` for every code `c` that
/// `encode` can return. All NaN come back as the quiet NaN, -0.0 as 0.0.
template <class T>
RAYDEX_HD constexpr T decode(encoded_t<T> code) {
  constexpr key_format format = format_of<T>;
  if constexpr (format.type == key_type::uint32 || format.type == key_type::uint64) {
    return code;
  } else if constexpr (format.type == key_type::bytes) {
    T key{};
    for (int i = 0; i < format.width; ++i) {
      (&key[0])[i] = static_cast<char>((code >> (8 * (int{sizeof(code)} - 1 - i))) & 0xff);
    }
    return key;
  } else {
    constexpr auto top = static_cast<encoded_t<T>>(encoded_t<T>{1} << (8 * sizeof(code) - 1));
    if constexpr (format.type == key_type::int32 || format.type == key_type::int64) {
      return static_cast<T>(code ^ top);
    } else {
      if (code == static_cast<encoded_t<T>>(~encoded_t<T>{0})) {
        return std::bit_cast<T>(sizeof(T) == 4 ? static_cast<encoded_t<T>>(0x7fc0'0000u)
                                               : static_cast<encoded_t<T>>(0x7ff8ull << 48));
      }
      return std::bit_cast<T>((code & top) != 0 ? static_cast<encoded_t<T>>(code ^ top)
                                                : static_cast<encoded_t<T>>(~code));
    }
  }
}

}  // namespace raydex

namespace raydex::core {

/// All keys k with lower <= k <= upper.
template <class Key>
struct interval {
  Key lower;  ///< the smallest key
  Key upper;  ///< the largest key

  /// Whether it holds no key.
  RAYDEX_HD bool empty() const { return upper < lower; }
};

}  // namespace raydex::core
