// SPDX-License-Identifier: Apache-2.0
#include "raydex/arrow.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

// Backend whose memory a context has: cuda and optix have the same.
backend backend_of(const context& on) {
  return on.memory.space() == memory_space::host ? backend::cpu : backend::cuda;
}

// Bytes of a cell of fixed_size_binary; nothing of other types.
std::optional<std::uint64_t> binary_width(std::string_view format) {
  if (!format.starts_with("w:")) return {};
  std::uint64_t width = 0;
  const char* const end = format.data() + format.size();
  const auto read = std::from_chars(format.data() + 2, end, width);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return width;
}

// What cells of a type are kept as; nothing where they are no keys.
std::optional<key_format> format_of_cells(std::string_view format) {
  if (format == "I") return key_format(key_type::uint32);
  if (format == "L") return key_format(key_type::uint64);
  if (format == "f") return key_format(key_type::float32);
  if (format == "g") return key_format(key_type::float64);
  if (format == "i" || format == "tdD" || format == "tts" || format == "ttm")
    return key_format(key_type::int32);
  const bool is_time = format == "tdm" || format == "ttu" || format == "ttn" ||
                       format.starts_with("tD") || format.starts_with("ts");
  if (format == "l" || is_time) return key_format(key_type::int64);
  const auto width = binary_width(format);
  if (width && 1 <= *width && *width <= 8)
    return key_format::bytes(static_cast<std::uint8_t>(*width));
  return {};
}

// What to do with columns of a type that is no key.
std::string_view advice_for(std::string_view format) {
  if (format.starts_with("+s")) return "is a struct; give its columns";
  if (format.starts_with("+")) return "is nested; no order of its cells is known";
  if (format == "n") return "has no cells";
  if (format == "b" || format == "c" || format == "s") return "is no key; cast it to int32";
  if (format == "C" || format == "S") return "is no key; cast it to uint32";
  if (format == "e") return "is no key; cast it to float";
  if (format == "vu" || format == "vz") return "is of views; cast it to large_utf8 or large_binary";
  if (binary_width(format)) return "is no key; cast it to binary";
  if (format == "u" || format == "U" || format == "z" || format == "Z")
    return "is of strings of any length, which are keys of joins alone: key_part_of";
  return "is no key; keys are int32, uint32, int64, uint64, float, double, dates, times, "
         "timestamps, durations and up to 8 bytes";
}

std::string_view format_of_strings(const ArrowSchema& schema) {
  const std::string_view format(schema.format);
  return format == "u" || format == "U" || format == "z" || format == "Z" ? format : "";
}

// Refuses arrays that are released, or that are not laid out as their type is.
void check_arrow(const ArrowArray& array, const ArrowSchema& schema, std::int64_t buffers) {
  const auto refuse = [&](const char* why) {
    throw invalid_argument(
        fmt::format("array: it is of Arrow's type '{}' and {}; it is damaged", schema.format, why));
  };
  constexpr std::int64_t most = std::int64_t{1} << 56;  // so that offsets in bytes are numbers
  if (array.length < 0 || array.length > most || array.offset < 0 || array.offset > most)
    refuse("has a length or an offset that is none");
  if (array.n_buffers < buffers || array.buffers == nullptr) refuse("has too few buffers");
  if (array.length != 0 && array.buffers[1] == nullptr) refuse("has no cells");
}

void check_released(const ArrowArray& array, const ArrowSchema& schema) {
  if (schema.release == nullptr || schema.format == nullptr)
    throw invalid_argument("schema: it was released");
  if (array.release == nullptr) throw invalid_argument("array: it was released");
  if (schema.dictionary != nullptr)
    throw invalid_argument("array: it is dictionary-encoded; cast it to the type of its values");
}

validity_bitmap validity_of(const ArrowArray& array) {
  if (array.null_count == 0) return {};
  return {static_cast<const std::uint8_t*>(array.buffers[0]),
          static_cast<std::uint64_t>(array.offset)};
}

// The cells from the first one on, where there are some.
const void* first_cell(const ArrowArray& array, std::uint64_t width) {
  if (array.length == 0) return nullptr;
  return static_cast<const std::byte*>(array.buffers[1]) +
         static_cast<std::uint64_t>(array.offset) * width;
}

// Refuses memory that a context's backend does not read, and lets its stream wait for the event.
void prepare_device_array(const context& on, const ArrowDeviceArray& array) {
  const auto type = array.device_type;
  const backend where = backend_of(on);
  if (where == backend::cpu) {
    if (type != ARROW_DEVICE_CPU && type != ARROW_DEVICE_CUDA_HOST) {
      throw invalid_argument(fmt::format(
          "array: it is on a device of Arrow's type {}, and the context has host memory", type));
    }
    if (array.sync_event != nullptr) {
      throw invalid_argument(
          "array: it has an event, which the cpu backend has no stream to wait for it; wait first");
    }
    return;
  }
  if (type != ARROW_DEVICE_CUDA && type != ARROW_DEVICE_CUDA_MANAGED &&
      type != ARROW_DEVICE_CUDA_HOST) {
    throw invalid_argument(
        fmt::format("array: it is on a device of Arrow's type {}, and the context has memory of a "
                    "CUDA device",
                    type));
  }
  check_available(where);
  const event_table& events = *find_backend(where)->events;
  if (const int current = events.device();
      type == ARROW_DEVICE_CUDA && array.device_id != current) {
    throw invalid_argument(
        fmt::format("array: it is on CUDA device {}, and the current one is {}; make that current "
                    "that it is on",
                    array.device_id, current));
  }
  if (array.sync_event != nullptr) events.wait(on.stream, array.sync_event);
}

// What an array holds that was made here.
struct exported_rows {
  std::shared_ptr<const void> owner;
  std::shared_ptr<void> event;
  const void* buffers[2];
};

void release_rows(ArrowArray* array) {
  delete static_cast<exported_rows*>(array->private_data);
  array->private_data = nullptr;
  array->release = nullptr;
}
void release_schema(ArrowSchema* schema) {
  schema->release = nullptr;
}

}  // namespace

column column_of(const ArrowArray& array, const ArrowSchema& schema) try {
  check_released(array, schema);
  const std::optional<key_format> format = format_of_cells(schema.format);
  if (!format) {
    throw invalid_argument(
        fmt::format("array: Arrow's type '{}' {}", schema.format, advice_for(schema.format)));
  }
  check_arrow(array, schema, 2);
  return {*format, first_cell(array, format->width), static_cast<std::uint64_t>(array.length),
          validity_of(array)};
} catch (...) {
  rethrow_as_error();
}

key_part key_part_of(const ArrowArray& array, const ArrowSchema& schema) try {
  check_released(array, schema);
  const std::string_view strings = format_of_strings(schema);
  if (strings.empty()) return column_of(array, schema);
  check_arrow(array, schema, 3);
  const bool wide = strings == "U" || strings == "Z";
  return string_column{.bytes = static_cast<const char*>(array.buffers[2]),
                       .offsets = first_cell(array, wide ? 8 : 4),
                       .wide_offsets = wide,
                       .size = static_cast<std::uint64_t>(array.length),
                       .validity = validity_of(array)};
} catch (...) {
  rethrow_as_error();
}

column column_of(const context& on, const ArrowDeviceArray& array, const ArrowSchema& schema) try {
  const column made = column_of(array.array, schema);
  prepare_device_array(on, array);
  return made;
} catch (...) {
  rethrow_as_error();
}

key_part key_part_of(const context& on, const ArrowDeviceArray& array,
                     const ArrowSchema& schema) try {
  const key_part made = key_part_of(array.array, schema);
  prepare_device_array(on, array);
  return made;
} catch (...) {
  rethrow_as_error();
}

void to_arrow(const context& on, const row_id_span& rows, std::shared_ptr<const void> owner,
              ArrowDeviceArray& array, ArrowSchema& schema) try {
  const backend where = backend_of(on);
  check_available(where);
  check_array("rows", rows.data, rows.size, row_id_bytes(rows.type));
  auto kept = std::make_unique<exported_rows>(
      exported_rows{std::move(owner), nullptr, {nullptr, rows.data}});
  const event_table* const events = find_backend(where)->events;
  if (events != nullptr) kept->event = events->record(on.stream);
  array = {};
  array.device_id = events != nullptr ? events->device() : -1;
  array.device_type = events != nullptr ? ARROW_DEVICE_CUDA : ARROW_DEVICE_CPU;
  array.sync_event = kept->event.get();
  array.array.length = static_cast<std::int64_t>(rows.size);
  array.array.n_buffers = 2;
  array.array.buffers = kept->buffers;
  array.array.release = release_rows;
  array.array.private_data = kept.release();
  schema = {};
  schema.format = rows.type == row_id_type::uint32 ? "I" : "L";
  schema.name = "";
  schema.release = release_schema;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
