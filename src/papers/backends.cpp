// SPDX-License-Identifier: Apache-2.0
// The backends that libraydex_papers is built for; no other file of it asks which.
#include <algorithm>
#include <array>

#include "src/interface/builders.hpp"

namespace raydex {

const paper_table* find_own_paper_table(backend where) noexcept {
  static constexpr std::array built {
    &cpu::papers,
#if defined(RAYDEX_WITH_CUDA)
        &cuda::papers,
#endif
#if defined(RAYDEX_WITH_OPTIX)
        &optix::papers,
#endif
  };
  const auto* const found = std::ranges::find(built, where, &paper_table::where);
  return found == built.end() ? nullptr : *found;
}

}  // namespace raydex
