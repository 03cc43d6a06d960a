// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device for range minima: a thread a range generates rays. Compiled to PTX,
// and embedded.
#include <cstdint>

#include "raydex/core/minima/rmq_rx.hpp"
#include "raydex/core/rays/traced.hpp"
#include "src/machines/optix/engine/device_calls.cuh"
#include "src/machines/optix/engine/launch.hpp"

using namespace raydex;
using namespace raydex::optix;

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[sizeof(rmq_launch_parameters)];
}

namespace {

constexpr unsigned no_primitive = ~0U;

// Payload: the primitive.
struct tracer {
  const unsigned long long* parts;  // of the launch

  __device__ bool closest(unsigned part, const core::axis_ray& ray,
                          std::uint64_t& primitive) const {
    unsigned words[payload_words] = {no_primitive};
    trace(parts[part], ray, skip_any_hit, words);
    primitive = words[0];
    return words[0] != no_primitive;
  }
};
static_assert(core::closest_tracer<tracer, std::uint64_t>, "programs must find the closest hit");

}  // namespace

extern "C" __global__ void __raygen__trace() {
  const auto& launched = *reinterpret_cast<const rmq_launch_parameters*>(parameters);
  launched.job.run(tracer{launched.parts}, launch_index());
}

extern "C" __global__ void __miss__nothing() {}

extern "C" __global__ void __closesthit__take() {
  set_payload<0>(primitive_index());
}
