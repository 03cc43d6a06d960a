// SPDX-License-Identifier: Apache-2.0
#include "io/quoted.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace raydex::io {

namespace {

// Bytes of the character that a text begins with in UTF-8 (Unicode 15, table 3-7), 0 if it does not
// begin with one that a terminal shows: a control character or a byte that is no UTF-8.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return first < ' ' || first == 0x7f ? 0 : 1;
  const std::size_t length = first < 0xc2   ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(at) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0xa0, 0x800, 0x10000};  // below 0xa0 are control characters
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[length - 2] || code > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    const std::string shown = length != 0
                                  ? std::string(text.substr(0, length))
                                  : fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    if (line.size() + shown.size() > most) return line + "...";
    line += shown;
    text.remove_prefix(length != 0 ? length : 1);
  }
  return line;
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", printable(text));
}

}  // namespace raydex::io
