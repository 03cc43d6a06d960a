// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that several calls share.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "raydex/error.hpp"
#include "raydex/index.hpp"

namespace raydex {

inline const char* name(row_id_type type) {
  return type == row_id_type::uint32 ? "uint32" : "uint64";
}

inline std::size_t row_id_bytes(row_id_type type) {
  return type == row_id_type::uint32 ? 4 : 8;
}

inline void check_space(const context& where, backend needed) {
  const memory_space space = needed == backend::cpu ? memory_space::host : memory_space::device;
  if (where.memory.space() != space) {
    throw invalid_argument(fmt::format("context: backend {} needs a memory resource of {} memory",
                                       to_string(needed),
                                       space == memory_space::host ? "host" : "device"));
  }
}

inline void check_column(const char* argument, const column& cells) {
  const key_format format = cells.format;
  const bool bytes = format.type == key_type::bytes;
  if (format.width < 1 || format.width > 8 || (!bytes && format.width % 4 != 0)) {
    throw invalid_argument(fmt::format("{}: {} of {} bytes is not a key format", argument,
                                       to_string(format), format.width));
  }
  if (cells.data == nullptr && cells.size != 0) {
    throw invalid_argument(fmt::format("{}: {} cells at a null pointer", argument, cells.size));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(cells.data);
  if (!bytes && (address % format.width != 0 || cells.step() % format.width != 0)) {
    throw invalid_argument(fmt::format("{}: cells of {} must be aligned to {} bytes", argument,
                                       to_string(format), format.width));
  }
}

// Checks what every build is given, and that the backend is here and offers the structure.
void check_build(std::string_view structure, backend where, const context& where_to,
                 const column& keys, const std::optional<column>& row_ids);

// The part of an index's description that follows from its arguments.
index_info describe(std::string_view structure, backend where, const column& keys,
                    const std::optional<column>& row_ids);

}  // namespace raydex
