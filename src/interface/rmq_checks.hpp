// SPDX-License-Identifier: Apache-2.0
// Checks that the builds of structures for minima share.
#pragma once

#include <string_view>
#include <vector>

#include "raydex/rmq.hpp"

namespace raydex {

// Checks what every build is given, and that the backend is here and offers the structure.
void check_rmq_build(std::string_view structure, backend where, const context& where_to,
                     const column& values);

// The options of a structure for minima. Throws `invalid_argument` for another name.
std::vector<option_info> rmq_options_of(std::string_view structure);

// The part of a structure's description that follows from its arguments.
rmq_info describe_rmq(std::string_view structure, backend where, const column& values);

}  // namespace raydex
