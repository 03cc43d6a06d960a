// SPDX-License-Identifier: Apache-2.0
//
// Launching a kernel, and the calls of the runtime that take one.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"
#include "emulation/fibers.hpp"

namespace emulation::detail {

// Checks and runs a launch; `function` only tells kernels apart.
cudaError_t launch(const cudaLaunchConfig_t* config, const void* function, kernel_body body,
                   const void* arguments);

template <typename... Parameters>
const void* address_of(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace emulation::detail

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "a kernel's parameters are copied as bytes");
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  using kernel_call = std::pair<void (*)(Parameters...), std::tuple<Parameters...>>;
  // Implicit conversions, as where a kernel is called; each thread gets its own copies.
  const auto convert = [&](Parameters... converted) {
    return kernel_call{kernel, std::tuple<Parameters...>{converted...}};
  };
  const kernel_call call = convert(std::forward<Arguments>(arguments)...);
  const auto body = [](const void* opaque) {
    const kernel_call& own = *static_cast<const kernel_call*>(opaque);
    std::apply(own.first, own.second);
  };
  return emulation::detail::launch(config, emulation::detail::address_of(kernel), body, &call);
}

template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                 int value) {
  return cudaFuncSetAttribute(emulation::detail::address_of(kernel), attribute, value);
}

template <typename... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
  return cudaFuncGetAttributes(attributes, emulation::detail::address_of(kernel));
}

template <typename... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          void (*kernel)(Parameters...),
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, emulation::detail::address_of(kernel), block_size, dynamic_shared_bytes);
}
// NOLINTEND(readability-identifier-naming)
