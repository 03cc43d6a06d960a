// SPDX-License-Identifier: Apache-2.0
// Keys of several columns as one number each, a column at a time: the format of its cells is looked
// at once, and not for each key.
#pragma once

#include <cstdint>

#include "raydex/core/joins/key_cells.hpp"

namespace raydex::cpu {

// What `put` does, for `size` keys.
void put_numbers(const core::put_key_hashes& put, std::uint64_t size);
void put_numbers(const core::put_packed_keys<std::uint32_t>& put, std::uint64_t size);
void put_numbers(const core::put_packed_keys<std::uint64_t>& put, std::uint64_t size);

}  // namespace raydex::cpu
