// SPDX-License-Identifier: Apache-2.0
// The backends that are built; no other file asks which.
#include <algorithm>
#include <array>

#include "src/interface/builders.hpp"

namespace raydex {

const backend_table* find_backend(backend where) noexcept {
  static constexpr std::array built {
    &cpu::table,
#if defined(RAYDEX_WITH_CUDA)
        &cuda::table,
#endif
#if defined(RAYDEX_WITH_OPTIX)
        &optix::table,
#endif
  };
  const auto* const found = std::ranges::find(built, where, &backend_table::where);
  return found == built.end() ? nullptr : *found;
}

}  // namespace raydex
