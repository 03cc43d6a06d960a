// SPDX-License-Identifier: Apache-2.0
// The PTX of programs.cu, made by the build: programs_SCENE_KEYBITS. In libraydex_papers that
// of row_programs.cu, likewise, and of rmq_programs.cu.
#pragma once

#include <string_view>

namespace raydex::optix {

extern const std::string_view programs_rx_32;
extern const std::string_view programs_rx_64;
extern const std::string_view programs_rx_rows_32;
extern const std::string_view programs_rx_rows_64;
extern const std::string_view programs_cgrx_32;
extern const std::string_view programs_cgrx_64;
extern const std::string_view programs_rmq;

}  // namespace raydex::optix
