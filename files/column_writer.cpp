// SPDX-License-Identifier: Apache-2.0
#include "files/column_writer.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "files/npy.hpp"

namespace raydex::io {

namespace {

// Lines on their way to a file, some thousands at a time.
class lines {
 public:
  explicit lines(output_file& file) : file_(file) {}

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    constexpr std::size_t enough = 1 << 16;
    if (text_.size() >= enough) flush();
  }
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

}  // namespace

bool is_csv_output(std::string_view path) {
  return path == "-" || path.ends_with(".csv");
}

column_writer::column_writer(output_file& file, std::string_view name, key_format cell,
                             std::uint64_t size, std::optional<std::uint64_t> none)
    : file_(file), cell_(cell), none_(none), is_csv_(is_csv_output(file.path())) {
  if (is_csv_) {
    lines header(file);
    header.add("{}\n", name);
    header.flush();
  } else {
    begin_npy(file, cell, size);
  }
}

void column_writer::write(std::span<const std::byte> cells) {
  if (!is_csv_) return file_.write(cells);
  lines text(file_);
  for_each_cell(cell_, cells, [&](auto cell) {
    if (none_ && cell == static_cast<decltype(cell)>(*none_)) {
      text.add("\n");
    } else {
      text.add("{}\n", cell);
    }
  });
  text.flush();
}

void write_csv_matches(output_file& file, std::span<const std::uint64_t> offsets, key_format row,
                       std::span<const std::byte> rows) {
  lines text(file);
  text.add("probe,row\n");
  std::uint64_t probe = 0;
  std::uint64_t match = 0;
  for_each_cell(row, rows, [&](auto id) {
    while (match >= offsets[probe + 1])
      ++probe;
    text.add("{},{}\n", probe, id);
    ++match;
  });
  text.flush();
}

}  // namespace raydex::io
