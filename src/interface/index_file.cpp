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
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/index_file_format.hpp"
#include "src/interface/index_file_sink.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/interface/option_table.hpp"
#include "src/interface/watch.hpp"

namespace raydex {

kept_memory::~kept_memory() = default;

// What files do with an index or a structure for minima, and users do not see.
class index_keeper {
 public:
  template <class One>
  static auto keep(One& one, const context& on, kept_memory& file) {
    return one.do_keep({one.memory(), on.stream}, file);
  }
  template <class One>
  static tracking_resource& memory(One& one) {
    return one.memory();
  }
  template <class One>
  static void measure(One& one) {
    one.measure();
  }
  static void describe(index& one, std::uint64_t n, std::uint64_t entries,
                       std::uint64_t max_row_id) {
    one.info_.n = n;
    one.info_.entries = entries;
    one.info_.max_row_id = max_row_id;
  }
  static void describe(rmq& one, const column& array) {
    one.info_.n = array.size;
    one.info_.array = array.data;
  }
  // Has a structure keep what owns its array.
  static void own(rmq& one, std::shared_ptr<const void> array) { one.array_ = std::move(array); }
  static void read(const rmq& one, const context& on, void* to, const void* from,
                   std::size_t bytes) {
    one.do_read(on, to, from, bytes);
  }
  static void write(const rmq& one, const context& on, void* to, const void* from,
                    std::size_t bytes) {
    one.do_write(on, to, from, bytes);
  }
};

namespace {

// ---- what is written

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
    put_from_host(bytes);
    end();
  }
  // Writes the array of a structure, as far behind a multiple of `values_step` as in memory: what
  // is beside it depends on that.
  void add_array(const context& on, const rmq& of) {
    const rmq_info& info = of.info();
    const auto* const first = static_cast<const std::byte*>(info.array);
    const std::uint64_t bytes = info.n * info.value.width;
    std::uint64_t before = reinterpret_cast<std::uintptr_t>(first) % values_step;
    number("before", before);
    begin(values_section, before + bytes);
    const std::array<std::byte, values_step> zeros{};
    put(std::span(zeros).first(before));
    put_from(on, first, bytes, [&](void* to, const void* from, std::size_t size) {
      index_keeper::read(of, on, to, from, size);
    });
    end();
  }

  template <class Info>
  void finish(const Info& info) {
    describe(directory_, info);
    directory_writer all;
    directory_.visit(all);
    align();
    const file_header header = header_of(size_, all.bytes());
    append(all.bytes());
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
    begin(name, bytes);
    put_from(on, static_cast<const std::byte*>(from), bytes,
             [&](void* to, const void* at, std::size_t size) { copy(on, to, at, size); });
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
    append(std::span(zeros).first(array_begin(size_) - size_));
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
  void put_from_host(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += cached)
      put(bytes.subspan(at, std::min(cached, bytes.size() - at)));
  }
  // Of the memory of a backend, from which `copy(to, from, size)` copies to the host.
  template <class Copy>
  void put_from(const context& on, const std::byte* first, std::uint64_t bytes, const Copy& copy) {
    if (on.memory.space() == memory_space::host) return put_from_host({first, bytes});
    std::vector<std::byte> host(std::min<std::uint64_t>(bytes, from_device));
    for (std::uint64_t at = 0; at < bytes; at += host.size()) {
      const std::size_t size = std::min<std::uint64_t>(host.size(), bytes - at);
      copy(host.data(), first + at, size);
      put(std::span(host).first(size));
    }
  }
  void end() { directory_.sections.back().sum = sum_.sum(); }

  file_sink* to_;
  file_directory directory_;
  std::uint64_t size_ = 0;
  xxh64 sum_;
};

template <class Kept>
void write_kept(const context& on, const Kept& of, std::string_view note, file_sink& to) {
  check_space(on, of.info().where);
  memory_writer file(to);
  if constexpr (std::is_same_v<Kept, rmq>) file.add_array(on, of);
  // Saving changes nothing: `do_keep` is one function for both ways.
  index_keeper::keep(const_cast<Kept&>(of), on, file);
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
  if (header.magic != file_magic) refuse_file(path, "header: it is no index file of raydex");
  if (header.order != file_order)
    refuse_file(path, "header: the file is of a machine with another order of bytes");
  if (header.version != file_version) {
    refuse_file(path, fmt::format("header: the file is of version {}, and this raydex reads {}; "
                                  "build the index again",
                                  header.version, file_version));
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
  // What keeps them open.
  const std::shared_ptr<const private_pages>& all_pages() const { return pages_; }
  template <class One>
  void give_to(One& one) {
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
    verified_.insert(name);
    xxh64 sum;
    for (std::size_t at = 0; at < all.size(); at += at_once) {
      watch::look();
      sum.add(all.subspan(at, std::min(at_once, all.size() - at)));
    }
    if (sum.sum() != found->sum)
      refuse(name, "its checksum is another one; the file was changed or damaged");
    return all;
  }
  // What is made anew, and was not read.
  void verify_rest() const {
    for (const file_section& one : directory_.sections)
      if (!verified_.contains(one.name)) section(one.name.c_str(), true);
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
  mutable std::set<std::string> verified_;
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

[[noreturn]] void refuse_kind(const std::string& path) {
  refuse_file(path, "directory: it says nothing of what an index is");
}

// What `build` makes of the options of a file, which are as it describes them itself.
template <class Build>
auto build_as_described(const std::string& path, const file_directory& of, const Build& build) {
  decltype(build(option_map())) made;
  try {
    made = build(options_in(of.options));
  } catch (const invalid_argument& problem) {
    refuse_file(path, fmt::format("directory: {}", problem.what()));
  }
  if (made->info().options != of.options)
    refuse_file(path, "directory: its options are not as an index has them");
  return made;
}

// An index of the same kind over no keys.
std::unique_ptr<index> build_empty(const std::string& path, backend where, const context& on,
                                   const file_directory& of) {
  if (is_of_minima(of))
    refuse_file(path, "directory: it has no keys but range minima; load_rmq opens it");
  const auto key = format_named(of.key);
  if (!key || of.structure == "auto" || (of.row_id_bits != 32 && of.row_id_bits != 64))
    refuse_kind(path);
  const std::uint64_t none =
      of.row_id_bits == 32 ? not_found<std::uint32_t> : not_found<std::uint64_t>;
  if (of.entries >= none || of.entries > of.n || of.n >= not_found<std::uint64_t> / 2 ||
      of.max_row_id >= none)
    refuse_file(path, "directory: no index has so many rows");
  std::optional<column> rows;
  if (of.row_id_bits == 64) rows = column(key_format(key_type::uint64), nullptr, 0);
  return build_as_described(path, of, [&](const option_map& options) {
    return build(of.structure, where, on, column(*key, nullptr, 0), rows, options);
  });
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
  if (options.verify) file.verify_rest();
  index_keeper::measure(*made.held);
  return made;
}

// The array of a structure for minima, in the memory of its backend, and what owns it.
struct owned_array {
  column values;
  std::shared_ptr<const void> owner;
};

owned_array read_array(const context& on, const rmq& of, memory_reader& file, bool verify) {
  const key_format value = of.info().value;
  const std::uint64_t n = file.directory().n;
  std::uint64_t before = 0;
  file.number("before", before, values_step - 1);
  const auto section = file.section(values_section, verify);
  if (before % value.width != 0 || before > section.size() ||
      section.size() - before != saturated_product(n, value.width))
    file.refuse(values_section, fmt::format("it does not have {} values", n));
  if (on.memory.space() == memory_space::host)
    return {column(value, section.data() + before, n), file.all_pages()};
  const auto copied = std::make_shared<buffer<std::byte>>(on, section.size());
  index_keeper::write(of, on, copied->data(), section.data(), section.size());
  return {column(value, copied->data() + before, n), copied};
}

loaded_rmq read_rmq(backend where, const context& on, const std::string& path,
                    std::shared_ptr<const private_pages> pages, const load_options& options) {
  check_available(where);
  check_space(on, where);
  memory_reader file(path, std::move(pages), options);
  const file_directory& all = file.directory();
  if (!is_of_minima(all))
    refuse_file(path, "directory: it has no range minima but an index over keys; load opens it");
  const auto value = format_named(all.key);
  if (!value || value->type == key_type::bytes || all.structure == "auto") refuse_kind(path);
  const auto built_over = [&](const column& values) {
    return build_as_described(path, all, [&](const option_map& as) {
      return build_rmq(all.structure, where, on, values, as);
    });
  };
  const auto note = file.section(note_section, true);
  // What the memory in the file is for, over no values yet.
  auto made = built_over(column(*value, nullptr, 0));
  owned_array array = read_array(on, *made, file, options.verify);
  if (options.verify) file.verify_rest();
  // The places of a long array are wider than those of an empty one.
  const bool follows = !options.verify && has_narrow_places(all.n);
  if (follows) {
    index_keeper::describe(*made, array.values);
    file.give_to(*made);
  }
  if (follows && index_keeper::keep(*made, on, file)) {
    index_keeper::measure(*made);
  } else {
    made = built_over(array.values);
  }
  index_keeper::own(*made, std::move(array.owner));
  return {std::move(made), {reinterpret_cast<const char*>(note.data()), note.size()}};
}

}  // namespace

void save(const context& on, const index& of, const std::string& path, std::string_view note) try {
  disk_sink to(path);
  write_kept(on, of, note, to);
} catch (...) {
  rethrow_as_error();
}
void save(const context& on, const rmq& of, const std::string& path, std::string_view note) try {
  disk_sink to(path);
  write_kept(on, of, note, to);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::byte> to_bytes(const context& on, const index& of, std::string_view note) try {
  memory_sink to(of.info().resident_bytes + note.size() + 4096);
  write_kept(on, of, note, to);
  return to.take();
} catch (...) {
  rethrow_as_error();
}
std::vector<std::byte> to_bytes(const context& on, const rmq& of, std::string_view note) try {
  const rmq_info& info = of.info();
  memory_sink to(info.n * info.value.width + info.resident_bytes + note.size() + 4096);
  write_kept(on, of, note, to);
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
  if (!key) refuse_kind(path);
  const auto note = file.section(note_section, true);
  return {.version = file_version,
          .bytes = file.bytes(),
          .structure = all.structure,
          .options = all.options,
          .key = *key,
          .row_id_bits = all.row_id_bits,
          .n = all.n,
          .entries = all.entries,
          .max_row_id = all.max_row_id,
          .note = {reinterpret_cast<const char*>(note.data()), note.size()},
          .is_minima = is_of_minima(all)};
} catch (...) {
  rethrow_as_error();
}

loaded_index from_bytes(backend where, const context& on, std::span<const std::byte> bytes,
                        const load_options& options) try {
  return read_index(where, on, "bytes", std::make_shared<private_pages>(bytes), options);
} catch (...) {
  rethrow_as_error();
}

loaded_rmq load_rmq(backend where, const context& on, const std::string& path,
                    const load_options& options) try {
  return read_rmq(where, on, path, std::make_shared<private_pages>(path), options);
} catch (...) {
  rethrow_as_error();
}

loaded_rmq rmq_from_bytes(backend where, const context& on, std::span<const std::byte> bytes,
                          const load_options& options) try {
  return read_rmq(where, on, "bytes", std::make_shared<private_pages>(bytes), options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
