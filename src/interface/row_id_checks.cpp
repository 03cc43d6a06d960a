// SPDX-License-Identifier: Apache-2.0
#include "src/interface/row_id_checks.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

void check_row_ids(const row_id_span& out, row_id_type own, const char* owner) {
  if (out.type != own && out.type != row_id_type::uint64) {
    throw invalid_argument(fmt::format("out: its row ids are {}, but those of {} are {}",
                                       name(out.type), owner, name(own)));
  }
  check_array("out", out.data, out.size, row_id_bytes(out.type));
}

void widen_row_ids(const context& on, backend where, const buffer<std::uint32_t>& narrow,
                   const std::uint64_t* count, const row_id_span& out) {
  operation_on(where, &operation_table::widen_row_ids)(on, narrow.data(), narrow.size(), count,
                                                       static_cast<std::uint64_t*>(out.data));
}

void row_id_facts::check(std::uint64_t not_found) const {
  if (max < not_found) return;
  throw invalid_argument(
      fmt::format("row ids: {} means not found and is not legal; the largest legal one is {}",
                  not_found, not_found - 1));
}

void check_room(std::uint64_t entries, std::uint64_t not_found) {
  if (entries < not_found - 1) return;
  throw unsupported(
      fmt::format("insert: there would be {} entries, more than row ids below {} can number; build "
                  "an index with uint64 row ids",
                  entries, not_found));
}

}  // namespace raydex
