// SPDX-License-Identifier: Apache-2.0
// Texts that a message takes from a file or a command line, which may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace raydex::io {

// On one line: control characters as `\x1b`, and no longer than `most` characters: what is left out
// is `...`.
std::string printable(std::string_view text, std::size_t most = 80);

// The same in quotes. Not `quoted`, which strings would take for that of std.
std::string in_quotes(std::string_view text);

}  // namespace raydex::io
