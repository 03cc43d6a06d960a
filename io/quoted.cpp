// SPDX-License-Identifier: Apache-2.0
#include "io/quoted.hpp"

#include <fmt/format.h>

#include <iterator>

namespace raydex::io {

std::string printable(std::string_view text, std::size_t most) {
  std::string line;
  for (const char c : text) {
    const std::size_t before = line.size();
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
    if (line.size() <= most) continue;
    line.resize(before);
    // No character of several bytes is cut in two.
    while (!line.empty() && (static_cast<unsigned char>(c) & 0xc0) == 0x80 &&
           (static_cast<unsigned char>(line.back()) & 0x80) != 0) {
      const bool first = (static_cast<unsigned char>(line.back()) & 0x40) != 0;
      line.pop_back();
      if (first) break;
    }
    return line + "...";
  }
  return line;
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", printable(text));
}

}  // namespace raydex::io
