// SPDX-License-Identifier: Apache-2.0
// What the host hands to the programs on the device.
#pragma once

#include "raydex/core/minima/rmq_rx.hpp"
#include "raydex/core/rays/rx_rows.hpp"
#include "raydex/core/rays/traced.hpp"

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

// The same for rows.
template <class Key, class RowId>
struct row_launch_parameters {
  const unsigned long long* parts;
  core::row_job<Key, RowId> job;
};

// The same for range minima.
struct rmq_launch_parameters {
  const unsigned long long* parts;
  core::rmq_ray_job job;
};

// What is handed over to run a job.
template <class Scene>
launch_parameters<Scene> parameters_of(const core::trace_job<Scene>& job,
                                       const unsigned long long* parts) {
  return {job.scene, parts, job.scene.any_will_do(job.probes.is_points), job, {}};
}
template <class Scene>
launch_parameters<Scene> parameters_of(const core::inverse_job<Scene>& job,
                                       const unsigned long long* parts) {
  return {job.points, parts, job.points.any_will_do(true), {}, job};
}
template <class Key, class RowId>
row_launch_parameters<Key, RowId> parameters_of(const core::row_job<Key, RowId>& job,
                                                const unsigned long long* parts) {
  return {parts, job};
}
inline rmq_launch_parameters parameters_of(const core::rmq_ray_job& job,
                                           const unsigned long long* parts) {
  return {parts, job};
}

}  // namespace raydex::optix
