// SPDX-License-Identifier: Apache-2.0
// What the host hands to the programs on the device.
#pragma once

#include "raydex/core/traced.hpp"

namespace raydex::optix {

// Words of payload that rays carry.
inline constexpr int payload_words = 3;

// Of the jobs, the launched program runs one.
template <class Scene>
struct launch_parameters {
  Scene scene;                      // in which rays are traced, as programs for hits see it
  const unsigned long long* parts;  // what rays of each part are traced against
  bool any_will_do;                 // rays may stop at whatever they meet
  core::trace_job<Scene> job;
  core::inverse_job<Scene> inverse;
};

}  // namespace raydex::optix
