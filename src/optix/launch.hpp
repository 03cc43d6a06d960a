// SPDX-License-Identifier: Apache-2.0
// What the host hands to the programs on the device.
#pragma once

#include "raydex/core/rx.hpp"

namespace raydex::optix {

// Words of payload that rays carry.
inline constexpr int payload_words = 3;

template <class Key, class RowId>
struct launch_parameters {
  core::trace_job<Key, RowId> job;
  const unsigned long long* parts;  // what rays of each part are traced against
};

}  // namespace raydex::optix
