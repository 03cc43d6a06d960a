// SPDX-License-Identifier: Apache-2.0
// Files of aggregates and their indexes.
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

namespace {

// What an aggregate was built for, as numbers of its file.
void keep_options(kept_memory& file, aggregate_options& of) {
  for (const auto& [name, wanted] :
       {std::pair("has sums", &of.sums), std::pair("has minima", &of.minima),
        std::pair("has maxima", &of.maxima), std::pair("has first rows", &of.first_rows)})
    file.number(name, *wanted, 1);
}

void write_aggregate(const context& on, const aggregate& of, std::string_view note, file_sink& to) {
  check_space(on, of.info().where);
  const index& over = index_keeper::index_of(of);
  memory_writer file(to);
  index_keeper::keep(const_cast<index&>(over), on, file);
  const std::string values = of.info().value ? to_string(*of.info().value) : std::string();
  file.add(aggregated_section, std::as_bytes(std::span(values)));
  file.begin_names(aggregate_names);
  aggregate_options options = of.info().parts;
  keep_options(file, options);
  index_keeper::keep(const_cast<aggregate&>(of), on, file);
  file.begin_names("");
  file.finish(over.info(), note);
}

loaded_aggregate read_aggregate(backend where, const context& on, const std::string& path,
                                std::shared_ptr<const private_pages> pages,
                                const load_options& options) {
  check_available(where);
  check_space(on, where);
  memory_reader file(path, std::move(pages), options);
  const file_directory& all = file.directory();
  if (!is_of_aggregate(all))
    refuse_file(path, "directory: it has no aggregates; load or load_rmq opens it");
  const std::string values = text_in(file, aggregated_section);
  const auto value = format_named(values);
  if (!values.empty() && (!value || value->type == key_type::bytes))
    file.refuse(aggregated_section, "it names no type of numbers");
  loaded_aggregate made{build_empty(path, where, on, all), nullptr, text_in(file, note_section)};
  aggregate_options parts;
  file.begin_names(aggregate_names);
  keep_options(file, parts);
  std::optional<column> none;
  if (value) none = column(*value, nullptr, 0);
  made.held = build_aggregate(on, *made.over, none, parts);
  file.begin_names("");
  fill(*made.over, on, file);
  index_keeper::describe(*made.held, all.entries);
  file.give_to(*made.held);
  file.begin_names(aggregate_names);
  index_keeper::keep(*made.held, on, file);
  file.begin_names("");
  if (options.verify) file.verify_rest();
  index_keeper::measure(*made.held);
  return made;
}

}  // namespace

void save(const context& on, const aggregate& of, const std::string& path,
          std::string_view note) try {
  disk_sink to(path);
  write_aggregate(on, of, note, to);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::byte> to_bytes(const context& on, const aggregate& of, std::string_view note) try {
  memory_sink to(index_keeper::index_of(of).info().resident_bytes + of.info().resident_bytes +
                 note.size() + 8192);
  write_aggregate(on, of, note, to);
  return to.take();
} catch (...) {
  rethrow_as_error();
}

loaded_aggregate load_aggregate(backend where, const context& on, const std::string& path,
                                const load_options& options) try {
  return read_aggregate(where, on, path, std::make_shared<private_pages>(path), options);
} catch (...) {
  rethrow_as_error();
}

loaded_aggregate aggregate_from_bytes(backend where, const context& on,
                                      std::span<const std::byte> bytes,
                                      const load_options& options) try {
  return read_aggregate(where, on, "bytes", std::make_shared<private_pages>(bytes), options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
