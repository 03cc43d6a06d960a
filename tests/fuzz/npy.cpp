// SPDX-License-Identifier: Apache-2.0
// Any bytes as an .npy file: it is read, or refused with invalid_argument.
#include "io/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "raydex/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream stream(std::string(data, data + size));
  try {
    raydex::io::read_npy(stream, size, "K.npy");
  } catch (const raydex::invalid_argument&) {
    return 0;
  }
  return 0;
}
