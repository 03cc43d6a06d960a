// SPDX-License-Identifier: Apache-2.0
// raydex/cudf.hpp compiles with the headers of cuDF, which RAYDEX_CUDF names, and with their words.
#include <raydex/cudf.hpp>

#include <cudf/join/join.hpp>
#include <limits>

namespace raydex::test {

static_assert(cudf::JoinNoMatch == std::numeric_limits<cudf::size_type>::min());

// Joins, the closest times, and an index that is kept.
cudf_gather_map try_all(const cudf::table_view& left, const cudf::table_view& right) {
  const cudf_gather_maps maps = join_tables(left, right, join_kind::full);
  rmm::device_async_resource_ref memory = cudf::get_current_device_resource_ref();
  stream_ordered_resource<rmm::device_async_resource_ref> resource(memory);
  const context on{resource, ::cuda::stream_ref(cudf::get_default_stream()).get()};
  const auto join = build_join(backend::cuda, on, key_parts_of(right));
  to_gather_maps(*join->match(on, key_parts_of(left), join_kind::left));
  return asof_join_tables(left.column(0), right.column(0), left, right);
}

}  // namespace raydex::test
