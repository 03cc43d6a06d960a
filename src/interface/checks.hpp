// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that several calls share, and what follows from arguments alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/options.hpp"
#include "raydex/order_join.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

// What is known of a structure before one is built.
inline constexpr std::array all_keys{key_type::uint32, key_type::uint64,  key_type::int32,
                                     key_type::int64,  key_type::float32, key_type::float64,
                                     key_type::bytes};
inline constexpr std::span number_keys = std::span(all_keys).first<6>();
inline constexpr std::span integer_keys = std::span(all_keys).first<4>();

struct structure_facts {
  std::string_view name;
  std::span<const backend> backends;          // that offer it, whether they are built or not
  bool updates = false;                       // whether it takes edits, or changed values
  bool ranges = true;                         // whether its keys are in order
  std::span<const key_type> keys = all_keys;  // that it takes
  bool sparse = true;                         // whether these may lie any distance apart
};

inline constexpr std::array all_backends{backend::cpu, backend::cuda, backend::optix};
// Of structures that search, and of those that cast rays.
inline constexpr std::array searching_backends{backend::cpu, backend::cuda};
inline constexpr std::array tracing_backends{backend::cpu, backend::optix};

std::string name(row_id_type type);
std::size_t row_id_bytes(row_id_type type);

// Refuses a backend that cannot be used here.
void check_available(backend where);
// Refuses memory that the backend cannot reach.
void check_space(const context& on, backend needed);
void check_format(const char* argument, key_format format);
void check_validity(const char* argument, const validity_bitmap& validity);
void check_column(const char* argument, const column& cells);
// Checks an array that is written or read as a whole, of numbers of `width` bytes.
void check_array(const char* argument, const void* data, std::uint64_t size, std::size_t width);
template <class T>
void check_array(const char* argument, std::span<T> array) {
  check_array(argument, array.data(), array.size(), sizeof(T));
}
// Checks explicit row ids, one per key.
void check_explicit_rows(const char* argument, const column& row_ids, std::uint64_t keys);
// Refuses an array of row ids that those of `owner`, as `the index`, do not fit, or that is not
// there.
void check_row_ids(const row_id_span& out, row_id_type own, const char* owner);
// Writes narrow row ids as wide ones; see `row_id_widener`.
void widen_row_ids(const context& on, backend where, const buffer<std::uint32_t>& narrow,
                   const std::uint64_t* count, const row_id_span& out);
// Has `write(array)` write row ids of the type `own`, by way of scratch where `out` is wider.
// `count`: how many of `out` it writes, if not all.
template <class Write>
void write_row_ids(const context& on, backend where, row_id_type own, const row_id_span& out,
                   const Write& write, const std::uint64_t* count = nullptr) {
  if (out.type == own) return write(out.data);
  buffer<std::uint32_t> narrow(on, out.size);
  write(narrow.data());
  widen_row_ids(on, where, narrow, count, out);
}
// Checks that ranges have two ends each, of one type, and that there is room for an answer to each.
// `items` names them, as `probes`.
void check_sizes(const char* items, const probes& batch, std::uint64_t out_size);
// Checks that a view has the types and the layout of its index.
RAYDEX_INTERNAL void check_entries(const index& own, std::size_t key_bits, row_id_type row_ids,
                                   layout entries, layout own_entries);

// Checks the arguments of every build, and that the backend is here and offers the structure.
RAYDEX_INTERNAL void check_build(const structure_facts& facts, backend where, const context& on,
                                 const column& keys, const std::optional<column>& row_ids);
RAYDEX_INTERNAL void check_build(const structure_facts& facts, backend where, const context& on,
                                 const column& values);

// Whether row ids have 32 bits.
inline bool are_narrow(const column& keys, const std::optional<column>& row_ids) {
  return row_ids ? row_ids->format.type == key_type::uint32 : keys.size < not_found<std::uint32_t>;
}
// Refuses row ids of 64 bits, which `build` by name takes.
RAYDEX_INTERNAL void check_narrow(const index_info& info);

// The part of a description that follows from the arguments of a build.
RAYDEX_INTERNAL index_info info_of(const structure_facts& facts, backend where, const column& keys,
                                   const std::optional<column>& row_ids);
RAYDEX_INTERNAL rmq_info info_of(const structure_facts& facts, backend where, const column& values);

// Checks of keys of several columns.
// Of the cells of a column; nothing for strings.
std::optional<key_format> format_of_part(const key_part& part);
// The same in words.
std::string text_of(const std::optional<key_format>& format);
// Checks the columns of a key in a backend's memory, and returns how many rows they have.
std::uint64_t check_key(backend where, const char* argument, const key_parts& keys);
// Refuses columns of other formats, which are nothing for strings.
void check_same_key(const char* argument, const key_parts& keys,
                    const std::vector<std::optional<key_format>>& formats);
// Checks the key beside columns of so many rows, which may be none if the build side has none.
void check_by(backend where, const key_parts& by,
              const std::vector<std::optional<key_format>>& formats, std::uint64_t size);

// Checks of joins.
void check_kind(join_kind kind);  // of joins that are neither right nor full
// Checks the build side of a join by order: a key beside columns of a size.
void check_build_side(backend where, const context& on, std::uint64_t size, const key_parts& by);
void check_closed(closed_ends closed);
void check_comparison(comparison how);
// Distances are not negative, and of integers whole.
void check_distance(const char* argument, key_type type, const key_distance& distance);
void check_numbers(const char* argument, key_format format);
// `owner`: what has the format that is needed.
void check_same_format(const char* argument, key_format own, key_format needed, const char* owner);

// Seeds that nobody can tell beforehand.
// Another one each time.
RAYDEX_INTERNAL std::uint64_t random_seed();

}  // namespace raydex
