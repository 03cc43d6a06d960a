// SPDX-License-Identifier: Apache-2.0
// The format of index files: header, arrays, directory. Nothing that is read is used before it is
// checked.
#include "raydex/index_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/interface/watch.hpp"
#include "src/interface/xxh64.hpp"

namespace raydex {

kept_memory::~kept_memory() = default;

// What files do with an index, and users do not see.
class index_keeper {
 public:
  static void keep(index& one, const context& on, kept_memory& file) {
    one.do_keep({one.memory(), on.stream}, file);
  }
  static tracking_resource& memory(index& one) { return one.memory(); }
  static void measure(index& one) { one.measure(); }
  static void describe(index& one, std::uint64_t n, std::uint64_t entries,
                       std::uint64_t max_row_id) {
    one.info_.n = n;
    one.info_.entries = entries;
    one.info_.max_row_id = max_row_id;
  }
};

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::array magic{'\x89', 'r', 'd', 'x', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t own_order = 0x01020304;
constexpr std::uint32_t own_version = 1;
constexpr const char* note_section = "note";

struct file_header {
  std::array<char, 8> magic;
  std::uint32_t order;
  std::uint32_t version;
  std::uint64_t size;  // of the file
  std::uint64_t directory;
  std::uint64_t directory_bytes;
  std::uint64_t directory_sum;
  std::uint64_t none;  // 0
  std::uint64_t sum;   // of what is before it
};
static_assert(sizeof(file_header) == 64);

std::span<const std::byte> summed(const file_header& header) {
  return std::as_bytes(std::span(&header, 1)).first(offsetof(file_header, sum));
}

struct file_section {
  std::string name;
  std::uint64_t begin;
  std::uint64_t bytes;
  std::uint64_t sum;
};
struct file_number {
  std::string name;
  std::uint64_t value;
};
struct file_directory {
  std::string structure;
  std::string options;
  std::string key;
  std::uint64_t row_id_bits = 0;
  std::uint64_t n = 0;
  std::uint64_t entries = 0;
  std::uint64_t max_row_id = 0;
  std::vector<file_number> numbers;
  std::vector<file_section> sections;

  // Has `to` write or read all of it, in order.
  template <class Archive>
  void visit(Archive& to) {
    for (std::string* const text : {&structure, &options, &key})
      to.text(*text);
    for (std::uint64_t* const number : {&row_id_bits, &n, &entries, &max_row_id})
      to.number(*number);
    to.resize(numbers);
    for (file_number& one : numbers) {
      to.text(one.name);
      to.number(one.value);
    }
    to.resize(sections);
    for (file_section& one : sections) {
      to.text(one.name);
      for (std::uint64_t* const number : {&one.begin, &one.bytes, &one.sum})
        to.number(*number);
    }
  }
};

class directory_writer {
 public:
  void number(std::uint64_t value) { put(&value, sizeof value); }
  void text(const std::string& value) {
    number(value.size());
    put(value.data(), value.size());
  }
  template <class T>
  void resize(const std::vector<T>& list) {
    number(list.size());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void put(const void* from, std::size_t size) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw invalid_argument(fmt::format("{}: {}", path, why));
}
[[noreturn]] void fail_file(const std::string& path, const char* call) {
  throw error(fmt::format("{}: {}: {}", path, call, std::generic_category().message(errno)));
}

void check_name(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    throw invalid_argument("path: it is no name of a file");
}

class directory_reader {
 public:
  directory_reader(const std::string& path, std::span<const std::byte> bytes)
      : path_(path), left_(bytes) {}
  void number(std::uint64_t& value) {
    const auto from = take(sizeof value);
    std::memcpy(&value, from.data(), sizeof value);
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    const auto from = take(size);
    value.assign(reinterpret_cast<const char*>(from.data()), from.size());
  }
  template <class T>
  void resize(std::vector<T>& list) {
    std::uint64_t size = 0;
    number(size);
    if (size > left_.size() / 16) refuse();  // each takes two numbers at least
    list.resize(size);
  }
  void finish() const {
    if (!left_.empty()) refuse();
  }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > left_.size()) refuse();
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  [[noreturn]] void refuse() const { refuse_file(path_, "directory: it is cut off"); }

  const std::string& path_;
  std::span<const std::byte> left_;
};

// ---- what is written

// Where a file is written to.
class file_sink {
 public:
  file_sink() = default;
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;
  virtual ~file_sink() = default;
  virtual void append(std::span<const std::byte> bytes) = 0;
  // Writes at the beginning, once all else is written.
  virtual void finish(std::span<const std::byte> begin) = 0;
};

class memory_sink final : public file_sink {
 public:
  explicit memory_sink(std::uint64_t expected) { all_.reserve(expected); }
  void append(std::span<const std::byte> bytes) override {
    all_.insert(all_.end(), bytes.begin(), bytes.end());
  }
  void finish(std::span<const std::byte> begin) override { std::ranges::copy(begin, all_.begin()); }
  std::vector<std::byte> take() { return std::move(all_); }

 private:
  std::vector<std::byte> all_;
};

// A file beside its path, which takes that when it is complete.
class disk_sink final : public file_sink {
 public:
  explicit disk_sink(const std::string& path) : path_(path), target_(target_of(path)) {
    static std::atomic<unsigned> last{0};
    const auto where = std::filesystem::path(target_).parent_path();
    folder_ = where.empty() ? "." : where.string();
    for (unsigned tries = 0; file_ < 0; ++tries) {
      beside_ = fmt::format("{}/.raydex-{}-{}", folder_, ::getpid(), ++last);
      file_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && (errno != EEXIST || tries == 100))
        refuse_file(path, "it cannot be written: " + std::generic_category().message(errno));
    }
  }
  ~disk_sink() override {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(beside_.c_str());
  }

  void append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail_file(path_, "write");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void finish(std::span<const std::byte> begin) override {
    if (::lseek(file_, 0, SEEK_SET) != 0) fail_file(path_, "lseek");
    append(begin);
    if (::fsync(file_) != 0) fail_file(path_, "fsync");
    if (::rename(beside_.c_str(), target_.c_str()) != 0) fail_file(path_, "rename");
    ::close(std::exchange(file_, -1));
    // So that the new name outlives a loss of power.
    const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;  // it may not be read
    const bool flushed = ::fsync(folder) == 0 || errno == EINVAL;
    ::close(folder);
    if (!flushed) fail_file(path_, "fsync of the folder");
  }

 private:
  // The file that links lead to.
  static std::string target_of(const std::string& path) {
    namespace fs = std::filesystem;
    check_name(path);
    fs::path end = path;
    std::error_code absent;
    for (int links = 0; fs::is_symlink(end, absent); ++links) {
      if (links == 40) refuse_file(path, "it cannot be written: links lead in a circle");
      end = end.parent_path() / fs::read_symlink(end, absent);
    }
    if (fs::exists(end, absent) && !fs::is_regular_file(end, absent))
      refuse_file(path, "it cannot be written: not a regular file");
    return end.string();
  }

  std::string path_;
  std::string target_;
  std::string folder_;
  std::string beside_;
  int file_ = -1;
};

class memory_writer final : public kept_memory {
 public:
  explicit memory_writer(file_sink& to) : to_(&to) {
    const file_header room{};
    append(std::as_bytes(std::span(&room, 1)));
  }
  bool loads() const override { return false; }
  bool verifies() const override { return false; }
  [[noreturn]] void refuse(const char* name, const std::string& why) const override {
    throw error(fmt::format("save: {}: {}", name, why));
  }

  // Writes what is in host memory.
  void add(const char* name, std::span<const std::byte> bytes) {
    begin(name, bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += cached)
      put(bytes.subspan(at, std::min(cached, bytes.size() - at)));
    end();
  }

  void finish(const index_info& info) {
    directory_.structure = info.structure;
    directory_.options = info.options;
    directory_.key = to_string(info.key);
    directory_.row_id_bits = 8 * row_id_bytes(info.row_ids);
    directory_.n = info.n;
    directory_.entries = info.entries;
    directory_.max_row_id = info.max_row_id;
    directory_writer all;
    directory_.visit(all);
    file_header header{};
    header.magic = magic;
    header.order = own_order;
    header.version = own_version;
    align();
    header.directory = size_;
    header.directory_bytes = all.bytes().size();
    header.directory_sum = xxh64::of(all.bytes());
    append(all.bytes());
    header.size = size_;
    header.sum = xxh64::of(summed(header));
    to_->finish(std::as_bytes(std::span(&header, 1)));
  }

 private:
  // What is summed up and then written, from the cache; and what comes from a device at a time.
  static constexpr std::size_t cached = std::size_t{1} << 18;
  static constexpr std::size_t from_device = std::size_t{1} << 24;

  std::uint64_t keep_number(const char* name, std::uint64_t value, std::uint64_t /*least*/,
                            std::uint64_t /*most*/) override {
    directory_.numbers.push_back({name, value});
    return value;
  }
  void save(const char* name, const context& on, const void* from, std::uint64_t bytes,
            host_copier* copy) override {
    const auto* const first = static_cast<const std::byte*>(from);
    if (on.memory.space() == memory_space::host) return add(name, {first, bytes});
    begin(name, bytes);
    std::vector<std::byte> host(std::min<std::uint64_t>(bytes, from_device));
    for (std::uint64_t at = 0; at < bytes; at += host.size()) {
      const std::size_t size = std::min<std::uint64_t>(host.size(), bytes - at);
      copy(on, host.data(), first + at, size);
      put(std::span(host).first(size));
    }
    end();
  }
  const void* load(const char* name, std::uint64_t /*bytes*/) override {
    refuse(name, "it is not loaded");
  }
  memory_resource& pages() override { refuse("pages", "there are none"); }

  void append(std::span<const std::byte> bytes) {
    to_->append(bytes);
    size_ += bytes.size();
  }
  void align() {
    static constexpr std::array<std::byte, memory_resource::alignment> zeros{};
    append(std::span(zeros).first((zeros.size() - size_ % zeros.size()) % zeros.size()));
  }
  void begin(const char* name, std::uint64_t bytes) {
    align();
    directory_.sections.push_back({name, size_, bytes, 0});
    sum_ = {};
  }
  void put(std::span<const std::byte> bytes) {
    watch::look();
    sum_.add(bytes);
    append(bytes);
  }
  void end() { directory_.sections.back().sum = sum_.sum(); }

  file_sink* to_;
  file_directory directory_;
  std::uint64_t size_ = 0;
  xxh64 sum_;
};

void write_index(const context& on, const index& of, std::string_view note, file_sink& to) {
  check_space(on, of.info().where);
  memory_writer file(to);
  // Saving changes nothing: `do_keep` is one function for both ways.
  index_keeper::keep(const_cast<index&>(of), on, file);
  file.add(note_section, std::as_bytes(std::span(note)));
  file.finish(of.info());
}

// ---- what is read

// Pages that belong to this process once they are written to.
class private_pages {
 public:
  // Of a file.
  explicit private_pages(const std::string& path) {
    check_name(path);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // of a pipe, too
    if (file < 0) refuse(path);
    struct stat found {};
    const bool is_file = ::fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    if (is_file) size_ = static_cast<std::size_t>(found.st_size);
    if (size_ >= sizeof(file_header)) map(file);
    const int problem = errno;
    ::close(file);
    if (!is_file) refuse_file(path, "it cannot be read: not a regular file");
    if (size_ < sizeof(file_header)) refuse_file(path, "header: the file is too short for it");
    errno = problem;
    if (data_ == nullptr) refuse(path);
  }
  // With a copy of bytes.
  explicit private_pages(std::span<const std::byte> bytes) : size_(bytes.size()) {
    if (size_ < sizeof(file_header))
      throw invalid_argument("bytes: header: they are too few for it");
    map(-1);
    if (data_ == nullptr) throw out_of_memory(size_, 0);
    std::memcpy(data_, bytes.data(), size_);
  }
  private_pages(const private_pages&) = delete;
  private_pages& operator=(const private_pages&) = delete;
  ~private_pages() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  [[noreturn]] static void refuse(const std::string& path) {
    refuse_file(path, "it cannot be read: " + std::generic_category().message(errno));
  }
  void map(int file) {
    const int flags = MAP_PRIVATE | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0);
    void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, flags, file, 0);
    if (at != MAP_FAILED) data_ = static_cast<std::byte*>(at);
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Gives out arrays of a file as the memory of an index, and counts them there.
class paged_memory final : public memory_resource,
                           public std::enable_shared_from_this<paged_memory> {
 public:
  paged_memory(std::shared_ptr<const private_pages> pages, tracking_resource& counted)
      : pages_(std::move(pages)), counted_(&counted) {}
  void* next = nullptr;

  void* allocate(std::size_t bytes, stream_t /*stream*/) override {
    counted_->adopt(static_cast<std::ptrdiff_t>(bytes));
    return next;
  }
  void deallocate(void* /*memory*/, std::size_t bytes, stream_t /*stream*/) noexcept override {
    counted_->adopt(-static_cast<std::ptrdiff_t>(bytes));
  }
  memory_space space() const noexcept override { return memory_space::host; }
  std::shared_ptr<const void> owner() const noexcept override { return shared_from_this(); }

 private:
  std::shared_ptr<const private_pages> pages_;
  tracking_resource* counted_;
};

file_directory read_directory(const std::string& path, std::span<const std::byte> bytes) {
  file_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != magic) refuse_file(path, "header: it is no index file of raydex");
  if (header.order != own_order)
    refuse_file(path, "header: the file is of a machine with another order of bytes");
  if (header.version != own_version) {
    refuse_file(path, fmt::format("header: the file is of version {}, and this raydex reads {}; "
                                  "build the index again",
                                  header.version, own_version));
  }
  if (header.sum != xxh64::of(summed(header)))
    refuse_file(path, "header: its checksum is another one; the file was changed or damaged");
  if (header.size != bytes.size()) {
    refuse_file(path,
                fmt::format("header: the file has {} bytes, not {}; it was cut off or appended to",
                            bytes.size(), header.size));
  }
  if (header.none != 0 || header.directory > bytes.size() ||
      header.directory_bytes > bytes.size() - header.directory)
    refuse_file(path, "header: the directory is not in the file");
  const auto listed = bytes.subspan(header.directory, header.directory_bytes);
  if (header.directory_sum != xxh64::of(listed))
    refuse_file(path, "directory: its checksum is another one; the file was changed or damaged");
  directory_reader reader(path, listed);
  file_directory all;
  all.visit(reader);
  reader.finish();
  std::uint64_t end = sizeof header;
  for (const file_section& one : all.sections) {
    if (one.begin < end || one.begin % memory_resource::alignment != 0 ||
        one.begin > header.directory || one.bytes > header.directory - one.begin)
      refuse_file(path, fmt::format("directory: section '{}' is not where one may be", one.name));
    end = one.begin + one.bytes;
  }
  return all;
}

class memory_reader final : public kept_memory {
 public:
  memory_reader(const std::string& path, std::shared_ptr<const private_pages> pages,
                const load_options& options)
      : path_(path),
        verifies_(options.verify),
        bytes_(pages->bytes()),
        pages_(std::move(pages)),
        directory_(read_directory(path, bytes_)) {}

  const file_directory& directory() const { return directory_; }
  std::uint64_t bytes() const { return bytes_.size(); }
  void give_to(index& one) {
    given_ = std::make_shared<paged_memory>(pages_, index_keeper::memory(one));
  }
  bool loads() const override { return true; }
  bool verifies() const override { return verifies_; }
  [[noreturn]] void refuse(const char* name, const std::string& why) const override {
    refuse_file(path_, fmt::format("section '{}': {}", name, why));
  }

  std::span<std::byte> section(const char* name, bool verify) const {
    const auto found = std::ranges::find(directory_.sections, name, &file_section::name);
    if (found == directory_.sections.end()) refuse(name, "it is missing");
    const auto all = bytes_.subspan(found->begin, found->bytes);
    if (!verify) return all;
    xxh64 sum;
    for (std::size_t at = 0; at < all.size(); at += at_once) {
      watch::look();
      sum.add(all.subspan(at, std::min(at_once, all.size() - at)));
    }
    if (sum.sum() != found->sum)
      refuse(name, "its checksum is another one; the file was changed or damaged");
    return all;
  }

 private:
  static constexpr std::size_t at_once = std::size_t{1} << 24;

  std::uint64_t keep_number(const char* name, std::uint64_t /*value*/, std::uint64_t least,
                            std::uint64_t most) override {
    const auto found = std::ranges::find(directory_.numbers, name, &file_number::name);
    if (found == directory_.numbers.end())
      refuse_file(path_, fmt::format("directory: number '{}' is missing", name));
    if (found->value < least || found->value > most) {
      refuse_file(path_, fmt::format("directory: number '{}' is {}, not from {} to {}", name,
                                     found->value, least, most));
    }
    return found->value;
  }
  void save(const char* name, const context& /*on*/, const void* /*from*/, std::uint64_t /*bytes*/,
            host_copier* /*copy*/) override {
    refuse(name, "it is not saved");
  }
  const void* load(const char* name, std::uint64_t bytes) override {
    const auto all = section(name, verifies_);
    if (all.size() != bytes)
      refuse(name, fmt::format("it has {} bytes, not {}", all.size(), bytes));
    given_->next = all.data();
    return all.data();
  }
  memory_resource& pages() override { return *given_; }

  const std::string& path_;
  bool verifies_;
  std::span<std::byte> bytes_;
  std::shared_ptr<const private_pages> pages_;
  file_directory directory_;
  std::shared_ptr<paged_memory> given_;
};

// The format of that name.
std::optional<key_format> format_named(std::string_view name) {
  for (const key_type type : number_keys)
    if (to_string(key_format(type)) == name) return key_format(type);
  for (std::uint8_t width = 1; width <= 8; ++width)
    if (to_string(key_format::bytes(width)) == name) return key_format::bytes(width);
  return std::nullopt;
}

option_map options_in(std::string_view text) {
  option_map all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t middle = std::min(one.find('='), one.size());
    all.emplace(one.substr(0, middle), one.substr(std::min(middle + 1, one.size())));
  }
  return all;
}

// An index of the same kind over no keys.
std::unique_ptr<index> build_empty(const std::string& path, backend where, const context& on,
                                   const file_directory& of) {
  const auto key = format_named(of.key);
  if (!key || of.structure == "auto" || (of.row_id_bits != 32 && of.row_id_bits != 64))
    refuse_file(path, "directory: it says nothing of what an index is");
  const std::uint64_t none =
      of.row_id_bits == 32 ? not_found<std::uint32_t> : not_found<std::uint64_t>;
  if (of.entries >= none || of.entries > of.n || of.n >= not_found<std::uint64_t> / 2 ||
      of.max_row_id >= none)
    refuse_file(path, "directory: no index has so many rows");
  std::optional<column> rows;
  if (of.row_id_bits == 64) rows = column(key_format(key_type::uint64), nullptr, 0);
  std::unique_ptr<index> made;
  try {
    made = build(of.structure, where, on, column(*key, nullptr, 0), rows, options_in(of.options));
  } catch (const invalid_argument& problem) {
    refuse_file(path, fmt::format("directory: {}", problem.what()));
  }
  if (made->info().options != of.options)
    refuse_file(path, "directory: its options are not as an index has them");
  return made;
}

loaded_index read_index(backend where, const context& on, const std::string& path,
                        std::shared_ptr<const private_pages> pages, const load_options& options) {
  check_available(where);
  check_space(on, where);
  memory_reader file(path, std::move(pages), options);
  const file_directory& all = file.directory();
  const auto note = file.section(note_section, true);
  loaded_index made{build_empty(path, where, on, all),
                    {reinterpret_cast<const char*>(note.data()), note.size()}};
  index_keeper::describe(*made.held, all.n, all.entries, all.max_row_id);
  file.give_to(*made.held);
  index_keeper::keep(*made.held, on, file);
  index_keeper::measure(*made.held);
  return made;
}

}  // namespace

void save(const context& on, const index& of, const std::string& path, std::string_view note) try {
  disk_sink to(path);
  write_index(on, of, note, to);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::byte> to_bytes(const context& on, const index& of, std::string_view note) try {
  memory_sink to(of.info().resident_bytes + note.size() + 4096);
  write_index(on, of, note, to);
  return to.take();
} catch (...) {
  rethrow_as_error();
}

loaded_index load(backend where, const context& on, const std::string& path,
                  const load_options& options) try {
  return read_index(where, on, path, std::make_shared<private_pages>(path), options);
} catch (...) {
  rethrow_as_error();
}

index_file_info inspect(const std::string& path) try {
  const memory_reader file(path, std::make_shared<private_pages>(path), {});
  const file_directory& all = file.directory();
  const auto key = format_named(all.key);
  if (!key) refuse_file(path, "directory: it says nothing of what an index is");
  const auto note = file.section(note_section, true);
  return {.version = own_version,
          .bytes = file.bytes(),
          .structure = all.structure,
          .options = all.options,
          .key = *key,
          .row_id_bits = all.row_id_bits,
          .n = all.n,
          .entries = all.entries,
          .max_row_id = all.max_row_id,
          .note = {reinterpret_cast<const char*>(note.data()), note.size()}};
} catch (...) {
  rethrow_as_error();
}

loaded_index from_bytes(backend where, const context& on, std::span<const std::byte> bytes,
                        const load_options& options) try {
  return read_index(where, on, "bytes", std::make_shared<private_pages>(bytes), options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
