// SPDX-License-Identifier: Apache-2.0
// What is known of a structure before one is built.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "raydex/capability.hpp"

namespace raydex {

inline constexpr std::array all_keys{key_type::uint32, key_type::uint64,  key_type::int32,
                                     key_type::int64,  key_type::float32, key_type::float64,
                                     key_type::bytes};
inline constexpr std::span number_keys = std::span(all_keys).first<6>();
inline constexpr std::span integer_keys = std::span(all_keys).first<4>();

struct structure_facts {
  std::string_view name;
  std::span<const backend> backends;          // that offer it, whether they are built or not
  bool updates = false;                       // whether it takes edits, or changed values
  bool ranges = true;                         // whether its keys are in order
  std::span<const key_type> keys = all_keys;  // that it takes
  bool sparse = true;                         // whether these may lie any distance apart
};

inline constexpr std::array all_backends{backend::cpu, backend::cuda, backend::optix};
// Of structures that search, and of those that cast rays.
inline constexpr std::array searching_backends{backend::cpu, backend::cuda};
inline constexpr std::array tracing_backends{backend::cpu, backend::optix};

}  // namespace raydex
