// SPDX-License-Identifier: Apache-2.0
// The backends that libraydex_papers is built for; no other file of it asks which.
#include "src/interface/builders.hpp"

namespace raydex {

const paper_builders* find_own_paper_builders(backend where) noexcept {
  switch (where) {
    case backend::cpu:
      return &cpu::papers_builders;
#if defined(RAYDEX_WITH_CUDA)
    case backend::cuda:
      return &cuda::papers_builders;
#endif
#if defined(RAYDEX_WITH_OPTIX)
    case backend::optix:
      return &optix::papers_builders;
#endif
    default:
      return nullptr;
  }
}

}  // namespace raydex
