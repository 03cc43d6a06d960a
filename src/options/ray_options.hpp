// SPDX-License-Identifier: Apache-2.0
// Options that structures with rays share: what is legal, and how they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "raydex/rx.hpp"

namespace raydex {

// Throw `invalid_argument`.
void check_bits(unsigned x, unsigned y, unsigned z, const rx_scale& scale);
void check_parts(unsigned parts);

// Throws `unsupported` where the largest key has no place; `remedy` says what to take.
void check_places(std::uint64_t largest_key, std::uint64_t largest_place, const char* remedy);

// `compact=.. build=.. parts=..`.
std::string describe_build(const std::optional<bool>& compact, bool fast_build, unsigned parts);
// `order=..`.
std::string describe(rx_order order);

}  // namespace raydex
