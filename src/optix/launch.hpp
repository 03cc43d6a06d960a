// SPDX-License-Identifier: Apache-2.0
// What the host hands to the programs on the device.
#pragma once

#include "raydex/core/rx.hpp"

namespace raydex::optix {

// Words of payload that rays carry.
inline constexpr int payload_words = 3;

// Of the jobs, the launched program runs one.
template <class Key, class RowId>
struct launch_parameters {
  core::rx_scene<Key, RowId> scene;  // in which rays are traced, as programs for hits see it
  const unsigned long long* parts;   // what rays of each part are traced against
  bool is_points;                    // what is looked for
  core::trace_job<Key, RowId> job;
  core::inverse_job<Key, RowId> inverse;
};

}  // namespace raydex::optix
