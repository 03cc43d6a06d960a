// SPDX-License-Identifier: Apache-2.0
// What an index file has beside arrays: a header, and a directory that says what they are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/xxh64.hpp"

namespace raydex {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::array file_magic{'\x89', 'r', 'd', 'x', '\r', '\n', '\x1a', '\n'};
inline constexpr std::uint32_t file_order = 0x01020304;
inline constexpr std::uint32_t file_version = 1;
inline constexpr const char* note_section = "note";
inline constexpr const char* asof_join_name = "asof_join";              // stands for a structure
inline constexpr const char* values_section = "values";                 // the array of minima
inline constexpr const char* aggregated_section = "aggregated values";  // the name of their type
inline constexpr const char* aggregate_names = "aggregate: ";           // of its parts begin so
inline constexpr std::size_t values_step = 16;  // where one begins counts modulo this

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

inline std::span<const std::byte> summed(const file_header& header) {
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

// Says what a structure for minima is: it has no row ids.
inline void describe(file_directory& to, const rmq_info& info) {
  to.structure = info.structure;
  to.options = info.options;
  to.key = to_string(info.value);
  to.n = info.n;
  to.entries = info.n;
}
inline bool is_of_minima(const file_directory& of) {
  return of.row_id_bits == 0;
}

// Says what the build side of as-of joins is.
struct asof_join_facts {
  key_format times;
  std::uint64_t rows;
  std::uint64_t entries;
};
inline void describe(file_directory& to, const asof_join_facts& of) {
  to.structure = asof_join_name;
  to.key = to_string(of.times);
  to.row_id_bits = of.rows < not_found<std::uint32_t> ? 32 : 64;
  to.n = of.rows;
  to.entries = of.entries;
  to.max_row_id = of.rows == 0 ? 0 : of.rows - 1;
}
inline bool is_of_asof_join(const file_directory& of) {
  return of.structure == asof_join_name;
}

// Whether there is an aggregate beside the index.
inline bool is_of_aggregate(const file_directory& of) {
  return std::ranges::find(of.sections, aggregated_section, &file_section::name) !=
         of.sections.end();
}

// Says what an index is.
inline void describe(file_directory& to, const index_info& info) {
  to.structure = info.structure;
  to.options = info.options;
  to.key = to_string(info.key);
  to.row_id_bits = 8 * row_id_bytes(info.row_ids);
  to.n = info.n;
  to.entries = info.entries;
  to.max_row_id = info.max_row_id;
}

// The header of a file that ends with this directory, which begins there.
inline file_header header_of(std::uint64_t begin, std::span<const std::byte> directory) {
  file_header header{};
  header.magic = file_magic;
  header.order = file_order;
  header.version = file_version;
  header.size = begin + directory.size();
  header.directory = begin;
  header.directory_bytes = directory.size();
  header.directory_sum = xxh64::of(directory);
  header.sum = xxh64::of(summed(header));
  return header;
}

// The next place where an array may begin.
inline std::uint64_t array_begin(std::uint64_t at) {
  constexpr std::uint64_t step = memory_resource::alignment;
  return (at + step - 1) / step * step;
}

[[noreturn]] inline void refuse_file(const std::string& path, const std::string& why) {
  throw invalid_argument(fmt::format("{}: {}", path, why));
}
[[noreturn]] inline void fail_file(const std::string& path, const char* call) {
  throw error(fmt::format("{}: {}: {}", path, call, std::generic_category().message(errno)));
}

inline void check_name(const std::string& path) {
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

}  // namespace raydex
