// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that several calls share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/layout.hpp"

namespace raydex {

inline std::string name(row_id_type type) {
  if (type == row_id_type::uint32) return "uint32";
  return type == row_id_type::uint64 ? "uint64" : fmt::format("type {}", static_cast<int>(type));
}

inline std::size_t row_id_bytes(row_id_type type) {
  return type == row_id_type::uint32 ? 4 : 8;
}

// Refuses a backend that does not offer a structure, and one that cannot be used here.
void check_backend(std::string_view structure, const std::vector<backend>& offered, backend where);

inline void check_space(const context& where, backend needed) {
  const memory_space space = needed == backend::cpu ? memory_space::host : memory_space::device;
  if (where.memory.space() != space) {
    throw invalid_argument(fmt::format("context: backend {} needs a memory resource of {} memory",
                                       to_string(needed),
                                       space == memory_space::host ? "host" : "device"));
  }
}

inline void check_format(const char* argument, key_format format) {
  if (format.is_legal()) return;
  throw invalid_argument(
      fmt::format("{}: {} of {} bytes is no format; uint32, int32 and float have 4 bytes, uint64, "
                  "int64 and double 8, byte strings 1 to 8",
                  argument, to_string(format), format.width));
}

// Bytes from the first cell of a column to the last one.
inline constexpr std::uint64_t largest_extent = std::numeric_limits<std::int64_t>::max() - 8;

inline void check_column(const char* argument, const column& cells) {
  const key_format format = cells.format;
  check_format(argument, format);
  if (cells.data == nullptr && cells.size != 0) {
    throw invalid_argument(fmt::format("{}: {} cells at a null pointer", argument, cells.size));
  }
  if (cells.size > 1 && saturated_product(cells.size - 1, cells.step()) > largest_extent) {
    throw invalid_argument(fmt::format("{}: {} cells {} bytes apart; they must lie within 2^63",
                                       argument, cells.size, cells.step()));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(cells.data);
  if (format.type != key_type::bytes &&
      (address % format.width != 0 || cells.step() % format.width != 0)) {
    throw invalid_argument(fmt::format("{}: cells of {} must be aligned to {} bytes", argument,
                                       to_string(format), format.width));
  }
}

// Checks row ids that are given explicitly, one a key.
inline void check_explicit_rows(const char* argument, const column& row_ids, std::uint64_t keys) {
  check_column(argument, row_ids);
  const key_type type = row_ids.format.type;
  const bool missing = row_ids.validity != nullptr;
  if ((type != key_type::uint32 && type != key_type::uint64) || missing) {
    throw invalid_argument(
        fmt::format("{}: they are {}{}; they must be uint32 or uint64, none missing", argument,
                    to_string(row_ids.format), missing ? " with missing ones" : ""));
  }
  if (row_ids.size != keys) {
    throw invalid_argument(
        fmt::format("{}: there are {}, but {} keys", argument, row_ids.size, keys));
  }
}

// Checks that a view asked for has the types and the layout of its index.
inline void check_entries(const index& own, std::size_t key_bits, row_id_type row_ids,
                          layout entries, layout own_entries) {
  const auto own_bits = static_cast<std::size_t>(own.info().key.encoded_bits());
  if (key_bits != own_bits || row_ids != own.info().row_ids || entries != own_entries) {
    throw invalid_argument(
        fmt::format("view: this index has {}-bit codes, {} row ids and layout={}", own_bits,
                    name(own.info().row_ids), own_entries == layout::row ? "row" : "column"));
  }
}

// Checks what every build is given, and that the backend is here and offers the structure.
void check_build(std::string_view structure, backend where, const context& where_to,
                 const column& keys, const std::optional<column>& row_ids);

// The part of an index's description that follows from its arguments.
index_info describe(std::string_view structure, backend where, const column& keys,
                    const std::optional<column>& row_ids);

}  // namespace raydex
