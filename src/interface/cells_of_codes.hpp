// SPDX-License-Identifier: Apache-2.0
// Cells from the codes of their keys, in host memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "raydex/core/keys/key.hpp"

namespace raydex {

// The bytes of a string that has a code of so many bytes.
inline std::array<char, 8> bytes_of(std::uint64_t code, unsigned width) {
  return decode<std::array<char, 8>>(code << (64 - 8 * width));
}

// Writes the cell of a code.
inline void put_cell(std::uint64_t code, key_format own, char* to) {
  const auto put = [&]<class T>(T) {
    const T cell = decode<T>(static_cast<encoded_t<T>>(code));
    std::memcpy(to, &cell, sizeof cell);
  };
  switch (own.type) {
    case key_type::uint32:
      return put(std::uint32_t{});
    case key_type::uint64:
      return put(std::uint64_t{});
    case key_type::int32:
      return put(std::int32_t{});
    case key_type::int64:
      return put(std::int64_t{});
    case key_type::float32:
      return put(float{});
    case key_type::float64:
      return put(double{});
    case key_type::bytes:
      std::memcpy(to, bytes_of(code, own.width).data(), own.width);
  }
}

}  // namespace raydex
