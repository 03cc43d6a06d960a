// SPDX-License-Identifier: Apache-2.0
// Columns of tables that pyarrow reads, taken over from pyarrow_table.py.
#include "io/pyarrow_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/csv_cells.hpp"
#include "io/dtype.hpp"
#include "io/input_file.hpp"
#include "io/pyarrow_table_text.hpp"
#include "io/quoted.hpp"
#include "io/table_format.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

constexpr std::size_t widest_key = 8;

// A file that has no name, and goes with the program.
class nameless_file {
 public:
  nameless_file() {
    std::error_code failure;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
    if (failure)
      throw error(fmt::format("TMPDIR: no folder for temporary files: {}", failure.message()));
    std::string name = folder / "raydex-XXXXXX";
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
      throw error(
          fmt::format("{}: cannot be written: {}", name, std::generic_category().message(errno)));
    }
    ::unlink(name.c_str());
  }
  nameless_file(const nameless_file&) = delete;
  nameless_file& operator=(const nameless_file&) = delete;
  ~nameless_file() { ::close(descriptor_); }

  int descriptor() const noexcept { return descriptor_; }
  // The file from its begin on.
  std::ifstream read() const {
    return std::ifstream(fmt::format("/proc/self/fd/{}", descriptor_), std::ios::binary);
  }

 private:
  int descriptor_;
};

// The word by which the other process knows what a column is read as.
std::string type_word(const csv_column& column) {
  if (column.texts == csv_texts::verbatim) return "text";
  const bool are_strings =
      column.texts == csv_texts::strings || (column.type && column.type->type == key_type::bytes);
  if (are_strings) return "string";
  return column.type ? to_string(*column.type) : "";
}

constexpr int success = 0;
constexpr int refused = 2;

// The Python that has pyarrow.
std::string python() {
  const char* const named = std::getenv("RAYDEX_PYTHON");
  return named == nullptr || *named == '\0' ? "python3" : named;
}

// Starts Python on pyarrow_table.py with these words. It has the descriptors as its standard input
// and output, or where they are negative an empty file and that of the program.
pid_t start(std::vector<std::string> words, const std::string& path, int input, int output) {
  words.insert(words.begin(), {python(), "-c", std::string(pyarrow_table_text)});
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (input < 0) {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  }
  if (output >= 0) ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int failure =
      ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw unavailable(fmt::format("{}: it is read by pyarrow, and {} cannot be run: {}", path,
                                  words[0], std::generic_category().message(failure)));
  }
  return process;
}

// Waits for the end of a process; returns its wait status.
int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void fail_without_message(const std::string& path, int status) {
  throw error(fmt::format("{}: cannot be read: {} ended with {} {}", path, python(),
                          WIFEXITED(status) ? "status" : "signal",
                          WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
}

// The names and types of columns, as the other process takes them.
std::vector<std::string> words_of(std::span<const csv_column> columns) {
  std::vector<std::string> words;
  for (const csv_column& column : columns) {
    words.push_back(column.name);
    words.push_back(type_word(column));
  }
  return words;
}

// Has the file filled with what is wanted.
void fill(const nameless_file& file, const std::string& path, std::span<const csv_column> columns) {
  std::vector<std::string> words = words_of(columns);
  words.insert(words.begin(), path);
  const int status = wait_for(start(std::move(words), path, -1, file.descriptor()));
  if (WIFEXITED(status) && WEXITSTATUS(status) == success) return;
  std::ifstream stream = file.read();
  std::string message;
  if (!WIFEXITED(status) || !std::getline(stream, message)) fail_without_message(path, status);
  if (WEXITSTATUS(status) == refused) throw invalid_argument(message);
  throw unavailable(message);
}

// The two ends of a pipe; processes that are started get neither.
std::pair<int, int> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw error(fmt::format("a pipe to Python: {}", std::generic_category().message(errno)));
  return {ends[0], ends[1]};
}

// Takes over a column.
class column_reader {
 public:
  column_reader(std::istream& from, const std::string& path, const csv_column& wanted)
      : from_(from), path_(path), wanted_(wanted) {}

  host_key_part read() {
    std::string kind;
    std::uint64_t missing = 0;
    std::uint64_t bytes = 0;
    from_ >> kind >> rows_ >> missing >> bytes;
    from_.get();
    if (missing != 0) read_validity();
    if (kind == "strings") return as_wanted(read_strings(bytes));
    const time_kind times = kind == "local"   ? time_kind::local
                            : kind == "zoned" ? time_kind::zoned
                                              : time_kind::none;
    const key_format format =
        times == time_kind::none ? parse_type(kind).value() : format_of<std::int64_t>;
    const auto cells = read_array<std::byte>(rows_ * format.width);
    return host_column{.format = format,
                       .size = rows_,
                       .stride = 0,
                       .cells = {cells, cells.get()},
                       .validity = std::move(validity_),
                       .times = times};
  }

 private:
  template <class T>
  std::shared_ptr<T[]> read_array(std::uint64_t count) {
    std::shared_ptr<T[]> array = std::make_unique_for_overwrite<T[]>(count);
    if (!read_bytes(from_, path_, array.get(), count * sizeof(T)))
      throw error(fmt::format("{}: cannot be read to its end", path_));
    return array;
  }

  void read_validity() {
    const auto bytes = read_array<std::uint8_t>(rows_);
    const std::uint8_t* const valid = bytes.get();
    validity_.resize(rows_ / 8 + 1);
    for (std::uint64_t i = 0; i < rows_; ++i)
      validity_[i / 8] = static_cast<std::uint8_t>(validity_[i / 8] | valid[i] << i % 8);
  }

  host_strings read_strings(std::uint64_t bytes) {
    const auto lengths = read_array<std::uint64_t>(rows_);
    std::vector<std::uint64_t> offsets{0};
    offsets.reserve(rows_ + 1);
    for (const std::uint64_t length : std::span(lengths.get(), rows_))
      offsets.push_back(offsets.back() + length);
    const auto all = read_array<char>(bytes);
    return {.size = rows_,
            .bytes = {all, all.get()},
            .offsets = std::move(offsets),
            .validity = std::move(validity_)};
  }

  // Texts of up to 8 bytes, unless strings are wanted or they may be longer and some are.
  host_key_part as_wanted(host_strings texts) const {
    if (wanted_.texts >= csv_texts::strings) return texts;
    std::size_t longest = 1;
    for (std::uint64_t i = 0; i < texts.size; ++i) {
      const std::string_view text = texts.at(i);
      const bool ends_in_nul = !wanted_.type && text.ends_with('\0');
      if (wanted_.texts == csv_texts::any_length) {
        if (text.size() > widest_key || ends_in_nul) return texts;
      } else if (ends_in_nul) {
        fail(i, text, "ends in a NUL byte, which is not told from padding");
      } else if (text.size() > most()) {
        fail(i, text, too_long(text.size(), most()));
      }
      longest = std::max(longest, text.size());
    }
    const std::size_t width = wanted_.type ? most() : longest;
    const std::shared_ptr<std::byte[]> cells = std::make_unique<std::byte[]>(rows_ * width);
    for (std::uint64_t i = 0; i < texts.size; ++i)
      std::ranges::copy(std::as_bytes(std::span(texts.at(i))), cells.get() + i * width);
    return host_column{.format = key_format::bytes(static_cast<std::uint8_t>(width)),
                       .size = rows_,
                       .stride = 0,
                       .cells = {cells, cells.get()},
                       .validity = std::move(texts.validity)};
  }

  std::size_t most() const { return wanted_.type ? wanted_.type->width : widest_key; }
  [[noreturn]] void fail(std::uint64_t row, std::string_view text, std::string_view problem) const {
    throw invalid_argument(fmt::format("{}: row {}: '{}' in column {} {}", path_, row,
                                       printable(text, 40), printable(wanted_.name), problem));
  }

  std::istream& from_;
  const std::string& path_;
  const csv_column& wanted_;
  std::uint64_t rows_ = 0;
  std::vector<std::uint8_t> validity_;
};

}  // namespace

std::vector<host_key_part> read_by_pyarrow(const std::string& path,
                                           std::span<const csv_column> columns) {
  static_cast<void>(open_input(path));  // says what keeps it from being read
  const nameless_file file;
  if (const table_format format = table_format_of(path); format != table_format::arrow) {
    fill(file, path, {});  // decompressed
    std::ifstream stream = file.read();
    return read_csv(stream, path, columns, format);
  }
  fill(file, path, columns);
  std::ifstream stream = file.read();
  std::vector<host_key_part> read;
  for (const csv_column& column : columns)
    read.push_back(column_reader(stream, path, column).read());
  return read;
}

namespace {

std::string as_hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

arrow_input::arrow_input(std::string_view begin, std::string name, std::vector<csv_column> columns)
    : name_(std::move(name)), columns_(std::move(columns)) {
  const auto [read_end, write_end] = make_pipe();
  std::vector<std::string> words = words_of(columns_);
  words.insert(words.begin(), {"--read", as_hexadecimal(begin)});
  try {
    process_ = start(std::move(words), name_, STDIN_FILENO, write_end);
  } catch (...) {
    ::close(read_end);
    ::close(write_end);
    throw;
  }
  ::close(write_end);
  stream_.open(fmt::format("/proc/self/fd/{}", read_end), std::ios::binary);
  ::close(read_end);
}

arrow_input::~arrow_input() {
  stream_.close();  // the process ends when it writes
  if (process_ != 0) {
    ::kill(process_, SIGTERM);  // it may be waiting for standard input
    wait_for(process_);
  }
}

std::vector<host_key_part> arrow_input::next() {
  const int begin = stream_.peek();
  if (begin == std::ifstream::traits_type::eof() || begin == '!') {
    const int status = wait_for(std::exchange(process_, 0));
    std::string message;
    std::getline(stream_, message);
    if (WIFEXITED(status) && WEXITSTATUS(status) == success && message.empty()) return {};
    if (message.empty() || !WIFEXITED(status)) fail_without_message(name_, status);
    if (WEXITSTATUS(status) == refused) throw invalid_argument(message.substr(1));
    throw unavailable(message.substr(1));
  }
  std::vector<host_key_part> read;
  for (const csv_column& column : columns_)
    read.push_back(column_reader(stream_, name_, column).read());
  return read;
}

arrow_output::arrow_output(std::span<const arrow_field> fields) {
  std::vector<std::string> words{"--write"};
  for (const arrow_field& field : fields) {
    words.push_back(field.name);
    words.push_back(to_string(field.format));
    words.push_back(field.none ? fmt::format("{}", *field.none) : "");
  }
  const auto [read_end, write_end] = make_pipe();
  to_ = write_end;
  try {
    process_ = start(std::move(words), "standard output", read_end, -1);
  } catch (...) {
    ::close(read_end);
    ::close(write_end);
    throw;
  }
  ::close(read_end);
}

arrow_output::~arrow_output() {
  if (to_ >= 0) ::close(to_);
  if (process_ != 0) wait_for(process_);
}

void arrow_output::write(std::uint64_t rows, std::span<const std::span<const std::byte>> columns) {
  send(std::as_bytes(std::span(&rows, 1)));
  for (const std::span<const std::byte> cells : columns)
    send(cells);
}

void arrow_output::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(to_, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      throw error(fmt::format("standard output: cannot be written: {}",
                              std::generic_category().message(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void arrow_output::finish() {
  ::close(std::exchange(to_, -1));
  const int status = wait_for(std::exchange(process_, 0));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != success)
    throw error(fmt::format("standard output: cannot be written by {}", python()));
}

}  // namespace raydex::io
