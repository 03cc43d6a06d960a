// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device for range minima by a hierarchy, `kernel=tracing`: a thread a range
// scans levels, and asks the last one by rays or scans that as well. Compiled to PTX for each
// RAYDEX_VALUE and RAYDEX_PLACE_BITS, and embedded.
#include <cstdint>
#include <type_traits>

#include "raydex/core/minima/rmq_hierarchy.hpp"
#include "src/minima/hybrid_job.hpp"
#include "src/optix/engine/launch.hpp"
#include "src/optix/engine/minima_rays.cuh"

using namespace raydex;
using namespace raydex::optix;

namespace {

using int32 = std::int32_t;
using int64 = std::int64_t;
using value = RAYDEX_VALUE;
using place = std::conditional_t<RAYDEX_PLACE_BITS == 64, std::uint64_t, std::uint32_t>;
using minimum = asked_minimum<value, place>;
using position = asked_position<value, place>;

template <class Asked>
using parameters_of_asked =
    rmq_launch_parameters<hybrid_job<core::rmq_hierarchy_view<value, place>, Asked>>;
constexpr std::size_t parameter_bytes = sizeof(parameters_of_asked<minimum>);
static_assert(sizeof(parameters_of_asked<position>) == parameter_bytes,
              "both must fit the same variable");

}  // namespace

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[parameter_bytes];
}

namespace {

template <class Asked>
__device__ const parameters_of_asked<Asked>& launched() {
  return *reinterpret_cast<const parameters_of_asked<Asked>*>(parameters);
}

template <class Asked>
__device__ void trace_and_scan() {
  launched<Asked>().job.run(tracer{launched<Asked>().parts}, launch_index());
}

}  // namespace

extern "C" __global__ void __raygen__minimum() {
  trace_and_scan<minimum>();
}

extern "C" __global__ void __raygen__position() {
  trace_and_scan<position>();
}

extern "C" __global__ void __raygen__scan_minimum() {
  launched<minimum>().job.scan(launch_index());
}

extern "C" __global__ void __raygen__scan_position() {
  launched<position>().job.scan(launch_index());
}
