// SPDX-License-Identifier: Apache-2.0
// Reads files: header, arrays, directory. Nothing that is read is used before it is checked.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "raydex/error.hpp"
#include "raydex/index_file.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/index_file_format.hpp"
#include "src/interface/index_file_keeper.hpp"
#include "src/interface/option_table.hpp"
#include "src/interface/watch.hpp"

namespace raydex {

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

inline file_directory read_directory(const std::string& path, std::span<const std::byte> bytes) {
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

class memory_reader final : public kept_parts {
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
    refuse_file(path_, fmt::format("section '{}{}': {}", prefix_, name, why));
  }

  // What the names of parts begin with from here on.
  void begin_names(std::string with) { prefix_ = std::move(with); }
  void minima(const char* name, const context& own, const column& array,
              std::unique_ptr<rmq>& over) override {
    // The places of a long array are wider than those of an empty one.
    if (verifies_ || !has_narrow_places(array.size)) {
      over = build_rmq(over->info().structure, over->info().where, own, array);
      return;
    }
    index_keeper::describe(*over, array);
    const std::shared_ptr<paged_memory> before_it = given_;
    const std::string before = prefix_;
    give_to(*over);
    begin_names(before + name + ": ");
    index_keeper::keep(*over, own, *this);
    index_keeper::measure(*over);
    begin_names(before);
    given_ = before_it;
  }

  std::span<std::byte> section(const char* part, bool verify) const {
    const std::string name = prefix_ + part;
    const auto found = std::ranges::find(directory_.sections, name, &file_section::name);
    if (found == directory_.sections.end()) refuse(part, "it is missing");
    const auto all = bytes_.subspan(found->begin, found->bytes);
    if (!verify) return all;
    verified_.insert(name);
    xxh64 sum;
    for (std::size_t at = 0; at < all.size(); at += at_once) {
      watch::look();
      sum.add(all.subspan(at, std::min(at_once, all.size() - at)));
    }
    if (sum.sum() != found->sum)
      refuse(part, "its checksum is another one; the file was changed or damaged");
    return all;
  }
  // What is made anew, and was not read.
  void verify_rest() const {
    for (const file_section& one : directory_.sections)
      if (!verified_.contains(one.name)) section(one.name.c_str(), true);
  }

 private:
  static constexpr std::size_t at_once = std::size_t{1} << 24;

  std::uint64_t keep_number(const char* part, std::uint64_t /*value*/, std::uint64_t least,
                            std::uint64_t most) override {
    const std::string name = prefix_ + part;
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
  std::string prefix_;
  bool verifies_;
  std::span<std::byte> bytes_;
  std::shared_ptr<const private_pages> pages_;
  file_directory directory_;
  mutable std::set<std::string> verified_;
  std::shared_ptr<paged_memory> given_;
};

inline std::string text_in(const memory_reader& file, const char* section) {
  const auto text = file.section(section, true);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

// The format of that name.
inline std::optional<key_format> format_named(std::string_view name) {
  for (const key_type type : number_keys)
    if (to_string(key_format(type)) == name) return key_format(type);
  for (std::uint8_t width = 1; width <= 8; ++width)
    if (to_string(key_format::bytes(width)) == name) return key_format::bytes(width);
  return std::nullopt;
}

[[noreturn]] inline void refuse_kind(const std::string& path) {
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
inline std::unique_ptr<index> build_empty(const std::string& path, backend where, const context& on,
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

// Has an index over no keys become that of a file.
inline void fill(index& empty, const context& on, memory_reader& file) {
  const file_directory& all = file.directory();
  index_keeper::describe(empty, all.n, all.entries, all.max_row_id);
  file.give_to(empty);
  index_keeper::keep(empty, on, file);
  index_keeper::measure(empty);
}

}  // namespace raydex
