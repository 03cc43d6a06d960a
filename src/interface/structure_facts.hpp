// SPDX-License-Identifier: Apache-2.0
// What is known of a structure before one is built.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "raydex/capability.hpp"

namespace raydex {

struct structure_facts {
  std::string_view name;
  std::span<const backend> backends;  // that offer it, whether they are built or not
  bool updates = false;               // whether it takes edits, or changed values
};

inline constexpr std::array all_backends{backend::cpu, backend::cuda, backend::optix};
// Of structures that search, and of those that cast rays.
inline constexpr std::array searching_backends{backend::cpu, backend::cuda};
inline constexpr std::array tracing_backends{backend::cpu, backend::optix};

}  // namespace raydex
