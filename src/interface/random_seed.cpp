// SPDX-License-Identifier: Apache-2.0
#include "src/interface/random_seed.hpp"

#include <random>

namespace raydex {

std::uint64_t random_seed() {
  std::random_device draw;
  return std::uint64_t{draw()} << 32 | draw();
}

}  // namespace raydex
