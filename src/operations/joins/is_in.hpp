// SPDX-License-Identifier: Apache-2.0
// Which elements have an equal key in a column: a semi join whose answer is a mark an element.
#pragma once

#include <cstdint>

#include "raydex/core/lookups/row_id_outputs.hpp"
#include "src/operations/joins/join_once.hpp"

namespace raydex {

// False if an index had better be asked. Arguments are checked; there are elements.
template <executor Executor>
bool is_in(const context& on, const column& tests, const column& elements, bool* out) {
  if (tests.size == 0) {
    Executor::clear(on, out, elements.size);
    return true;
  }
  return with_row_id(row_ids_of(tests.size), [&]<class RowId>(RowId) {
    const auto found =
        equal_keys<RowId, Executor>(on, {tests}, {elements}, join_kind::semi, {}, false).take();
    if (!found) return false;
    const found_rows<RowId>& rows = found->rows;
    if (rows.left_out != 0) Executor::clear(on, out, elements.size);
    Executor::for_each(on, core::put_found<RowId>{rows.begins.data(), out, rows.probe_rows.data()},
                       rows.begins.size());
    return true;
  });
}

}  // namespace raydex
