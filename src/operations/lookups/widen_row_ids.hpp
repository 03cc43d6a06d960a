// SPDX-License-Identifier: Apache-2.0
// What the backends make of row ids.
#pragma once

#include <cstdint>

#include "raydex/core/lookups/row_id_outputs.hpp"
#include "raydex/index.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

template <executor Executor>
void widen_row_ids(const context& on, const std::uint32_t* narrow, std::uint64_t size,
                   const std::uint64_t* count, std::uint64_t* wide) {
  Executor::for_each(on, core::widen_row_ids{narrow, count, wide}, size);
}

template <executor Executor>
void mark_found(const context& on, const row_id_span& rows, bool* out) {
  const auto mark = [&]<class RowId>(const RowId* from) {
    Executor::for_each(on, core::put_found<RowId>{from, out}, rows.size);
  };
  if (rows.type == row_id_type::uint32) {
    mark(static_cast<const std::uint32_t*>(rows.data));
  } else {
    mark(static_cast<const std::uint64_t*>(rows.data));
  }
}

}  // namespace raydex
