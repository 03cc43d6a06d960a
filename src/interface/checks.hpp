// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that several calls share, and what follows from arguments alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "raydex/index.hpp"
#include "raydex/layout.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/internal.hpp"
#include "src/interface/structure_facts.hpp"

namespace raydex {

std::string name(row_id_type type);
std::size_t row_id_bytes(row_id_type type);

// Refuses a backend that cannot be used here.
void check_available(backend where);
// Refuses memory that the backend cannot reach.
void check_space(const context& on, backend needed);
void check_format(const char* argument, key_format format);
void check_column(const char* argument, const column& cells);
// Checks an array that is written or read as a whole, of numbers of `width` bytes.
void check_array(const char* argument, const void* data, std::uint64_t size, std::size_t width);
template <class T>
void check_array(const char* argument, std::span<T> array) {
  check_array(argument, array.data(), array.size(), sizeof(T));
}
// Checks row ids that are given explicitly, one a key.
void check_explicit_rows(const char* argument, const column& row_ids, std::uint64_t keys);
// Checks that ranges have two ends each, of one type, and that there is room for an answer to each.
// `what` is asked, as `probes`.
void check_sizes(const char* what, const probes& batch, std::uint64_t out_size);
// Checks that a view asked for has the types and the layout of its index.
RAYDEX_INTERNAL void check_entries(const index& own, std::size_t key_bits, row_id_type row_ids,
                                   layout entries, layout own_entries);

// Checks what every build is given, and that the backend is here and offers the structure.
RAYDEX_INTERNAL void check_build(const structure_facts& of, backend where, const context& on,
                                 const column& keys, const std::optional<column>& row_ids);
RAYDEX_INTERNAL void check_build(const structure_facts& of, backend where, const context& on,
                                 const column& values);

// Whether row ids have 32 bits.
inline bool are_narrow(const column& keys, const std::optional<column>& row_ids) {
  return row_ids ? row_ids->format.type == key_type::uint32
                 : keys.size < not_found<std::uint32_t>;
}
// Refuses row ids of 64 bits, which `build` by name takes.
RAYDEX_INTERNAL void check_narrow(const index_info& info);

// The part of a description that follows from the arguments of a build.
RAYDEX_INTERNAL index_info info_of(const structure_facts& of, backend where, const column& keys,
                                   const std::optional<column>& row_ids);
RAYDEX_INTERNAL rmq_info info_of(const structure_facts& of, backend where, const column& values);

}  // namespace raydex
