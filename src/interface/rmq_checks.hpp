// SPDX-License-Identifier: Apache-2.0
// Checks that the builds of structures for minima share.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "raydex/rmq.hpp"
#include "src/options/choice_name.hpp"

namespace raydex {

// Checks what every build is given, and that the backend is here and offers the structure.
void check_rmq_build(std::string_view structure, backend where, const context& where_to,
                     const column& values);

// The part of a structure's description that follows from its arguments.
rmq_info describe_rmq(std::string_view structure, backend where, const column& values);

// The option that says which of equal values counts.
inline std::string describe(rmq_ties ties) {
  return fmt::format("ties={}", choice_name("ties", ties, std::array{"leftmost", "rightmost"}));
}

}  // namespace raydex
