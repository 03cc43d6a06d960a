// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device for range minima: a thread a range generates rays, and programs are
// called for what they meet. Compiled to PTX, and embedded.
#include <cstdint>

#include "raydex/core/minima/rmq_rx.hpp"
#include "src/optix/engine/device_calls.cuh"
#include "src/optix/engine/launch.hpp"

using namespace raydex;
using namespace raydex::optix;

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[sizeof(rmq_launch_parameters)];
}

namespace {

constexpr unsigned none = ~0U;

__device__ const rmq_launch_parameters& launched() {
  return *reinterpret_cast<const rmq_launch_parameters*>(parameters);
}

// Payload: the primitive.
struct tracer {
  __device__ bool closest(unsigned part, const core::axis_ray& ray,
                          std::uint64_t& primitive) const {
    unsigned words[payload_words] = {none};
    trace(launched().parts[part], ray, skip_any_hit, words);
    primitive = words[0];
    return words[0] != none;
  }
};
static_assert(core::closest_tracer<tracer, std::uint64_t>, "programs must find the closest hit");

}  // namespace

extern "C" __global__ void __raygen__trace() {
  launched().job.run(tracer{}, launch_index());
}

extern "C" __global__ void __miss__nothing() {}

extern "C" __global__ void __closesthit__take() {
  set_payload<0>(primitive_index());
}
