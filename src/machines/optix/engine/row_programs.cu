// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device for primitives in the order of the rows: a thread a lookup
// generates rays, and each hit adds its row to the answer of that thread. Compiled to PTX for each
// RAYDEX_KEY_BITS, and embedded.
#include <cstdint>
#include <type_traits>

#include "raydex/core/rays/rx_rows.hpp"
#include "src/machines/optix/engine/device_calls.cuh"
#include "src/machines/optix/engine/launch.hpp"

namespace {

using namespace raydex;
using namespace raydex::optix;

using key = std::conditional_t<RAYDEX_KEY_BITS == 64, std::uint64_t, std::uint32_t>;
using row_id = std::uint32_t;
using parameters_type = row_launch_parameters<key, row_id>;
using answer = core::met_rows<row_id>;

}  // namespace

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[sizeof(parameters_type)];
}

namespace {

__device__ const parameters_type& launched() {
  return *reinterpret_cast<const parameters_type*>(parameters);
}

// Payload: the address of the answer, low bits first, and the part.
struct tracer {
  __device__ void visit(unsigned part, const core::axis_ray& ray, row_id /*part_begin*/,
                        answer& met) const {
    const auto address = reinterpret_cast<std::uint64_t>(&met);
    unsigned words[payload_words] = {static_cast<unsigned>(address),
                                     static_cast<unsigned>(address >> 32), part};
    share_memory();
    trace(launched().parts[part], ray, force_any_hit | skip_closest_hit, words);
    share_memory();
  }
};

}  // namespace

extern "C" __global__ void __raygen__trace() {
  launched().job.run(tracer{}, launch_index());
}

extern "C" __global__ void __miss__nothing() {}

extern "C" __global__ void __anyhit__count() {
  const std::uint64_t address = payload<0>() | std::uint64_t{payload<1>()} << 32;
  const row_id part_begin = launched().job.scene.part_begin(payload<2>());
  reinterpret_cast<answer*>(address)->add(part_begin + primitive_index());
  share_memory();
  ignore_hit();
}
