// SPDX-License-Identifier: Apache-2.0
// The PTX of programs.cu, made by the build: programs_KEYBITS_ROWIDBITS.
#pragma once

#include <string_view>

namespace raydex::optix {

extern const std::string_view programs_32_32;
extern const std::string_view programs_32_64;
extern const std::string_view programs_64_32;
extern const std::string_view programs_64_64;

}  // namespace raydex::optix
