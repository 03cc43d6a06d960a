// SPDX-License-Identifier: Apache-2.0
// Columns that come on standard input while they are asked for.
#include "io/column_stream.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <variant>

#include "raydex/error.hpp"

namespace raydex::io {

namespace {

constexpr const char* input = "standard input";
// Bytes that are read at once if they are there: many enough to keep all cores busy.
constexpr std::size_t most_bytes = std::size_t{16} << 20;

// What a name says behind `-` or /dev/stdin; nothing for another name.
std::optional<std::string_view> columns_in(std::string_view name) {
  for (const std::string_view stream : {"-", "/dev/stdin"}) {
    if (name == stream) return "";
    if (name.starts_with(stream) && name.substr(stream.size()).starts_with(':'))
      return name.substr(stream.size() + 1);
  }
  return std::nullopt;
}

std::vector<csv_column> wanted_columns(const std::vector<std::string>& names,
                                       const std::vector<host_key_part>& like) {
  std::vector<csv_column> columns(like.size());
  for (std::size_t i = 0; i < like.size(); ++i) {
    if (!names.empty()) columns[i].name = names[i];
    const auto* const cells = std::get_if<host_column>(&like[i]);
    if (cells == nullptr) {
      columns[i].texts = csv_texts::strings;
    } else if (cells->times == time_kind::none) {
      columns[i].type = cells->format;
    }
  }
  return columns;
}

// Reads bytes, as many as are there; waits for the first ones. Returns how many: 0 at the end.
std::size_t read_some(char* to, std::size_t size) {
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, to, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    throw invalid_argument(
        fmt::format("{}: cannot be read: {}", input, std::generic_category().message(errno)));
  }
}

// Whether there is something to read, or the end.
bool is_ready() {
  pollfd asked{STDIN_FILENO, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

void refuse_other_formats(std::string_view begin) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> known{
      {{"ARRO", "an Arrow file, which is no stream"},
       {"PAR1", "a Parquet file"},
       {"\x93NUM", "an array of NumPy"},
       {"\x1f\x8b", "compressed"}}};
  for (const auto& [bytes, what] : known) {
    if (!begin.starts_with(bytes)) continue;
    throw invalid_argument(fmt::format(
        "{}: it is {}; it is read as CSV or as a stream in Arrow's IPC format; give the path of a "
        "file",
        input, what));
  }
}

}  // namespace

bool names_stream(std::string_view name) {
  return columns_in(name).has_value();
}

std::string columns_of_stream(std::string_view name) {
  return std::string(columns_in(name).value());
}

column_stream::column_stream(const std::vector<std::string>& names, std::vector<host_key_part> like)
    : bytes_(std::make_unique_for_overwrite<char[]>(most_bytes)), like_(std::move(like)) {
  constexpr std::size_t told = 4;  // bytes that tell the format
  std::size_t size = 0;
  for (std::size_t more = 1; size < told && more != 0; size += more)
    more = read_some(bytes_.get() + size, told - size);
  begin_ = {bytes_.get(), size};
  refuse_other_formats(begin_);
  std::vector<csv_column> columns = wanted_columns(names, like_);
  if (begin_ == "\xff\xff\xff\xff") {
    arrow_.emplace(begin_, input, std::move(columns));
  } else {
    csv_.emplace(input, std::move(columns));
  }
}

std::vector<host_key_part> column_stream::next() {
  while (!has_ended_) {
    std::vector<host_key_part> read;
    if (arrow_) {
      read = arrow_->next();
      has_ended_ = read.empty();
    } else {
      std::size_t size = std::exchange(begin_, {}).size();  // which lies where more follows
      if (size == 0) has_ended_ = (size = read_some(bytes_.get(), most_bytes)) == 0;
      while (!has_ended_ && size < most_bytes && is_ready()) {
        const std::size_t more = read_some(bytes_.get() + size, most_bytes - size);
        if (more == 0) break;
        size += more;
      }
      read = has_ended_ ? csv_->finish() : csv_->add({bytes_.get(), size});
    }
    std::vector<host_key_part> columns = taken(std::move(read));
    if (!columns.empty() && size_of(columns[0]) != 0) return columns;
  }
  return {};
}

std::vector<host_key_part> column_stream::taken(std::vector<host_key_part> read) const {
  for (std::size_t i = 0; i < read.size(); ++i) {
    auto* const column = std::get_if<host_column>(&read[i]);
    const auto* const like = std::get_if<host_column>(&like_[i]);
    if (column == nullptr || like == nullptr) continue;
    bool has_any = false;
    for (std::uint64_t row = 0; row < column->size && !has_any; ++row)
      has_any = column->has_value(row);
    if (has_any) continue;
    column->format = like->format;  // of no type that was found
    column->times = like->times;
  }
  return read;
}

}  // namespace raydex::io
