// SPDX-License-Identifier: Apache-2.0
// The PTX of programs.cu, made by the build: programs_SCENE_KEYBITS. In libraydex_papers that
// of row_programs.cu, likewise, of rmq_programs.cu, and of hierarchy_programs.cu:
// programs_hierarchy_VALUE_PLACEBITS.
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
extern const std::string_view programs_hierarchy_float_32;
extern const std::string_view programs_hierarchy_float_64;
extern const std::string_view programs_hierarchy_double_32;
extern const std::string_view programs_hierarchy_double_64;
extern const std::string_view programs_hierarchy_int32_32;
extern const std::string_view programs_hierarchy_int32_64;
extern const std::string_view programs_hierarchy_int64_32;
extern const std::string_view programs_hierarchy_int64_64;

}  // namespace raydex::optix
