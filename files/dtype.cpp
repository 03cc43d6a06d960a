// SPDX-License-Identifier: Apache-2.0
// NumPy's names for key formats: a letter for the type, then the bytes.
#include "files/dtype.hpp"

namespace raydex::io {

namespace {

char type_letter(key_type type) {
  switch (type) {
    case key_type::uint32:
    case key_type::uint64:
      return 'u';
    case key_type::int32:
    case key_type::int64:
      return 'i';
    case key_type::float32:
    case key_type::float64:
      return 'f';
    case key_type::bytes:
      break;
  }
  return 'S';
}

}  // namespace

std::string dtype_name(key_format format) {
  // Bytes have no byte order.
  return std::string(1, format.type == key_type::bytes ? '|' : '<') + type_letter(format.type) +
         std::to_string(format.width);
}

std::optional<key_format> parse_type(std::string_view name) {
  if (name == "u4") return format_of<std::uint32_t>;
  if (name == "u8") return format_of<std::uint64_t>;
  if (name == "i4") return format_of<std::int32_t>;
  if (name == "i8") return format_of<std::int64_t>;
  if (name == "f4") return format_of<float>;
  if (name == "f8") return format_of<double>;
  if (name.size() == 2 && name[0] == 'S' && name[1] >= '1' && name[1] <= '8') {
    return key_format::bytes(static_cast<std::uint8_t>(name[1] - '0'));
  }
  return std::nullopt;
}

std::optional<key_format> parse_dtype(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const auto format = parse_type(name.substr(1));
  return format && dtype_name(*format) == name ? format : std::nullopt;
}

}  // namespace raydex::io
