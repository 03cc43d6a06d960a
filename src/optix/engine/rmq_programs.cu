// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device for range minima: a thread a range generates rays. Compiled to PTX,
// and embedded.
#include "raydex/core/minima/rmq_rx.hpp"
#include "src/optix/engine/launch.hpp"
#include "src/optix/engine/minima_rays.cuh"

using namespace raydex;
using namespace raydex::optix;

using parameters_type = rmq_launch_parameters<core::rmq_ray_job>;

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[sizeof(parameters_type)];
}

extern "C" __global__ void __raygen__trace() {
  const auto& launched = *reinterpret_cast<const parameters_type*>(parameters);
  launched.job.run(tracer{launched.parts}, launch_index());
}
