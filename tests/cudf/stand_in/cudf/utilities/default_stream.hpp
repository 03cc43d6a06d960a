// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of cuDF, as far as raydex/cudf.hpp uses it.
#pragma once

#include "rmm/resource_ref.hpp"

namespace cudf {

inline const cuda::stream_ref get_default_stream() {  // NOLINT(readability-const-return-type)
  return nullptr;
}

}  // namespace cudf
