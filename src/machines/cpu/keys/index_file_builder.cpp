// SPDX-License-Identifier: Apache-2.0
#include "raydex/index_file_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "src/interface/checks.hpp"
#include "src/machines/cpu/keys/sorted_runs.hpp"

namespace raydex {

namespace {

// That of the file; throws if none can be written there.
std::string folder_of(const std::string& path) {
  return disk_sink(path).folder();
}

std::uint64_t checked_memory(std::uint64_t memory) {
  if (memory >= index_file_options::least_memory) return memory;
  throw invalid_argument(fmt::format("memory: {} bytes are too few; {} are the fewest", memory,
                                     index_file_options::least_memory));
}

}  // namespace

struct index_file_builder::state {
  context on;
  std::string path;
  key_format key;
  std::uint64_t memory;
  cpu::spill_file spill;
  std::unique_ptr<cpu::entry_sorter> sorter;         // made for the first chunk
  std::optional<key_format> row_ids = std::nullopt;  // explicit ones
  std::uint64_t n = 0;
  std::uint64_t max_row_id = 0;
  bool is_open = true;

  state(const context& context_of, std::string file, key_format format, std::uint64_t bytes,
        const std::string& folder)
      : on(context_of), path(std::move(file)), key(format), memory(bytes), spill(folder) {}

  void check_open() const {
    if (is_open) return;
    throw invalid_argument("index_file_builder: it is finished, or a call failed; begin another");
  }

  // Refuses chunks that differ in whether they have row ids, or in their type.
  void check(const column& keys, const std::optional<column>& rows) const {
    check_column("keys", keys);
    check_same_format("keys", keys.format, key, "the chunks of this file");
    if (rows) check_explicit_rows("row ids", *rows, keys.size);
    const std::optional<key_format> own = rows ? std::optional(rows->format) : std::nullopt;
    if (sorter != nullptr && own != row_ids) {
      const auto text = [](const auto& of) { return of ? to_string(*of) : "none"; };
      throw invalid_argument(fmt::format("row ids: they are {}, and those of earlier chunks {}",
                                         text(own), text(row_ids)));
    }
    if (own && own->type == key_type::uint32 && keys.size >= not_found<std::uint32_t> - n) {
      throw invalid_argument(fmt::format(
          "row ids: {} rows are too many for uint32, which serves up to {}; give uint64 ones",
          n + keys.size, not_found<std::uint32_t> - 1));
    }
  }

  void make_sorter(const std::optional<column>& rows) {
    if (rows) row_ids = rows->format;
    const bool wide = rows && rows->format.type == key_type::uint64;
    sorter = dispatch(key, wide ? row_id_type::uint64 : row_id_type::uint32,
                      [&]<class Key, class Row>() -> std::unique_ptr<cpu::entry_sorter> {
                        return std::make_unique<cpu::sorted_runs<Key, Row>>(on, memory, spill);
                      });
  }

  void forget_sorter() {
    sorter.reset();
    row_ids.reset();
  }

  index_info info() const {
    const bool wide = row_ids ? row_ids->type == key_type::uint64 : n >= not_found<std::uint32_t>;
    std::optional<column> none;
    if (wide) none = column(key_format(key_type::uint64), nullptr, 0);
    index_info all = build("sorted_array", backend::cpu, on, column(key, nullptr, 0), none)->info();
    all.n = n;
    all.entries = sorter->entries();
    all.max_row_id = row_ids || n == 0 ? max_row_id : n - 1;
    return all;
  }
};

index_file_builder::index_file_builder(const context& on, std::string path, key_format key,
                                       index_file_options options) try {
  check_space(on, backend::cpu);
  check_format("key", key);
  const std::uint64_t memory = checked_memory(options.memory);
  const std::string folder = folder_of(path);
  state_ = std::make_unique<state>(on, std::move(path), key, memory,
                                   options.spill.empty() ? folder : options.spill);
} catch (...) {
  rethrow_as_error();
}

index_file_builder::~index_file_builder() = default;

void index_file_builder::append(const column& keys, const std::optional<column>& row_ids) try {
  state_->check_open();
  state_->check(keys, row_ids);
  const bool is_first = state_->sorter == nullptr;
  if (is_first) state_->make_sorter(row_ids);
  row_id_facts facts;
  try {
    if (row_ids) facts = state_->sorter->inspect(*row_ids);
  } catch (...) {
    if (is_first) state_->forget_sorter();
    throw;
  }
  state_->is_open = false;
  state_->sorter->append(keys, row_ids, facts);
  state_->n += keys.size;
  state_->max_row_id = std::max(state_->max_row_id, facts.max);
  state_->is_open = true;
} catch (...) {
  rethrow_as_error();
}

void index_file_builder::finish(std::string_view note) try {
  state_->check_open();
  state_->is_open = false;
  if (state_->sorter == nullptr) state_->make_sorter(std::nullopt);
  state_->sorter->write(state_->path, state_->info(), note);
  state_->sorter.reset();
} catch (...) {
  rethrow_as_error();
}

std::uint64_t index_file_builder::spilled_bytes() const noexcept {
  return state_->spill.size();
}

}  // namespace raydex
