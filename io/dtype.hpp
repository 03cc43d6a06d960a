// SPDX-License-Identifier: Apache-2.0
// Names of key formats. Messages print the library's, `to_string(key_format)`; whoever names one
// may use NumPy's, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// What messages offer after a type that is none.
inline constexpr std::string_view legal_types =
    "uint32, uint64, int32, int64, float, double, bytes1 .. bytes8";

// As an .npy file names it: `<u4`, `|S5`.
std::string dtype_name(key_format format);

// The format that an .npy file names so, or nothing.
std::optional<key_format> parse_dtype(std::string_view name);

// The format that anybody names so: `int64`, `i8` or `<i8`; `double`, `float64`, `f8` or `<f8`;
// `bytes5`, `S5` or `|S5`. Nothing for any other text.
std::optional<key_format> parse_type(std::string_view name);

// What to do in NumPy with an array whose dtype raydex does not read: `a.astype('int32')`. Empty
// where there is no advice.
std::string remedy_for(std::string_view dtype);

}  // namespace raydex::io
