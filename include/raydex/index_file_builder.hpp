// SPDX-License-Identifier: Apache-2.0
/// @file
/// Index files of columns that are larger than memory: an external sort, on the CPU. The file is
/// one that `load` maps, so that an index over it needs no more memory than its lookups touch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// How an index file is built.
struct index_file_options {
  /// The most bytes that are allocated at any time, `least_memory` or more. What the system caches
  /// of files is not among them.
  std::uint64_t memory = std::uint64_t{1} << 30;
  /// The folder where sorted runs are spilled; empty: that of the file. The spilled file has no
  /// name there, so that nothing is left of it when the process ends, however it does.
  std::string spill = {};

  /// The smallest legal `memory`. It serves some 5 million rows; twice the memory serves four times
  /// as many.
  static constexpr std::uint64_t least_memory = std::uint64_t{1} << 20;
};

/// Builds the file of a `sorted_array` from chunks of a column, with the bytes that `save` would
/// write of the index that `build` makes of the whole column.
///
/// Chunks are gathered in memory; each time that it is full, they are sorted on all cores and
/// spilled. At last what was spilled is merged into the file in one pass. If all entries fit the
/// memory, nothing is spilled.
///
/// *Cost* of n entries: a radix sort. If they do not fit the memory, n entries are written to the
/// folder for spilling and read from there, once each: a key and 4 bytes, or 8 with `uint64` row
/// ids. *Memory*: see `index_file_options`; half of it holds entries, so that a run has
/// `memory / 24` keys of 64 bits. *Threads*: one at a time. *Errors*: a wrong argument
/// leaves the builder as it was; after any other error all calls are refused.
class RAYDEX_EXPORT index_file_builder {
 public:
  /// Begins a file without rows.
  ///
  /// @param on host memory, which has to exist as long as the builder does
  /// @param path the file, as of `save`: it is written whole or not at all, by `finish`
  /// @param key the format of all chunks
  /// @param options how
  ///
  /// *Errors*: `invalid_argument` for too little memory, and for a path or a folder that cannot be
  /// written.
  index_file_builder(const context& on, std::string path, key_format key,
                     index_file_options options = {});
  /// Forgets what was appended, if it was not finished.
  ~index_file_builder();
  index_file_builder(const index_file_builder&) = delete;
  index_file_builder& operator=(const index_file_builder&) = delete;

  /// Appends a chunk of any size, which is copied. Rows are numbered on from chunk to chunk,
  /// missing cells are counted, and not kept.
  ///
  /// @param keys the chunk, in host memory
  /// @param row_ids explicit row ids, as of `build`: for all chunks or none, and of one type
  ///
  /// *Errors*: `invalid_argument` for a chunk of another format, illegal row ids, and more rows
  /// than the memory serves, with how much does; `error` if the disk is full or fails, with the
  /// folder.
  void append(const column& keys, const std::optional<column>& row_ids = std::nullopt);

  /// Writes the file; nothing may be called after it but the destructor. Of more rows than 32 bits
  /// number, as `build` does, row ids have 64 bits.
  ///
  /// @param note bytes that `load` returns with the index
  ///
  /// *Errors*: as of `save`.
  void finish(std::string_view note = {});

  /// Bytes that were spilled so far.
  std::uint64_t spilled_bytes() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace raydex
