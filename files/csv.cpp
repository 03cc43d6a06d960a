// SPDX-License-Identifier: Apache-2.0
// Columns of CSV files: libcsv splits lines into fields, csv_cells makes them keys.
#include "files/csv.hpp"

#include <csv.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <new>

#include "files/csv_cells.hpp"
#include "files/input_file.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

class csv_reader {
 public:
  csv_reader(const std::string& name, std::span<const std::string> columns,
             std::optional<key_format> type)
      : name_(name) {
    for (const std::string& column : columns)
      wanted_.push_back({column, 0, csv_cells(name, column, type)});
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    csv_set_blk_size(&parser_, 4096);
  }
  csv_reader(const csv_reader&) = delete;
  csv_reader& operator=(const csv_reader&) = delete;
  ~csv_reader() { csv_free(&parser_); }

  std::vector<host_column> read(std::istream& stream) {
    // Line by line, so that the parser's callbacks know where they are.
    std::string text;
    while (read_line(stream, name_, text)) {
      ++line_;
      if (!stream.eof()) text.push_back('\n');
      constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
      const bool marked = line_ == 1 && text.starts_with(byte_order_mark);
      parse(std::string_view(text).substr(marked ? byte_order_mark.size() : 0));
    }
    if (csv_fini(&parser_, field_callback, row_callback, this) != 0) fail_to_parse();
    rethrow();
    if (names_.empty()) throw invalid_argument(fmt::format("{}: it is empty", name_));
    std::vector<host_column> columns;
    for (wanted_column& wanted : wanted_)
      columns.push_back(wanted.cells.finish());
    return columns;
  }

 private:
  struct wanted_column {
    std::string name;
    std::size_t position;
    csv_cells cells;
  };

  void parse(std::string_view text) {
    if (csv_parse(&parser_, text.data(), text.size(), field_callback, row_callback, this) !=
        text.size()) {
      fail_to_parse();
    }
    rethrow();
  }

  // No exception may pass through libcsv, which is C: the first one waits here.
  template <class Function>
  void guard(Function&& function) noexcept {
    if (failure_) return;
    try {
      function();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  static void field_callback(void* text, std::size_t size, void* self) {
    auto& reader = *static_cast<csv_reader*>(self);
    reader.guard([&] { reader.end_field({static_cast<const char*>(text), size}); });
  }

  static void row_callback(int, void* self) {
    auto& reader = *static_cast<csv_reader*>(self);
    reader.guard([&] { reader.end_row(); });
  }

  void end_field(std::string_view text) {
    if (in_names_) {
      names_.emplace_back(text);
    } else {
      for (wanted_column& wanted : wanted_)
        if (wanted.position == fields_) wanted.cells.add(text, line_);
    }
    ++fields_;
  }

  void end_row() {
    if (in_names_) {
      find_columns();
      in_names_ = false;
    } else if (fields_ != names_.size()) {
      throw invalid_argument(fmt::format("{}: line {}: {} fields, but there are {} columns", name_,
                                         line_, fields_, names_.size()));
    }
    fields_ = 0;
    row_begin_ = line_ + 1;
  }

  void find_columns() {
    for (wanted_column& wanted : wanted_) {
      const auto matches = std::ranges::count(names_, wanted.name);
      if (matches == 0) {
        throw invalid_argument(fmt::format("{}: no column '{}'; there are {}", name_, wanted.name,
                                           fmt::join(names_, ", ")));
      }
      if (matches > 1) {
        throw invalid_argument(
            fmt::format("{}: {} columns are called '{}'", name_, matches, wanted.name));
      }
      wanted.position =
          static_cast<std::size_t>(std::ranges::find(names_, wanted.name) - names_.begin());
    }
  }

  [[noreturn]] void fail_to_parse() {
    rethrow();
    if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc();
    throw invalid_argument(
        fmt::format("{}: line {}: a quote that does not end, or stands inside a field; the row "
                    "begins at line {}",
                    name_, line_, row_begin_));
  }

  std::string name_;
  csv_parser parser_{};
  std::vector<wanted_column> wanted_;
  std::vector<std::string> names_;
  bool in_names_ = true;
  std::size_t fields_ = 0;       // complete ones of this row
  std::uint64_t line_ = 0;       // of the file, from 1
  std::uint64_t row_begin_ = 1;  // the line where this row begins
  std::exception_ptr failure_;
};

}  // namespace

std::vector<host_column> read_csv(std::istream& stream, const std::string& name,
                                  std::span<const std::string> columns,
                                  std::optional<key_format> type) {
  return csv_reader(name, columns, type).read(stream);
}

std::vector<host_column> read_csv(const std::string& path, std::span<const std::string> columns,
                                  std::optional<key_format> type) {
  input_file file = open_input(path);
  return read_csv(file.stream, path, columns, type);
}

}  // namespace raydex::io
