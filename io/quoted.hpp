// SPDX-License-Identifier: Apache-2.0
// Texts that a message takes from a file or a command line, which may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace raydex::io {

// On one line of UTF-8: control characters and what is no UTF-8 as `\x1b`, and no longer than
// `most` bytes: what is left out is `...`.
std::string printable(std::string_view text, std::size_t most = 80);

// The same in quotes. Not `quoted`, which strings would take for that of std.
std::string in_quotes(std::string_view text);

}  // namespace raydex::io
