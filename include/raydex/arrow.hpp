// SPDX-License-Identifier: Apache-2.0
/// @file
/// Columns of Arrow's C data interface and its C device data interface, used where they lie, and
/// row ids as arrays of it. The structures of Arrow are declared here as its specification says, so
/// that any other header that declares them may come before this one or after it.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include "raydex/column.hpp"
#include "raydex/error.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"

/// @cond
// NOLINTBEGIN
extern "C" {
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

typedef int32_t ArrowDeviceType;

#define ARROW_DEVICE_CPU 1
#define ARROW_DEVICE_CUDA 2
#define ARROW_DEVICE_CUDA_HOST 3
#define ARROW_DEVICE_OPENCL 4
#define ARROW_DEVICE_VULKAN 7
#define ARROW_DEVICE_METAL 8
#define ARROW_DEVICE_VPI 9
#define ARROW_DEVICE_ROCM 10
#define ARROW_DEVICE_ROCM_HOST 11
#define ARROW_DEVICE_EXT_DEV 12
#define ARROW_DEVICE_CUDA_MANAGED 13
#define ARROW_DEVICE_ONEAPI 14
#define ARROW_DEVICE_WEBGPU 15
#define ARROW_DEVICE_HEXAGON 16

struct ArrowDeviceArray {
  struct ArrowArray array;
  int64_t device_id;
  ArrowDeviceType device_type;
  void* sync_event;
  int64_t reserved[3];
};

#endif
}
// NOLINTEND
/// @endcond

namespace raydex {

/// @name Arrow's arrays as columns
/// The cells stay where they are, and so does the bitmap of those that are missing, at whichever
/// bit it begins: `offset` of a slice takes no copy. The array is not released, and must outlive
/// the column. Throws `invalid_argument` for a released or damaged array, and for types that are no
/// keys: keys are (u)int32, (u)int64, float, double, dates, times, timestamps and durations (the
/// integers that they are kept as), and `w:1` to `w:8`. Nested types, dictionaries, views,
/// booleans, decimals and narrower numbers are to be cast first.
/// @{

/// An array in host memory, as a column for `cpu`.
RAYDEX_EXPORT column column_of(const ArrowArray& array, const ArrowSchema& schema);

/// An array on any device, as a column for a call with `on`. Work on its stream waits for the
/// array's event, if there is one; nothing synchronises. Also throws `invalid_argument` where the
/// cells are not in memory that the context's backend reads: that of the host for `cpu`, and for
/// others that of the current device, managed, or pinned by CUDA; `cuda_error`.
RAYDEX_EXPORT column column_of(const context& on, const ArrowDeviceArray& array,
                               const ArrowSchema& schema);

/// The same as a column of a key of joins, which may be of strings, too (`u`, `U`, `z`, `Z`).
RAYDEX_EXPORT key_part key_part_of(const ArrowArray& array, const ArrowSchema& schema);
/// Likewise on any device.
RAYDEX_EXPORT key_part key_part_of(const context& on, const ArrowDeviceArray& array,
                                   const ArrowSchema& schema);
/// @}

/// Makes row ids, or other numbers of their types, an array of Arrow, uint32 or uint64 without
/// missing cells: `not_found` stays the largest number. They are not copied; `owner` is what keeps
/// them, and goes when Arrow releases the array. What is queued on the stream of `on` so far is
/// what writes them: the array's event follows it, and is null on `cpu`.
///
/// What `array` and `schema` held is not released. Throws `out_of_memory` and `cuda_error`, and
/// leaves both as they were then.
RAYDEX_EXPORT void to_arrow(const context& on, const row_id_span& rows,
                            std::shared_ptr<const void> owner, ArrowDeviceArray& array,
                            ArrowSchema& schema);

/// The same of a buffer, which Arrow has from then on. It is freed on its stream when the array is
/// released, so whoever reads it there must be done by then.
template <class T>
requires(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>) void to_arrow(
    const context& on, buffer<T>&& rows, ArrowDeviceArray& array, ArrowSchema& schema) {
  std::shared_ptr<buffer<T>> kept;
  try {
    kept = std::make_shared<buffer<T>>(std::move(rows));
    to_arrow(on, *kept, kept, array, schema);
  } catch (...) {
    if (kept) kept->swap(rows);
    rethrow_as_error();
  }
}

}  // namespace raydex
