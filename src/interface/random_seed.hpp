// SPDX-License-Identifier: Apache-2.0
// Seeds that nobody can tell beforehand.
#pragma once

#include <cstdint>

#include "src/interface/internal.hpp"

namespace raydex {

// Another one each time.
RAYDEX_INTERNAL std::uint64_t random_seed();

}  // namespace raydex
