// SPDX-License-Identifier: Apache-2.0
// What is legal of options that structures with rays share, beyond what each says by itself.
#pragma once

#include <cstdint>

#include "raydex/rx.hpp"
#include "src/interface/internal.hpp"

namespace raydex {

// Throws `invalid_argument`.
void check_bits(const rx_bits& bits, const rx_scale& scale);

// Throws `unsupported` where the largest key has no place; `remedy` says what to take.
RAYDEX_INTERNAL void check_places(std::uint64_t largest_key, std::uint64_t largest_place,
                                  const char* remedy);

}  // namespace raydex
