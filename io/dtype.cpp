// SPDX-License-Identifier: Apache-2.0
// NumPy's names for key formats: a letter for the type, then the bytes; and the library's.
#include "io/dtype.hpp"

#include <fmt/format.h>

#include <vector>

#include "raydex/column.hpp"

namespace raydex::io {

namespace {

std::vector<key_format> all_formats() {
  std::vector<key_format> all{format_of<std::uint32_t>, format_of<std::uint64_t>,
                              format_of<std::int32_t>,  format_of<std::int64_t>,
                              format_of<float>,         format_of<double>};
  for (std::uint8_t width = 1; width <= 8; ++width)
    all.push_back(key_format::bytes(width));
  return all;
}

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

std::optional<key_format> parse_dtype(std::string_view name) {
  for (const key_format format : all_formats()) {
    if (dtype_name(format) == name) return format;
  }
  return std::nullopt;
}

std::optional<key_format> parse_type(std::string_view name) {
  if (name == "float32") return format_of<float>;
  if (name == "float64") return format_of<double>;
  for (const key_format format : all_formats()) {
    const std::string dtype = dtype_name(format);
    if (name == to_string(format) || name == dtype || name == dtype.substr(1)) return format;
  }
  return std::nullopt;
}

std::string remedy_for(std::string_view dtype) {
  if (dtype.size() < 3) return {};
  const char kind = dtype[1];
  const std::string_view width = dtype.substr(2);
  const bool is_number = kind == 'i' || kind == 'u' || kind == 'f';
  if (dtype[0] == '>' && (width == "4" || width == "8") && is_number)
    return fmt::format("a.astype('<{}')", dtype.substr(1));
  if (kind == 'b') return "a.astype('uint32')";
  if (is_number && (width == "1" || width == "2")) return fmt::format("a.astype('{}4')", kind);
  if (kind == 'M' || kind == 'm') return "a.view('int64')";
  if (kind == 'U') return "numpy.char.encode(a)";
  return {};
}

}  // namespace raydex::io
