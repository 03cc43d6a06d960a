// SPDX-License-Identifier: Apache-2.0
#include "io/column_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "io/csv_lines.hpp"
#include "io/npy.hpp"
#include "io/quoted.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

std::string ending_of(std::string_view path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return ending;
}

}  // namespace

bool is_csv_output(std::string_view path) {
  return path == "-" || ending_of(path) == ".csv";
}

void check_ending(const std::string& path, std::string_view binary) {
  const std::string ending = ending_of(path);
  if (ending.empty() || ending == binary || is_csv_output(path)) return;
  throw invalid_argument(
      fmt::format("--out {}: files that end in {} are not written here; let it end in {} or .csv",
                  path, printable(ending), binary));
}

column_writer::column_writer(output_file& file, std::string_view name, key_format cell,
                             std::uint64_t size, std::optional<std::uint64_t> none)
    : file_(file),
      name_(name),
      cell_(cell),
      size_(size),
      none_(none),
      is_csv_(is_csv_output(file.path())) {}

void column_writer::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  if (!is_csv_) return begin_npy(file_, cell_, size_);
  csv_lines header(file_);
  header.add("{}\n", name_);
  header.flush();
}

void column_writer::write(std::span<const std::byte> cells, std::span<const std::uint64_t> counts) {
  begin();
  if (!is_csv_) return file_.write(cells);
  csv_lines text(file_);
  std::size_t at = 0;
  for_each_cell(cell_, cells, [&](auto cell) {
    const bool is_of_none = !counts.empty() && counts[at++] == 0;
    if (is_of_none || (none_ && cell == static_cast<decltype(cell)>(*none_))) {
      text.add("\n");
    } else {
      text.add("{}\n", cell);
    }
  });
  text.flush();
}

void match_writer::write(std::span<const std::uint64_t> offsets, key_format row,
                         std::span<const std::byte> rows) {
  csv_lines text(file_);
  if (!has_begun_) text.add("probe,row\n");
  has_begun_ = true;
  std::uint64_t probe = 0;
  std::uint64_t match = 0;
  for_each_cell(row, rows, [&](auto id) {
    while (match >= offsets[probe + 1])
      ++probe;
    text.add("{},{}\n", probes_ + probe, id);
    ++match;
  });
  text.flush();
  probes_ += offsets.size() - 1;
}

}  // namespace raydex::io
