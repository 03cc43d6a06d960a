// SPDX-License-Identifier: Apache-2.0
// NumPy's names for key formats.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// What messages offer after a dtype that cannot be read.
inline constexpr std::string_view legal_dtypes = "<u4 <u8 <i4 <i8 <f4 <f8 |S1..|S8";

// As an .npy file names it: `<u4`, `|S5`.
std::string dtype_name(key_format format);

// Without the byte order, as CSV columns name it: `u4`, `S5`. Nothing for any other text.
std::optional<key_format> parse_type(std::string_view name);

// The format that an .npy file names so, or nothing.
std::optional<key_format> parse_dtype(std::string_view name);

}  // namespace raydex::io
