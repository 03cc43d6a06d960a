// SPDX-License-Identifier: Apache-2.0
// Files of indexes.
#include "raydex/index_file.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/index_file_reader.hpp"
#include "src/interface/index_file_writer.hpp"

namespace raydex {

kept_memory::~kept_memory() = default;

namespace {

void write_index(const context& on, const index& of, std::string_view note, file_sink& to) {
  check_space(on, of.info().where);
  memory_writer file(to);
  // Saving changes nothing: `do_keep` is one function for both ways.
  index_keeper::keep(const_cast<index&>(of), on, file);
  file.finish(of.info(), note);
}

loaded_index read_index(backend where, const context& on, const std::string& path,
                        std::shared_ptr<const private_pages> pages, const load_options& options) {
  check_available(where);
  check_space(on, where);
  memory_reader file(path, std::move(pages), options);
  const file_directory& all = file.directory();
  if (is_of_aggregate(all))
    refuse_file(path, "directory: it has aggregates over an index; load_aggregate opens it");
  if (is_of_asof_join(all))
    refuse_file(path, "directory: it has the build side of as-of joins; load_asof_join opens it");
  loaded_index made{build_empty(path, where, on, all), text_in(file, note_section)};
  fill(*made.held, on, file);
  if (options.verify) file.verify_rest();
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
  if (!key) refuse_kind(path);
  return {.version = file_version,
          .bytes = file.bytes(),
          .structure = all.structure,
          .options = all.options,
          .key = *key,
          .row_id_bits = all.row_id_bits,
          .n = all.n,
          .entries = all.entries,
          .max_row_id = all.max_row_id,
          .note = text_in(file, note_section),
          .is_minima = is_of_minima(all),
          .is_aggregate = is_of_aggregate(all),
          .is_asof_join = is_of_asof_join(all)};
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
