// SPDX-License-Identifier: Apache-2.0
// Which elements have an equal key in a column: a semi join whose answer is a mark an element.
#pragma once

#include <cstdint>

#include "src/operations/joins/join_once.hpp"

namespace raydex {

template <class RowId>
struct mark_members {
  const RowId* begins;
  const RowId* counts;  // null: none has more than one match
  bool* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = counts != nullptr ? counts[i] != 0 : begins[i] != static_cast<RowId>(-1);
  }
};

// False if an index had better be asked. Arguments are checked; there are elements.
template <executor Executor>
bool is_in(const context& on, const column& tests, const column& elements, bool* out) {
  if (tests.size == 0) {
    Executor::clear(on, out, elements.size);
    return true;
  }
  return with_row_id(row_ids_of(tests.size), [&]<class RowId>(RowId) {
    const auto found =
        equal_keys<RowId, Executor>(on, {tests}, {elements}, join_kind::semi, {}).take();
    if (!found) return false;
    Executor::for_each(
        on, mark_members<RowId>{found->rows.begins.data(), found->rows.counts.data(), out},
        elements.size);
    return true;
  });
}

}  // namespace raydex
