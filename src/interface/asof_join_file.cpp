// SPDX-License-Identifier: Apache-2.0
// Files of the build sides of as-of joins: their columns, over which one is built again.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index_file.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/index_file_reader.hpp"
#include "src/interface/index_file_writer.hpp"
#include "src/interface/kept_parts.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

namespace {

void write_asof_join(const context& on, const asof_join& of, std::string_view note, file_sink& to) {
  check_space(on, of.info().where);
  memory_writer file(to);
  const auto [times, rows] = dynamic_cast<const keeps_columns&>(of).keep_columns(on, file);
  file.finish(asof_join_facts{times, rows, of.info().entries}, note);
}

// The memory of columns of a file.
struct memory_of_columns {
  std::shared_ptr<const private_pages> pages;  // in host memory
  std::vector<buffer<std::byte>> copies;       // on a device
};

class column_reader {
 public:
  column_reader(backend where, const context& on, memory_reader& file, memory_of_columns& to)
      : where_(where), on_(on), file_(file), to_(to) {
    to_.pages = file_.all_pages();
    file_.number("rows", size_, std::uint64_t{1} << 48);
  }

  column times() {
    const key_format format = format_of("time");
    if (format.type == key_type::bytes) file_.refuse("times", "they are texts");
    return fixed("times", format);
  }
  key_parts key() {
    std::uint8_t parts = 0;
    file_.number("columns of key", parts, most_key_parts);
    key_parts all;
    for (unsigned p = 0; p < parts; ++p) {
      const std::string name = fmt::format("key {}", p);
      std::uint8_t has_strings = 0;
      file_.number((name + " has strings").c_str(), has_strings, 1);
      if (has_strings != 0) {
        all.emplace_back(strings(name));
      } else {
        all.emplace_back(fixed(name, format_of(name)));
      }
    }
    return all;
  }

 private:
  key_format format_of(const std::string& name) {
    key_format made;
    std::uint8_t type = 0;
    file_.number((name + " type").c_str(), type);
    file_.number((name + " width").c_str(), made.width);
    made.type = static_cast<key_type>(type);
    if (!made.is_legal()) file_.refuse(name.c_str(), "it is of no type");
    return made;
  }

  std::span<const std::byte> section(const std::string& name) const {
    return file_.section(name.c_str(), file_.verifies());
  }
  std::span<const std::byte> section(const std::string& name, std::uint64_t bytes) const {
    const auto found = section(name);
    if (found.size() != bytes)
      file_.refuse(name.c_str(), fmt::format("it has {} bytes, not {}", found.size(), bytes));
    return found;
  }
  // As it lies in the file, or a copy on a device.
  const std::byte* placed(std::span<const std::byte> bytes) {
    if (bytes.empty()) return nullptr;
    if (on_.memory.space() == memory_space::host) return bytes.data();
    buffer<std::byte>& copy = to_.copies.emplace_back(on_, bytes.size());
    operation_on(where_, &operation_table::copy_in)(on_, copy.data(), bytes.data(), bytes.size());
    return copy.data();
  }

  validity_bitmap validity(const std::string& name) {
    const std::string present = name + " present";
    if (section(present).empty()) return {};
    return {reinterpret_cast<const std::uint8_t*>(placed(section(present, (size_ + 7) / 8)))};
  }
  column fixed(const std::string& name, const key_format& format) {
    const auto cells = section(name, saturated_product(size_, format.width));
    return {format, placed(cells), size_, validity(name)};
  }
  string_column strings(const std::string& name) {
    const std::string offsets_name = name + " offsets";
    const auto offsets = section(offsets_name, saturated_product(size_ + 1, 8));
    const auto letters = section(name);
    const std::span all(reinterpret_cast<const std::uint64_t*>(offsets.data()), size_ + 1);
    if (file_.verifies() &&
        (all.front() != 0 || all.back() > letters.size() || !std::ranges::is_sorted(all)))
      file_.refuse(offsets_name.c_str(), "they lead out of the strings");
    return {.bytes = reinterpret_cast<const char*>(placed(letters)),
            .offsets = placed(offsets),
            .wide_offsets = true,
            .size = size_,
            .validity = validity(name)};
  }

  backend where_;
  const context& on_;
  memory_reader& file_;
  memory_of_columns& to_;
  std::uint64_t size_ = 0;
};

loaded_asof_join read_asof_join(backend where, const context& on, const std::string& path,
                                std::shared_ptr<const private_pages> pages,
                                const load_options& options) {
  check_available(where);
  check_space(on, where);
  memory_reader file(path, std::move(pages), options);
  if (!is_of_asof_join(file.directory())) {
    refuse_file(path,
                "directory: it has no build side of as-of joins; load, load_rmq or "
                "load_aggregate opens it");
  }
  loaded_asof_join made;
  made.note = text_in(file, note_section);
  const auto columns = std::make_shared<memory_of_columns>();
  column_reader reader(where, on, file, *columns);
  const column times = reader.times();
  const key_parts key = reader.key();
  std::uint8_t missing_equal = 0;
  file.number("missing is equal", missing_equal, 1);
  if (options.verify) file.verify_rest();
  made.held = build_asof_join(where, on, times, key, missing_equal != 0);
  made.columns = columns;
  made.times = times.format;
  made.key = formats_of(key);
  made.rows = times.size;
  return made;
}

}  // namespace

void save(const context& on, const asof_join& of, const std::string& path,
          std::string_view note) try {
  disk_sink to(path);
  write_asof_join(on, of, note, to);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::byte> to_bytes(const context& on, const asof_join& of, std::string_view note) try {
  memory_sink to(of.info().resident_bytes + note.size() + 4096);
  write_asof_join(on, of, note, to);
  return to.take();
} catch (...) {
  rethrow_as_error();
}

loaded_asof_join load_asof_join(backend where, const context& on, const std::string& path,
                                const load_options& options) try {
  return read_asof_join(where, on, path, std::make_shared<private_pages>(path), options);
} catch (...) {
  rethrow_as_error();
}

loaded_asof_join asof_join_from_bytes(backend where, const context& on,
                                      std::span<const std::byte> bytes,
                                      const load_options& options) try {
  return read_asof_join(where, on, "bytes", std::make_shared<private_pages>(bytes), options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
