// SPDX-License-Identifier: Apache-2.0
// The PTX of programs.cu, made by the build: programs_SCENE_KEYBITS_ROWIDBITS.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "raydex/core/cgrx.hpp"
#include "raydex/core/rx.hpp"

namespace raydex::optix {

extern const std::string_view programs_rx_32_32;
extern const std::string_view programs_rx_32_64;
extern const std::string_view programs_rx_64_32;
extern const std::string_view programs_rx_64_64;
extern const std::string_view programs_cgrx_32_32;
extern const std::string_view programs_cgrx_32_64;
extern const std::string_view programs_cgrx_64_32;
extern const std::string_view programs_cgrx_64_64;

// Those of a scene.
template <class Scene>
std::string_view programs_of() {
  using key = typename Scene::key_type;
  using position = typename Scene::position_type;
  constexpr bool wide_rows = sizeof(position) == 8;
  if constexpr (std::is_same_v<Scene, core::rx_scene<key, position>>) {
    if constexpr (sizeof(key) == 8) return wide_rows ? programs_rx_64_64 : programs_rx_64_32;
    return wide_rows ? programs_rx_32_64 : programs_rx_32_32;
  } else {
    if constexpr (sizeof(key) == 8) return wide_rows ? programs_cgrx_64_64 : programs_cgrx_64_32;
    return wide_rows ? programs_cgrx_32_64 : programs_cgrx_32_32;
  }
}

}  // namespace raydex::optix
