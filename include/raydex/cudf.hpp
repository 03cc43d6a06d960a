// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables of cuDF as keys of joins, used where they lie, and rows of joins as its gather maps.
/// Header only: it needs the headers of libcudf and RMM, and no other header includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cudf/column/column_view.hpp>
#include <cudf/table/table_view.hpp>
#include <cudf/types.hpp>
#include <cudf/utilities/default_stream.hpp>
#include <cudf/utilities/memory_resource.hpp>
#include <limits>
#include <memory>
#include <rmm/device_uvector.hpp>
#include <rmm/resource_ref.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"
#include "raydex/stream_ordered_resource.hpp"

namespace raydex {

/// A gather map of cuDF: row numbers, and `cudf::JoinNoMatch`, the smallest number, for no row.
using cudf_gather_map = std::unique_ptr<rmm::device_uvector<cudf::size_type>>;
/// Those of the left and of the right table; the second one is null for semi and anti joins.
using cudf_gather_maps = std::pair<cudf_gather_map, cudf_gather_map>;
/// A stream as cuDF's functions take it: `cuda::stream_ref`, before 26.10 `rmm::cuda_stream_view`.
using cudf_stream = std::remove_cvref_t<decltype(cudf::get_default_stream())>;

/// @cond
namespace detail {

inline stream_t stream_of(const cudf_stream& stream) {
  return ::cuda::stream_ref(stream).get();
}

// How cells of a type are compared, all of 4 or 8 bytes by order. Narrower ones are byte strings,
// which are equal where they are.
inline key_format format_of_cudf(cudf::type_id type) {
  switch (type) {
    case cudf::type_id::INT8:
    case cudf::type_id::UINT8:
    case cudf::type_id::BOOL8:
      return key_format::bytes(1);
    case cudf::type_id::INT16:
    case cudf::type_id::UINT16:
      return key_format::bytes(2);
    case cudf::type_id::INT32:
    case cudf::type_id::TIMESTAMP_DAYS:
    case cudf::type_id::DURATION_DAYS:
    case cudf::type_id::DECIMAL32:
      return key_format(key_type::int32);
    case cudf::type_id::INT64:
    case cudf::type_id::TIMESTAMP_SECONDS:
    case cudf::type_id::TIMESTAMP_MILLISECONDS:
    case cudf::type_id::TIMESTAMP_MICROSECONDS:
    case cudf::type_id::TIMESTAMP_NANOSECONDS:
    case cudf::type_id::DURATION_SECONDS:
    case cudf::type_id::DURATION_MILLISECONDS:
    case cudf::type_id::DURATION_MICROSECONDS:
    case cudf::type_id::DURATION_NANOSECONDS:
    case cudf::type_id::DECIMAL64:
      return key_format(key_type::int64);
    case cudf::type_id::UINT32:
      return key_format(key_type::uint32);
    case cudf::type_id::UINT64:
      return key_format(key_type::uint64);
    case cudf::type_id::FLOAT32:
      return key_format(key_type::float32);
    case cudf::type_id::FLOAT64:
      return key_format(key_type::float64);
    case cudf::type_id::DICTIONARY32:
      throw invalid_argument("column: it is a dictionary; give cudf::dictionary::decode(it)");
    case cudf::type_id::STRING:
      throw invalid_argument("column: it has strings, which are keys of joins alone");
    case cudf::type_id::DECIMAL128:
      throw invalid_argument("column: it has decimals of 128 bits; cast them to DECIMAL64");
    case cudf::type_id::STRUCT:
      throw invalid_argument("column: it has structs; give their children");
    default:
      throw invalid_argument("column: cells of cudf::type_id " +
                             std::to_string(static_cast<int>(type)) + " are no keys");
  }
}

inline validity_bitmap validity_of(const cudf::column_view& cells) {
  if (!cells.has_nulls()) return {};
  return {reinterpret_cast<const std::uint8_t*>(cells.null_mask()),
          static_cast<std::uint64_t>(cells.offset())};
}

// From the first cell of a slice on.
inline const void* first_cell(const cudf::column_view& cells, std::size_t width) {
  if (cells.is_empty()) return nullptr;
  return static_cast<const std::byte*>(cells.head()) +
         static_cast<std::size_t>(cells.offset()) * width;
}

// Nobody takes days for seconds, nor cents for tenths.
inline void check_same_types(const cudf::table_view& left, const cudf::table_view& right) {
  if (left.num_columns() != right.num_columns()) {
    throw invalid_argument("right: it has " + std::to_string(right.num_columns()) +
                           " columns, but left " + std::to_string(left.num_columns()));
  }
  for (cudf::size_type i = 0; i < left.num_columns(); ++i) {
    if (left.column(i).type() == right.column(i).type()) continue;
    throw invalid_argument("right: the type of column " + std::to_string(i) +
                           " is not that of left's; cast one with cudf::cast");
  }
}

inline cudf_gather_map make_gather_map(std::uint64_t size, const cudf_stream& stream,
                                       const rmm::device_async_resource_ref& memory) {
  return std::make_unique<rmm::device_uvector<cudf::size_type>>(static_cast<std::size_t>(size),
                                                                stream, memory);
}

// Row numbers of raydex become those of cuDF.
inline void make_rows_of_cudf(const context& on, rmm::device_uvector<cudf::size_type>& rows) {
  constexpr auto none = static_cast<std::uint32_t>(std::numeric_limits<cudf::size_type>::min());
  replace_not_found(backend::cuda, on, {row_id_type::uint32, rows.data(), rows.size()}, none);
}

}  // namespace detail
/// @endcond

/// @name Columns of cuDF
/// The cells stay where they are, and so does the bitmap of those that are null, also of slices.
/// The view's memory must outlive the column. Work on other streams than that of the call must be
/// done with it.
/// @{

/// A column whose order is that of its cells, as times of as-of joins and keys of indexes are:
/// integers of 32 and 64 bits, floating numbers, timestamps, durations, and decimals of up to 64
/// bits, which are compared as the integers that they are kept as. Integers of 8 and 16 bits and
/// bool become byte strings, which are equal where they are, but have another order. Throws
/// `invalid_argument` for other types.
inline column column_of(const cudf::column_view& cells) {
  const key_format format = detail::format_of_cudf(cells.type().id());
  return {format, detail::first_cell(cells, format.width), static_cast<std::uint64_t>(cells.size()),
          detail::validity_of(cells)};
}

/// The same as a column of a key of joins, which may be of strings, too, with offsets of 32 or 64
/// bits.
inline key_part key_part_of(const cudf::column_view& cells) {
  if (cells.type().id() != cudf::type_id::STRING) return column_of(cells);
  string_column strings;
  strings.size = static_cast<std::uint64_t>(cells.size());
  strings.validity = detail::validity_of(cells);
  if (cells.is_empty()) return strings;
  const cudf::column_view offsets = cells.child(0);
  strings.wide_offsets = offsets.type().id() == cudf::type_id::INT64;
  const std::size_t width = strings.wide_offsets ? 8 : 4;
  strings.bytes = static_cast<const char*>(cells.head());
  strings.offsets = static_cast<const std::byte*>(detail::first_cell(offsets, width)) +
                    static_cast<std::size_t>(cells.offset()) * width;
  return strings;
}

/// The columns of a table as those of a key.
inline key_parts key_parts_of(const cudf::table_view& keys) {
  key_parts parts;
  for (const cudf::column_view& cells : keys)
    parts.push_back(key_part_of(cells));
  return parts;
}
/// @}

/// All rows of a join on `cuda` as gather maps, of its probe side and of its build side. The maps
/// are ready for work on the stream. Throws as `joined::rows`.
inline cudf_gather_maps to_gather_maps(
    const joined& found, cudf_stream stream = cudf::get_default_stream(),
    rmm::device_async_resource_ref memory = cudf::get_current_device_resource_ref()) {
  const bool is_pairs = found.kind() != join_kind::semi && found.kind() != join_kind::anti;
  cudf_gather_maps maps;
  maps.first = detail::make_gather_map(found.size(), stream, memory);
  if (is_pairs) maps.second = detail::make_gather_map(found.size(), stream, memory);
  stream_ordered_resource<rmm::device_async_resource_ref> resource(memory);
  const context on{resource, detail::stream_of(stream)};
  found.rows(on, {row_id_type::uint32, maps.first->data(), is_pairs ? maps.second->data() : nullptr,
                  found.size()});
  const bool has_left = found.kind() == join_kind::left || found.kind() == join_kind::full;
  const bool has_right = found.kind() == join_kind::right || found.kind() == join_kind::full;
  if (has_right) detail::make_rows_of_cudf(on, *maps.first);
  if (has_left) detail::make_rows_of_cudf(on, *maps.second);
  return maps;
}

/// Joins two tables by equal keys, as `cudf::inner_join`, `left_join`, `full_join` and its semi and
/// anti joins do, with right joins besides: the rows of the left and of the right table that belong
/// together, in no order. Columns have the types of the other side's. A null equals another one by
/// default; NaN equals NaN.
///
/// Maps, and scratch, come from `memory`. Synchronises the stream. Cost: as of `match_tables`,
/// whose probe side is the left table; `key_parts_of` and `to_gather_maps` have what is between,
/// for rows in order and for tables that are joined more than once. Throws as `match_tables` does,
/// and `invalid_argument` where the types of both sides differ.
inline cudf_gather_maps join_tables(
    const cudf::table_view& left, const cudf::table_view& right, join_kind kind = join_kind::inner,
    cudf::null_equality nulls = cudf::null_equality::EQUAL,
    cudf_stream stream = cudf::get_default_stream(),
    rmm::device_async_resource_ref memory = cudf::get_current_device_resource_ref()) {
  detail::check_same_types(left, right);
  stream_ordered_resource<rmm::device_async_resource_ref> resource(memory);
  const context on{resource, detail::stream_of(stream)};
  join_options options;
  options.missing_equal = nulls == cudf::null_equality::EQUAL;
  options.order = join_order::any;
  const auto found =
      match_tables(backend::cuda, on, key_parts_of(right), key_parts_of(left), kind, options);
  return to_gather_maps(*found, stream, memory);
}

/// For each row of the left table the row of the right one with the closest time, of rows of equal
/// keys; `JoinNoMatch` for none. Neither table need be sorted. Times that are null match nothing.
///
/// @param left_times as of `column_of`, of 32 or 64 bits
/// @param right_times of the same type
/// @param left_by columns that are equal; of none it is an empty table
/// @param right_by of the same types
/// @param how direction, tolerance, and how many rows are taken: so many stand side by side
/// @param nulls whether a null of a key equals another one, as in `join_tables`
/// @param stream what work goes to
/// @param memory where the map and scratch come from
///
/// Cost and errors: as of `build_asof_join` over the right table.
inline cudf_gather_map asof_join_tables(
    const cudf::column_view& left_times, const cudf::column_view& right_times,
    const cudf::table_view& left_by = {}, const cudf::table_view& right_by = {},
    const asof_options& how = {}, cudf::null_equality nulls = cudf::null_equality::EQUAL,
    cudf_stream stream = cudf::get_default_stream(),
    rmm::device_async_resource_ref memory = cudf::get_current_device_resource_ref()) {
  detail::check_same_types(cudf::table_view({left_times}), cudf::table_view({right_times}));
  detail::check_same_types(left_by, right_by);
  stream_ordered_resource<rmm::device_async_resource_ref> resource(memory);
  const context on{resource, detail::stream_of(stream)};
  const auto join = build_asof_join(backend::cuda, on, column_of(right_times),
                                    key_parts_of(right_by), nulls == cudf::null_equality::EQUAL);
  const std::uint64_t rows =
      saturated_product(static_cast<std::uint64_t>(left_times.size()), how.neighbours);
  cudf_gather_map map = detail::make_gather_map(rows, stream, memory);
  join->match(on, column_of(left_times), key_parts_of(left_by), how,
              {row_id_type::uint32, map->data(), rows});
  detail::make_rows_of_cudf(on, *map);
  return map;
}

}  // namespace raydex
