// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/eytzinger.hpp"

#include "raydex/error.hpp"
#include "src/interface/checks.hpp"
#include "src/options/lookups.hpp"

namespace raydex {

eytzinger::eytzinger(memory_resource& upstream) : index(upstream) {}
eytzinger::~eytzinger() = default;

void eytzinger::check_view(std::size_t key_bits, row_id_type row_ids, layout entries) const {
  check_entries(*this, key_bits, row_ids, entries, storage_.entries);
}

std::unique_ptr<eytzinger> build_eytzinger(backend where, const context& where_to,
                                           const column& keys, const std::optional<column>& row_ids,
                                           const eytzinger_options& options) try {
  check_build("eytzinger", where, where_to, keys, row_ids);
  check(eytzinger_table, options);
  index_info info = describe("eytzinger", where, keys, row_ids);
  info.options = describe(eytzinger_table, options);
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) return cuda::build(info, where_to, keys, row_ids, options);
#endif
  return cpu::build(info, where_to, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
