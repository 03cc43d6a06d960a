// SPDX-License-Identifier: Apache-2.0
// Columns in host memory that own their cells.
#include "io/host_column.hpp"

namespace raydex::io {

std::string type_name(key_format format, time_kind times) {
  switch (times) {
    case time_kind::local:
      return "times without a zone";
    case time_kind::zoned:
      return "times with a zone";
    case time_kind::none:
      break;
  }
  return to_string(format);
}

column host_column::view() const {
  column cells_view(format, cells.get(), size, validity.empty() ? nullptr : validity.data());
  cells_view.stride = stride;
  return cells_view;
}

string_column host_strings::view() const {
  return {.bytes = bytes.get(),
          .offsets = offsets.data(),
          .wide_offsets = true,
          .size = size,
          .validity = validity.empty() ? nullptr : validity.data()};
}

std::string_view host_strings::at(std::uint64_t i) const {
  return {bytes.get() + offsets[i], offsets[i + 1] - offsets[i]};
}

std::uint64_t size_of(const host_key_part& part) {
  return std::visit([](const auto& cells) { return cells.size; }, part);
}

key_part view_of(const host_key_part& part) {
  return std::visit([](const auto& cells) -> key_part { return cells.view(); }, part);
}

}  // namespace raydex::io
