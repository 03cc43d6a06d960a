// SPDX-License-Identifier: Apache-2.0
// Files of structures for minima.
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

void write_rmq(const context& on, const rmq& of, std::string_view note, file_sink& to) {
  check_space(on, of.info().where);
  memory_writer file(to);
  file.add_array(on, of);
  index_keeper::keep(const_cast<rmq&>(of), on, file);
  file.finish(of.info(), note);
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
  std::string note = text_in(file, note_section);
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
  return {std::move(made), std::move(note)};
}

}  // namespace

void save(const context& on, const rmq& of, const std::string& path, std::string_view note) try {
  disk_sink to(path);
  write_rmq(on, of, note, to);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::byte> to_bytes(const context& on, const rmq& of, std::string_view note) try {
  const rmq_info& info = of.info();
  memory_sink to(info.n * info.value.width + info.resident_bytes + note.size() + 4096);
  write_rmq(on, of, note, to);
  return to.take();
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
