// SPDX-License-Identifier: Apache-2.0
// Several arrays in one .npz file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/output_file.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// An array of one dimension and its name, without `.npy`.
struct npz_member {
  std::string name;
  key_format dtype;
  std::span<const std::byte> cells;
};

// Writes the members, uncompressed, from the begin of the file to its end. Throws as `output_file`.
void write_npz(output_file& file, std::span<const npz_member> members);

}  // namespace raydex::io
