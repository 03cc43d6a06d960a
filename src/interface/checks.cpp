// SPDX-License-Identifier: Apache-2.0
#include "src/interface/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/structure_entry.hpp"

namespace raydex {

namespace {

// Bytes from the first cell of a column to the last one.
constexpr std::uint64_t largest_extent = std::numeric_limits<std::int64_t>::max() - 8;

void check_arguments(const structure_facts& facts, backend where, const context& on,
                     const char* argument, const column& cells) {
  check_offered(facts, where);
  check_available(where);
  check_space(on, where);
  check_column(argument, cells);
}

}  // namespace

void check_offered(const structure_facts& facts, backend where) {
  if (std::ranges::find(facts.backends, where) == facts.backends.end()) {
    std::vector<std::string_view> offered;
    for (const backend each : facts.backends)
      offered.push_back(to_string(each));
    throw unsupported(fmt::format("{} is not offered on backend {}; it is on {}", facts.name,
                                  to_string(where), fmt::join(offered, ", ")));
  }
}

void check_taken(const structure_facts& facts, key_format keys) {
  check_format("keys", keys);
  if (std::ranges::find(facts.keys, keys.type) != facts.keys.end()) return;
  throw unsupported(fmt::format("keys: they are {}; {} takes integers, pivot_tree any keys",
                                to_string(keys), facts.name));
}

std::string why_unavailable(backend where) try {
  to_string(where);  // refuses what is no backend
  const backend_table* const table = find_backend(where);
  if (table != nullptr) return table->why_unavailable();
  return "this raydex was built without CUDA; put nvcc 12.4 or later on the PATH and build it "
         "again";
} catch (...) {
  rethrow_as_error();
}

backend parse_backend(std::string_view name) try {
  if (name == "auto") return why_unavailable(backend::cuda).empty() ? backend::cuda : backend::cpu;
  std::vector<std::string_view> names{"auto"};
  for (const backend where : all_backends) {
    if (to_string(where) == name) return where;
    names.push_back(to_string(where));
  }
  throw invalid_argument(
      fmt::format("backend: '{}' is not one of {}", name, fmt::join(names, ", ")));
} catch (...) {
  rethrow_as_error();
}

std::string name(row_id_type type) {
  if (type == row_id_type::uint32) return "uint32";
  return type == row_id_type::uint64 ? "uint64" : fmt::format("type {}", static_cast<int>(type));
}

std::size_t row_id_bytes(row_id_type type) {
  return type == row_id_type::uint32 ? 4 : 8;
}

void check_row_ids(const row_id_span& out, row_id_type own, const char* owner) {
  if (out.type != own && out.type != row_id_type::uint64) {
    throw invalid_argument(fmt::format("out: its row ids are {}, but those of {} are {}",
                                       name(out.type), owner, name(own)));
  }
  check_array("out", out.data, out.size, row_id_bytes(out.type));
}

void widen_row_ids(const context& on, backend where, const buffer<std::uint32_t>& narrow,
                   const std::uint64_t* count, const row_id_span& out) {
  operation_on(where, &operation_table::widen_row_ids)(on, narrow.data(), narrow.size(), count,
                                                       static_cast<std::uint64_t*>(out.data));
}

void check_space(const context& on, backend needed) {
  const memory_space space = needed == backend::cpu ? memory_space::host : memory_space::device;
  if (on.memory.space() != space) {
    throw invalid_argument(fmt::format("context: backend {} needs a memory resource of {} memory",
                                       to_string(needed),
                                       space == memory_space::host ? "host" : "device"));
  }
}

void check_format(const char* argument, key_format format) {
  if (format.is_legal()) return;
  throw invalid_argument(
      fmt::format("{}: {} of {} bytes is no format; uint32, int32 and float have 4 bytes, uint64, "
                  "int64 and double 8, byte strings 1 to 8",
                  argument, to_string(format), format.width));
}

void check_available(backend where) {
  const std::string reason = why_unavailable(where);
  if (reason.empty()) return;
  throw unavailable(fmt::format("backend {} is not available: {}", to_string(where), reason));
}

void check_validity(const char* argument, const validity_bitmap& validity) {
  if (validity != nullptr && validity.offset > largest_extent) {
    throw invalid_argument(fmt::format("{}: its validity begins at bit {}; it must lie within 2^63",
                                       argument, validity.offset));
  }
}

void check_column(const char* argument, const column& cells) {
  const key_format format = cells.format;
  check_format(argument, format);
  if (cells.data == nullptr && cells.size != 0) {
    throw invalid_argument(fmt::format("{}: {} cells at a null pointer", argument, cells.size));
  }
  if (cells.size > 1 && saturated_product(cells.size - 1, cells.step()) > largest_extent) {
    throw invalid_argument(fmt::format("{}: {} cells {} bytes apart; they must lie within 2^63",
                                       argument, cells.size, cells.step()));
  }
  check_validity(argument, cells.validity);
  const auto address = reinterpret_cast<std::uintptr_t>(cells.data);
  if (cells.size != 0 && format.type != key_type::bytes &&
      (address % format.width != 0 || cells.step() % format.width != 0)) {
    throw invalid_argument(fmt::format("{}: cells of {} must be aligned to {} bytes", argument,
                                       to_string(format), format.width));
  }
}

void check_array(const char* argument, const void* data, std::uint64_t size, std::size_t width) {
  if (data == nullptr && size != 0) {
    throw invalid_argument(fmt::format("{}: {} elements at a null pointer", argument, size));
  }
  if (size != 0 && reinterpret_cast<std::uintptr_t>(data) % width != 0) {
    throw invalid_argument(
        fmt::format("{}: its elements must be aligned to {} bytes", argument, width));
  }
}

void check_explicit_rows(const char* argument, const column& row_ids, std::uint64_t keys) {
  check_column(argument, row_ids);
  const key_type type = row_ids.format.type;
  const bool missing = row_ids.validity != nullptr;
  if ((type != key_type::uint32 && type != key_type::uint64) || missing) {
    throw invalid_argument(
        fmt::format("{}: they are {}{}; they must be uint32 or uint64, none missing", argument,
                    to_string(row_ids.format), missing ? " with missing ones" : ""));
  }
  if (row_ids.size != keys) {
    throw invalid_argument(
        fmt::format("{}: there are {}, but {} keys", argument, row_ids.size, keys));
  }
}

void check_sizes(const char* items, const probes& batch, std::uint64_t out_size) {
  if (!batch.is_points &&
      (batch.upper.format != batch.lower.format || batch.upper.size != batch.lower.size)) {
    throw invalid_argument(
        fmt::format("{}: {} lower ends of {}, but {} upper ends of {}; they must agree", items,
                    batch.lower.size, to_string(batch.lower.format), batch.upper.size,
                    to_string(batch.upper.format)));
  }
  if (out_size != batch.size()) {
    throw invalid_argument(
        fmt::format("out: room for {} {}, but there are {}", out_size, items, batch.size()));
  }
}

void check_entries(const index& own, std::size_t key_bits, row_id_type row_ids, layout entries,
                   layout own_entries) {
  const auto own_bits = static_cast<std::size_t>(own.info().key.encoded_bits());
  if (key_bits != own_bits || row_ids != own.info().row_ids || entries != own_entries) {
    throw invalid_argument(
        fmt::format("view: this index has {}-bit codes, {} row ids and layout={}", own_bits,
                    name(own.info().row_ids),
                    own_entries == layout::row      ? "row"
                    : own_entries == layout::column ? "column"
                                                    : "keys"));
  }
}

void check_build(const structure_facts& facts, backend where, const context& on, const column& keys,
                 const std::optional<column>& row_ids) {
  check_arguments(facts, where, on, "keys", keys);
  check_taken(facts, keys.format);
  if (!row_ids) return;
  check_explicit_rows("row ids", *row_ids, keys.size);
  if (row_ids->format.type == key_type::uint32 && keys.size >= not_found<std::uint32_t>) {
    throw invalid_argument(fmt::format(
        "row ids: {} rows are too many for uint32, which serves up to {}; give uint64 ones",
        keys.size, not_found<std::uint32_t> - 1));
  }
}

void check_values_of_minima(key_format values) {
  check_format("values", values);
  if (values.type == key_type::bytes) {
    throw invalid_argument(
        fmt::format("values: they are {}; minima are of numbers", to_string(values)));
  }
}

void check_build(const structure_facts& facts, backend where, const context& on,
                 const column& values) {
  check_arguments(facts, where, on, "values", values);
  check_values_of_minima(values.format);
  if (values.step() != values.format.width) {
    throw invalid_argument(
        fmt::format("values: they are {} bytes apart; they must be adjacent", values.step()));
  }
  if (values.validity != nullptr) {
    throw invalid_argument("values: some are missing; minima are of arrays without missing ones");
  }
}

void check_narrow(const index_info& info) {
  if (info.row_ids != row_id_type::uint32) {
    throw unsupported(
        fmt::format("row ids: build_{0} makes those of 32 bits, for fewer than {1} rows; "
                    "build(\"{0}\", ...) takes any",
                    info.structure, not_found<std::uint32_t>));
  }
}

index_info info_of(const structure_facts& facts, backend where, const column& keys,
                   const std::optional<column>& row_ids) {
  const bool narrow = are_narrow(keys, row_ids);
  return {.structure = std::string(facts.name),
          .where = where,
          .key = keys.format,
          .row_ids = narrow ? row_id_type::uint32 : row_id_type::uint64,
          .n = keys.size,
          .entries = 0,
          .max_row_id = 0,
          .options = {},
          .resident_bytes = 0,
          .build_peak_bytes = 0};
}

rmq_info info_of(const structure_facts& facts, backend where, const column& values) {
  rmq_info info;
  info.structure = facts.name;
  info.where = where;
  info.value = values.format;
  info.n = values.size;
  info.array = values.data;
  return info;
}

std::uint64_t random_seed() {
  // A process draws once: to open the system's generator takes a tenth of a join of 100 rows.
  static std::atomic<std::uint64_t> next = [] {
    std::random_device draw;
    return std::uint64_t{draw()} << 32 | draw();
  }();
  constexpr std::uint64_t step = 0x9e37'79b9'7f4a'7c15;  // odd, so that all numbers come
  return core::hash_function<std::uint64_t>{}(next.fetch_add(step, std::memory_order_relaxed));
}

}  // namespace raydex
