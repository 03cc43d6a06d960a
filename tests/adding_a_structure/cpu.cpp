// SPDX-License-Identifier: Apache-2.0
// The builder on cpu.
#include "src/interface/dispatch.hpp"
#include "src/machines/cpu/executor.hpp"
#include "tests/adding_a_structure/built.hpp"

namespace raydex::cpu {

std::unique_ptr<sampled_array> build(const index_info& info, const context& on, const column& keys,
                                     const std::optional<column>& row_ids,
                                     const sampled_array_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<sampled_array> {
    return std::make_unique<built_sampled_array<Key, RowId, executor>>(info, on, keys, row_ids,
                                                                       options);
  });
}

}  // namespace raydex::cpu
