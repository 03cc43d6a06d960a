// SPDX-License-Identifier: Apache-2.0
// Columns of CSV files: libcsv splits lines into fields, csv_cells makes them keys.
#include "io/csv.hpp"

#include <csv.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>

#include "io/csv_cells.hpp"
#include "io/input_file.hpp"
#include "io/quoted.hpp"
#include "io/suggestion.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// The names of the columns of a .bed, which has none.
constexpr std::string_view bed_names[] = {"chrom",   "start",      "end",        "name",
                                          "score",   "strand",     "thickStart", "thickEnd",
                                          "itemRgb", "blockCount", "blockSizes", "blockStarts"};

std::string bed_name(std::size_t column) {
  return column < std::size(bed_names) ? std::string(bed_names[column])
                                       : fmt::format("{}", column + 1);
}

// What is wanted of a file, and what it has.
struct table {
  const std::string& name;
  std::span<const csv_column> wanted;
  table_format format;
  std::vector<std::string> columns = {};    // of the file
  std::vector<std::size_t> positions = {};  // among them of those wanted

  bool is_of_genomes() const { return format == table_format::bed || format == table_format::vcf; }
  char separator() const { return format == table_format::csv ? ',' : '\t'; }
  // Of genomes none is wanted, and the byte in its place is in no text.
  char quote() const { return is_of_genomes() ? '\0' : '"'; }
  bool is_comment(std::string_view first_field, bool in_names) const;
  void find_columns();
};

bool table::is_comment(std::string_view first_field, bool in_names) const {
  const auto is = [&](std::string_view word) {
    return first_field.starts_with(word) &&
           (first_field.size() == word.size() || first_field[word.size()] == ' ');
  };
  if (format == table_format::vcf) return in_names && first_field.starts_with("##");
  return format == table_format::bed &&
         (first_field.starts_with('#') || is("track") || is("browser"));
}

void table::find_columns() {
  for (const csv_column& one : wanted) {
    const auto matches = std::ranges::count(columns, one.name);
    if (matches == 0) {
      throw invalid_argument(
          fmt::format("{}: no column {}; there are {}{}", name, in_quotes(one.name),
                      printable(fmt::format("{}", fmt::join(columns, ", ")), 300),
                      suggestion(one.name, columns)));
    }
    if (matches > 1) {
      throw invalid_argument(
          fmt::format("{}: {} columns are called {}", name, matches, in_quotes(one.name)));
    }
    positions.push_back(
        static_cast<std::size_t>(std::ranges::find(columns, one.name) - columns.begin()));
  }
}

// Takes some successive rows of a file.
class row_reader {
 public:
  // Where no names are known, the first row has them. `lines`: how many precede.
  explicit row_reader(table& source, std::uint64_t lines = 0)
      : source_(source), in_names_(source.columns.empty()), line_(lines), row_begin_(lines + 1) {
    for (const csv_column& column : source.wanted)
      cells_.emplace_back(source.name, column);
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
      throw std::bad_alloc();
    csv_set_delim(&parser_, static_cast<unsigned char>(source.separator()));
    csv_set_quote(&parser_, static_cast<unsigned char>(source.quote()));
  }
  row_reader(const row_reader&) = delete;
  row_reader& operator=(const row_reader&) = delete;
  ~row_reader() { csv_free(&parser_); }

  // Takes a text that begins where the last one ended. Messages are right about lines where each
  // text is one line.
  void parse(std::string_view text) {
    ++line_;
    // By this much the room for a field grows. By a constant it would be copied too often.
    csv_set_blk_size(&parser_, std::max(text.size(), std::size_t{4096}));
    if (csv_parse(&parser_, text.data(), text.size(), field_callback, row_callback, this) !=
        text.size()) {
      fail_to_parse();
    }
    rethrow();
  }

  // Ends the last row.
  void finish() {
    if (csv_fini(&parser_, field_callback, row_callback, this) != 0) fail_to_parse();
    rethrow();
  }

  bool has_names() const noexcept { return !in_names_; }
  // What it has read of the columns wanted.
  std::vector<csv_cells>& cells() { return cells_; }

 private:
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
    auto& reader = *static_cast<row_reader*>(self);
    reader.last_end_ = 0;
    reader.guard([&] { reader.end_field({static_cast<const char*>(text), size}); });
  }

  // Called at each end of a line outside quotes, and with -1 at the end of the last one.
  static void row_callback(int end, void* self) {
    auto& reader = *static_cast<row_reader*>(self);
    const bool ends_twice = end == '\n' && reader.last_end_ == '\r';
    reader.last_end_ = end;
    if (!ends_twice) reader.guard([&] { reader.end_row(); });
  }

  void end_field(std::string_view text) {
    if (fields_ == 0) in_comment_ = source_.is_comment(text, in_names_);
    if (!in_comment_ && in_names_) {
      source_.columns.push_back(name_of(text));
    } else if (!in_comment_) {
      for (std::size_t i = 0; i < cells_.size(); ++i)
        if (source_.positions[i] == fields_) cells_[i].add(cell_of(text, i), line_);
    }
    ++fields_;
  }

  // What the column of this field is called, in the row that says it.
  std::string name_of(std::string_view text) const {
    if (source_.format == table_format::bed) return bed_name(fields_);
    if (source_.format != table_format::vcf || fields_ != 0) return std::string(text);
    if (!text.starts_with('#')) {
      throw invalid_argument(fmt::format(
          "{}: line {}: the header of a .vcf is missing, a line that begins with #CHROM",
          source_.name, line_));
    }
    return std::string(text.substr(1));
  }

  std::string_view cell_of(std::string_view text, std::size_t wanted) const {
    const bool is_missing = source_.is_of_genomes() && text == "." &&
                            source_.wanted[wanted].texts != csv_texts::verbatim;
    return is_missing ? std::string_view() : text;
  }

  void end_row() {
    if (fields_ == 0) {  // a blank line
      if (in_names_ || source_.columns.size() != 1) return;
      end_field({});
    }
    if (in_comment_) {
      in_comment_ = false;
    } else if (in_names_) {
      source_.find_columns();
      in_names_ = false;
    } else if (fields_ != source_.columns.size()) {
      throw invalid_argument(fmt::format("{}: line {}: {} fields, but there are {} columns",
                                         source_.name, line_, fields_, source_.columns.size()));
    }
    fields_ = 0;
    row_begin_ = line_ + 1;
  }

  [[noreturn]] void fail_to_parse() {
    rethrow();
    if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc();
    const std::string_view what = source_.is_of_genomes()
                                      ? "a NUL byte"
                                      : "a quote that does not end, or stands inside a field";
    throw invalid_argument(fmt::format("{}: line {}: {}; the row begins at line {}", source_.name,
                                       line_, what, row_begin_));
  }

  table& source_;
  csv_parser parser_{};
  std::vector<csv_cells> cells_;
  bool in_names_;
  bool in_comment_ = false;
  std::size_t fields_ = 0;   // complete ones of this row
  int last_end_ = 0;         // what ended the last line, if nothing came since
  std::uint64_t line_;       // of the file, from 1
  std::uint64_t row_begin_;  // the line where this row begins
  std::exception_ptr failure_;
};

// Takes lines one by one, all of them or the names only; returns whether the stream had more.
bool read_lines(std::istream& stream, row_reader& reader, const std::string& name,
                bool names_only) {
  std::string text;
  while (read_line(stream, name, text)) {
    if (!stream.eof()) text.push_back('\n');
    reader.parse(text);
    if (names_only && reader.has_names()) return true;
  }
  reader.finish();
  return false;
}

// Behind the first end of a line outside quotes from a place on, which may be in quotes.
std::size_t row_end(std::string_view text, std::size_t from, bool in_quotes, char quote) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text[at] == quote) in_quotes = !in_quotes;
    if (text[at] == '\n' && !in_quotes) return at + 1;
  }
  return text.npos;
}

// Divides a text that begins with a row into parts of whole rows: where they end. What follows the
// last one is no whole row.
std::vector<std::size_t> divide(std::string_view text, std::size_t part_size, char quote) {
  const std::size_t count = (text.size() + part_size - 1) / part_size;
  std::vector<std::uint8_t> odd_quotes(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    odd_quotes[i] = std::ranges::count(text.substr(i * part_size, part_size), quote) % 2 != 0;
  });
  std::vector<std::size_t> ends;
  bool in_quotes = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end =
        row_end(text.substr(0, (i + 1) * part_size), i * part_size, in_quotes, quote);
    if (i != 0 && end != text.npos) ends.push_back(end);
    in_quotes ^= odd_quotes[i] != 0;
  }
  // The last part goes to the end of the last row.
  std::size_t last = ends.empty() ? 0 : ends.back();
  for (std::size_t end = last; end != text.npos; end = row_end(text, end, false, quote))
    last = end;
  if (last != 0 && (ends.empty() || last != ends.back())) ends.push_back(last);
  return ends;
}

// The cells of a file's columns, in parts.
using parts_of_columns = std::vector<std::vector<csv_cells>>;

std::vector<host_key_part> join(parts_of_columns& columns) {
  std::vector<host_key_part> joined;
  for (std::vector<csv_cells>& parts : columns)
    joined.push_back(csv_cells::join(std::move(parts)));
  return joined;
}

// Reads the rows of a text that is divided at `ends`, all at once.
void read_parts(table& source, std::string_view text, const std::vector<std::size_t>& ends,
                parts_of_columns& columns) {
  std::vector<std::vector<csv_cells>> read(ends.size());
  tbb::parallel_for(std::size_t{0}, ends.size(), [&](std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    row_reader reader(source);
    reader.parse(text.substr(begin, ends[i] - begin));
    reader.finish();
    read[i] = std::move(reader.cells());
  });
  for (std::vector<csv_cells>& part : read) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      columns[i].push_back(std::move(part[i]));
  }
}

// Reads the rows behind the names, block by block.
std::vector<host_key_part> read_rows(std::istream& stream, table& source, std::size_t part_size) {
  parts_of_columns columns(source.wanted.size());
  std::string text;
  std::size_t block = part_size;
  for (bool more = true; more; block = std::min(2 * block, 64 * part_size)) {
    // What was left is no whole row; where it is long, so is the next block.
    const std::size_t left = text.size();
    text.resize(left + std::max(block, left));
    more = read_bytes(stream, source.name, text.data() + left, text.size() - left);
    text.resize(left + static_cast<std::size_t>(stream.gcount()));
    std::vector<std::size_t> ends = divide(text, part_size, source.quote());
    if (!more) ends.push_back(text.size());
    read_parts(source, text, ends, columns);
    if (!ends.empty()) text.erase(0, ends.back());
  }
  return join(columns);
}

// Goes to where a file begins, behind a mark of the order of bytes.
void go_to_begin(std::istream& stream, std::istream::pos_type begin, const std::string& name) {
  char head[byte_order_mark.size()];
  stream.clear();
  stream.seekg(begin);
  if (read_bytes(stream, name, head, sizeof head) &&
      std::string_view(head, sizeof head) == byte_order_mark)
    return;
  stream.clear();
  stream.seekg(begin);
}

// Finds what the columns are called; returns whether the stream had more. Of a .bed its first row
// says how many there are, and is still to be read.
bool read_names(std::istream& stream, std::istream::pos_type begin, table& source) {
  row_reader names(source);
  const bool names_only = true;
  go_to_begin(stream, begin, source.name);
  const bool more = read_lines(stream, names, source.name, names_only);
  if (source.format != table_format::bed) return more;
  if (source.columns.empty()) {
    for (const std::string_view each : bed_names)
      source.columns.emplace_back(each);
    source.find_columns();
  }
  go_to_begin(stream, begin, source.name);
  return true;
}

// Reads a file line by line.
std::vector<host_key_part> read_line_by_line(std::istream& stream, std::istream::pos_type begin,
                                             table source) {
  if (source.format == table_format::bed) {
    read_names(stream, begin, source);
  } else {
    go_to_begin(stream, begin, source.name);
  }
  row_reader reader(source);
  const bool names_only = false;
  read_lines(stream, reader, source.name, names_only);
  if (!reader.has_names()) throw invalid_argument(fmt::format("{}: it is empty", source.name));
  parts_of_columns columns;
  for (csv_cells& column : reader.cells())
    columns.emplace_back().push_back(std::move(column));
  return join(columns);
}

}  // namespace

struct csv_pieces::state {
  state(std::string file, std::vector<csv_column> columns)
      : name(std::move(file)),
        wanted(std::move(columns)),
        source{name, wanted, table_format::csv} {}

  std::string name;
  std::vector<csv_column> wanted;
  table source;
  std::string text;         // what was in no whole row yet
  std::uint64_t lines = 0;  // before it

  // Drops the first bytes of the text.
  void drop(std::size_t size) {
    lines += static_cast<std::uint64_t>(std::ranges::count(text.substr(0, size), '\n'));
    text.erase(0, size);
  }

  // Reads the names, if their row is whole; returns whether it is.
  bool read_names(bool is_last) {
    table header{name, {}, table_format::csv};
    while (header.columns.empty()) {  // blank lines may precede
      if (is_last && text.empty()) throw invalid_argument(fmt::format("{}: it is empty", name));
      std::size_t end = row_end(text, 0, false, source.quote());
      if (end == text.npos && !is_last) return false;
      end = std::min(end, text.size());
      std::string_view row = std::string_view(text).substr(0, end);
      if (lines == 0 && row.starts_with(byte_order_mark)) row.remove_prefix(byte_order_mark.size());
      row_reader reader(header, lines);
      reader.parse(row);
      reader.finish();
      drop(end);
    }
    source.columns = std::move(header.columns);
    name_those_wanted();
    source.find_columns();
    return true;
  }

  // Gives columns without a name the names of all that there are.
  void name_those_wanted() {
    if (!wanted.front().name.empty()) return;
    if (source.columns.size() != wanted.size()) {
      throw invalid_argument(
          fmt::format("{}: which column? there are {}; name {} behind a colon", name,
                      printable(fmt::format("{}", fmt::join(source.columns, ", ")), 300),
                      wanted.size() == 1 ? "it" : "them"));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i].name = source.columns[i];
  }

  // Reads the rows up to a place line by line, which tells the line of what is wrong.
  std::vector<host_key_part> read_slowly(std::size_t end) {
    row_reader reader(source, lines);
    for (std::size_t begin = 0; begin < end;) {
      const std::size_t next = std::min(text.find('\n', begin), end - 1) + 1;
      reader.parse(std::string_view(text).substr(begin, next - begin));
      begin = next;
    }
    reader.finish();
    parts_of_columns columns;
    for (csv_cells& column : reader.cells())
      columns.emplace_back().push_back(std::move(column));
    return join(columns);
  }

  std::vector<host_key_part> read(bool is_last) {
    if (source.columns.empty() && !read_names(is_last)) return {};
    constexpr std::size_t part_size = std::size_t{1} << 20;
    std::vector<std::size_t> ends = divide(text, part_size, source.quote());
    if (is_last) ends.push_back(text.size());
    if (ends.empty()) return {};
    std::vector<host_key_part> found;
    try {
      parts_of_columns columns(wanted.size());
      read_parts(source, text, ends, columns);
      found = join(columns);
    } catch (const invalid_argument&) {
      found = read_slowly(ends.back());
    }
    drop(ends.back());
    return found;
  }
};

csv_pieces::csv_pieces(std::string name, std::vector<csv_column> columns)
    : state_(std::make_unique<state>(std::move(name), std::move(columns))) {}

csv_pieces::~csv_pieces() = default;

std::vector<host_key_part> csv_pieces::add(std::string_view piece) {
  state_->text += piece;
  return state_->read(false);
}

std::vector<host_key_part> csv_pieces::finish() {
  return state_->read(true);
}

std::vector<host_key_part> read_csv(std::istream& stream, const std::string& name,
                                    std::span<const csv_column> columns, table_format format,
                                    std::size_t part_size) {
  table source{name, columns, format};
  const std::istream::pos_type begin = stream.tellg();
  try {
    if (read_names(stream, begin, source)) return read_rows(stream, source, part_size);
  } catch (const invalid_argument&) {
    // What is wrong, and in which line, is found below.
  }
  return read_line_by_line(stream, begin, {name, columns, format});
}

std::vector<host_key_part> read_csv(const std::string& path, std::span<const csv_column> columns) {
  input_file file = open_input(path);
  return read_csv(file.stream, path, columns, table_format_of(path));
}

}  // namespace raydex::io
