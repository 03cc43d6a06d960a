// SPDX-License-Identifier: Apache-2.0
// Where row ids are written that a caller wants as they are or wider.
#pragma once

#include <cstdint>

#include "raydex/index.hpp"

namespace raydex {

// Refuses an array of row ids that those of `of`, as `the index`, do not fit, or that is not there.
void check_row_ids(const row_id_span& out, row_id_type own, const char* of);

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

}  // namespace raydex
