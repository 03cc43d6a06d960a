// SPDX-License-Identifier: Apache-2.0
// The rows of a join as an .npy or a CSV file, written in parts.
#include "io/join_writer.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "io/column_writer.hpp"
#include "io/npy.hpp"
#include "raydex/index.hpp"

namespace raydex::io {

namespace {

constexpr auto no_row = not_found<std::uint64_t>;

// A text of up to 8 bytes, without what fills it up.
std::string_view text_of(std::span<const std::byte> cell) {
  std::string_view text(reinterpret_cast<const char*>(cell.data()), cell.size());
  text.remove_suffix(text.size() - (text.find_last_not_of('\0') + 1));
  return text;
}

void add_cell(csv_lines& lines, const host_column& cells, std::uint64_t row) {
  if (!cells.has_value(row)) return;
  const std::span<const std::byte> cell(cells.cells.get() + row * cells.view().step(),
                                        cells.format.width);
  if (cells.format.type == key_type::bytes) return lines.add_field(text_of(cell));
  for_each_cell(cells.format, cell, [&](auto number) { lines.add("{}", number); });
}
void add_cell(csv_lines& lines, const host_strings& cells, std::uint64_t row) {
  lines.add_field(cells.at(row));
}

}  // namespace

row_number_writer::row_number_writer(output_file& file, std::uint64_t size, bool pairs,
                                     std::optional<key_format> distance)
    : file_(file), pairs_(pairs), is_csv_(is_csv_output(file.path())), distance_(distance) {
  if (is_csv_) {
    csv_lines header(file);
    header.add("{}\n", distance ? "probe,build,distance" : pairs ? "probe,build" : "probe");
    header.flush();
  } else if (pairs) {
    begin_npy(file, format_of<std::uint64_t>, std::array{size, std::uint64_t{2}});
  } else {
    begin_npy(file, format_of<std::uint64_t>, size);
  }
}

void row_number_writer::write(std::span<const std::uint64_t> probe_rows,
                              std::span<const std::uint64_t> build_rows,
                              std::span<const std::uint64_t> distances) {
  if (is_csv_) {
    csv_lines lines(file_);
    for (std::size_t i = 0; i < probe_rows.size(); ++i) {
      if (probe_rows[i] != no_row) lines.add("{}", probe_rows[i]);
      if (pairs_) lines.add(",");
      if (pairs_ && build_rows[i] != no_row) lines.add("{}", build_rows[i]);
      if (distance_) lines.add(",");
      if (distance_ && build_rows[i] != no_row) {
        for_each_cell(*distance_, std::as_bytes(distances.subspan(i, 1)),
                      [&](auto number) { lines.add("{}", number); });
      }
      lines.add("\n");
    }
    return lines.flush();
  }
  if (!pairs_) return file_.write(std::as_bytes(probe_rows));
  std::vector<std::uint64_t> pairs;
  pairs.reserve(2 * probe_rows.size());
  for (std::size_t i = 0; i < probe_rows.size(); ++i) {
    pairs.push_back(probe_rows[i]);
    pairs.push_back(build_rows[i]);
  }
  file_.write(std::as_bytes(std::span(pairs)));
}

joined_row_writer::joined_row_writer(output_file& file, std::span<const output_column> columns)
    : file_(file), columns_(columns) {
  csv_lines header(file);
  for (const output_column& column : columns) {
    if (&column != columns.data()) header.add(",");
    header.add_field(column.name);
  }
  header.add("\n");
  header.flush();
}

void joined_row_writer::write(std::span<const std::uint64_t> probe_rows,
                              std::span<const std::uint64_t> build_rows) {
  csv_lines lines(file_);
  for (std::size_t i = 0; i < probe_rows.size(); ++i) {
    for (const output_column& column : columns_) {
      if (&column != columns_.data()) lines.add(",");
      const std::uint64_t row = column.of_build ? build_rows[i] : probe_rows[i];
      if (row == no_row) continue;
      std::visit([&](const auto& cells) { add_cell(lines, cells, row); }, column.cells);
    }
    lines.add("\n");
  }
  lines.flush();
}

}  // namespace raydex::io
