// SPDX-License-Identifier: Apache-2.0
// Lines of a CSV file on their way to it.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "io/output_file.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// Collects text, and writes it some thousands of lines at a time.
class csv_lines {
 public:
  explicit csv_lines(output_file& file) : file_(file) {}

  // Appends formatted text.
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    constexpr std::size_t enough = 1 << 16;
    if (text_.size() >= enough) flush();
  }
  // Appends a field, in quotes where it would be read as something else without.
  void add_field(std::string_view field) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    const bool is_plain = field.find_first_of(",\"\r\n") == std::string_view::npos &&
                          (field.empty() || !(is_space(field.front()) || is_space(field.back())));
    if (is_plain) return add("{}", field);
    text_.push_back('"');
    for (const char c : field) {
      if (c == '"') text_.push_back('"');
      text_.push_back(c);
    }
    add("\"");
  }
  // Writes what is left.
  void flush() {
    file_.write(std::as_bytes(std::span(text_.data(), text_.size())));
    text_.clear();
  }

 private:
  output_file& file_;
  fmt::memory_buffer text_;
};

// Calls f with each cell as a number.
template <class T, class Function>
void for_each_cell(std::span<const std::byte> cells, const Function& f) {
  for (std::size_t at = 0; at < cells.size(); at += sizeof(T)) {
    T cell;
    std::memcpy(&cell, cells.data() + at, sizeof cell);
    f(cell);
  }
}

// The same for cells of numbers of a format.
template <class Function>
void for_each_cell(key_format format, std::span<const std::byte> cells, const Function& f) {
  switch (format.type) {
    case key_type::uint32:
      return for_each_cell<std::uint32_t>(cells, f);
    case key_type::uint64:
      return for_each_cell<std::uint64_t>(cells, f);
    case key_type::int32:
      return for_each_cell<std::int32_t>(cells, f);
    case key_type::int64:
      return for_each_cell<std::int64_t>(cells, f);
    case key_type::float32:
      return for_each_cell<float>(cells, f);
    default:
      return for_each_cell<double>(cells, f);
  }
}

}  // namespace raydex::io
