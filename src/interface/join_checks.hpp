// SPDX-License-Identifier: Apache-2.0
// Checks of keys of several columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "raydex/join.hpp"

namespace raydex {

// Checks the columns of a key, and returns how many rows they have.
std::uint64_t check_key(const char* argument, const key_parts& keys);
// Refuses columns of other formats, which are nothing for strings.
void check_same_key(const char* argument, const key_parts& keys,
                    const std::vector<std::optional<key_format>>& formats);

}  // namespace raydex
