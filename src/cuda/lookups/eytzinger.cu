// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/eytzinger.hpp"

#include "src/cuda/lookups/along_path.cuh"
#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

struct eytzinger_executor : executor {
  template <class Operation>
  static void run(const context& on, const batch_plan& plan, const Operation& operation) {
    if constexpr (takes_any_order<Operation>) {
      if (plan.along_path) {
        const unsigned lanes = group_of(operation.view, plan.group);
        const bool shared = plan.scan == scanning::multi && lanes == 1;
        return executor::run(on, plan,
                             along_path<Operation>{operation.view, operation.probes, operation.out,
                                                   operation, lanes, shared});
      }
    }
    executor::run(on, plan, operation);
  }
};

std::unique_ptr<eytzinger> build(const index_info& info, const context& on, const column& keys,
                                 const std::optional<column>& row_ids,
                                 const eytzinger_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_eytzinger<Key, RowId, eytzinger_executor>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cuda
