// SPDX-License-Identifier: Apache-2.0
// Kernels of several structures that a library compiles once.
#include "src/machines/optix/engine/ray_engine.cuh"

namespace raydex {

template struct sorted_probes<optix::ray_engine, std::uint32_t>;
template struct sorted_probes<optix::ray_engine, std::uint64_t>;
template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint32_t>&);
template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint64_t>&);

}  // namespace raydex
