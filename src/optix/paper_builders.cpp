// SPDX-License-Identifier: Apache-2.0
// What the backend optix builds in libraydex_papers; each builder is defined in the file of its
// structure.
#include "src/interface/builders.hpp"

namespace raydex::optix {

// `build` is overloaded by the type of the options.
keys_builder<rx, rx_options> build_row_rx;
minima_builder<rmq_hierarchy, rmq_hierarchy_options> build;
minima_builder<rmq, rmq_rx_options> build;

const paper_table papers{.where = backend::optix,
                         .build_row_rx = build_row_rx,
                         .build_rmq_hierarchy = build,
                         .build_rmq_rx = build};

}  // namespace raydex::optix
