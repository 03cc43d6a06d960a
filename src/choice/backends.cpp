// SPDX-License-Identifier: Apache-2.0
// The backends that libraydex is built for; no other file of it asks which.
#include "src/interface/builders.hpp"

namespace raydex {

const backend_table* find_backend(backend where) noexcept {
  switch (where) {
    case backend::cpu:
      return &cpu::table;
#if defined(RAYDEX_WITH_CUDA)
    case backend::cuda:
      return &cuda::table;
#endif
#if defined(RAYDEX_WITH_OPTIX)
    case backend::optix:
      return &optix::table;
#endif
    default:
      return nullptr;
  }
}

}  // namespace raydex
