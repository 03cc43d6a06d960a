// SPDX-License-Identifier: Apache-2.0
// What the backend optix builds; each builder is defined in the file of its structure.
#include "src/interface/builders.hpp"

namespace raydex::cuda {
aggregate_builder build_aggregate;  // knows no rays
}

namespace raydex::optix {

// `build` is overloaded by the type of the options.
keys_builder<rx, rx_options> build;
keys_builder<cgrx, cgrx_options> build;
minima_builder<rmq_hierarchy, rmq_hierarchy_options> build;
minima_builder<rmq, rmq_rx_options> build;

const backend_table table{.where = backend::optix,
                          .why_unavailable = why_unavailable,
                          .open_platform = open_platform,
                          .build_aggregate = cuda::build_aggregate,
                          .build_rx = build,
                          .build_cgrx = build,
                          .build_rmq_hierarchy = build,
                          .build_rmq_rx = build};

}  // namespace raydex::optix
