// SPDX-License-Identifier: Apache-2.0
/// @file
/// Indexes over keys, aggregates over them, structures for range minima, and build sides of as-of
/// joins, in files. A file has the memory of an index as it is, so that one in host memory is
/// opened by mapping the file: nothing is sorted, and processes share what they read of it. `rx`,
/// `cgrx` and indexes of 64-bit row ids have their sorted entries in it, and what finds them is
/// built when the file is loaded. The same file is loaded on `cpu` and `cuda`, with equal answers.
///
/// A file has a header of 64 bytes, the arrays of the index, each aligned to 256 bytes, and a
/// directory that says what they are; numbers are little-endian. Header, directory and each array
/// have a checksum (XXH64). What may change from version to version is in docs/compatibility.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/aggregate.hpp"
#include "raydex/capability.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

/// Writes an index to a file, whole or not at all: to a file of another name beside it, which is
/// flushed to the disk and takes its place; a file that was there stays until then, and stays as it
/// was if the call fails, unless that fails last of all, where the folder is flushed. The new one
/// may be read and written by whom the process's umask allows.
///
/// @param on the stream of the copies, and scratch of a `cgrx` whose entries lie in rows or nodes
/// @param of the index; no edit of it may run at the same time, queries and other saves may
/// @param path the file; a link that leads to one is followed
/// @param note bytes that `load` returns with the index
///
/// Cost: a read of the index's memory and a write of the file, which the disk decides; of another
/// backend a copy to the host, 16 MB at a time. Synchronises. *Errors*: `unsupported` for an `rx`
/// with `primitives=rows`, which keeps no keys; `invalid_argument` for a path that cannot be
/// written; `error` for a disk that is full or fails.
RAYDEX_EXPORT void save(const context& on, const index& of, const std::string& path,
                        std::string_view note = {});

/// The bytes that such a file would have.
RAYDEX_EXPORT std::vector<std::byte> to_bytes(const context& on, const index& of,
                                              std::string_view note = {});

/// How a file is loaded.
struct load_options {
  /// Whether arrays are verified before they are used: by their checksums, and by a look at
  /// entries, from which all but sorted arrays are built again. So no file, be it damaged or made
  /// by somebody to do harm, has an index read or write beyond its memory. A read of the file, and
  /// a build, which sorts entries of hash tables alone. Without it an index in host memory is
  /// opened in a millisecond, whatever its size; header, directory and note are verified in any
  /// case; take it for files of your own that are whole.
  bool verify = true;
};

/// An index from a file, and what was saved with it.
struct loaded_index {
  std::unique_ptr<index> held;  ///< the index
  std::string note;             ///< the note
};

/// Loads an index from a file.
///
/// @param where the backend; structures of rays go from `cpu` to `optix` and back, others from
///        `cpu` to `cuda`
/// @param on as for `build`
/// @param path the file
/// @param options how
///
/// On `cpu` the index maps the file, as long as it lives, but for what is built again: the file may
/// be replaced or removed in that time (`save` replaces it), but must not be changed in place.
/// Edits copy the pages that they change, or what they make anew. The bytes that `info` names are
/// those of the file's pages, too, whether they are in memory or not. On a GPU arrays are copied.
/// Nodes of trees are made anew for fast memory of another size.
///
/// *Errors*: `invalid_argument`, which names the part, for files that are none, of another version
/// or byte order, cut off or changed; else as `build`.
RAYDEX_EXPORT loaded_index load(backend where, const context& on, const std::string& path,
                                const load_options& options = {});

/// The same from bytes, which are copied.
RAYDEX_EXPORT loaded_index from_bytes(backend where, const context& on,
                                      std::span<const std::byte> bytes,
                                      const load_options& options = {});

/// Writes a structure for minima or maxima to a file as `save` does an index: the array, and what
/// is beside it, of `rmq_lca`, `rmq_rx` and `top=rays` the array alone. Values that have changed
/// must have been taken in by `refresh`.
RAYDEX_EXPORT void save(const context& on, const rmq& of, const std::string& path,
                        std::string_view note = {});

/// The bytes that such a file would have.
RAYDEX_EXPORT std::vector<std::byte> to_bytes(const context& on, const rmq& of,
                                              std::string_view note = {});

/// A structure for minima from a file, and what was saved with it.
struct loaded_rmq {
  std::unique_ptr<rmq> held;  ///< the structure, of the class that built it
  std::string note;           ///< the note
};

/// Loads a structure for minima or maxima, over an array of its own: on `cpu` that of the file,
/// which it maps as long as it lives; on a GPU a copy. The bytes that `info` names are those beside
/// it.
///
/// @param where the backend: `cpu` or `cuda`; of structures of rays `cpu` or `optix`
/// @param on as for `build_rmq`
/// @param path the file
/// @param options how. With `verify` a read of the file, and the structure is built again. Without,
///        `rmq_cover`, `rmq_hierarchy` with `top=scan` and `rmq_scan` on `cpu` are opened in a
///        millisecond; others, and those of more than 2^32 - 2^23 values, are built again.
///
/// *Errors*: as `load` and `build_rmq`; each refuses the files of the other.
RAYDEX_EXPORT loaded_rmq load_rmq(backend where, const context& on, const std::string& path,
                                  const load_options& options = {});

/// The same from bytes, which are copied.
RAYDEX_EXPORT loaded_rmq rmq_from_bytes(backend where, const context& on,
                                        std::span<const std::byte> bytes,
                                        const load_options& options = {});

/// Writes an aggregate and its index to one file, as `save` does an index. No edit of the index may
/// run at the same time. *Errors*: as `save` of an index; `invalid_argument` if the index was
/// edited since the aggregate was built.
RAYDEX_EXPORT void save(const context& on, const aggregate& of, const std::string& path,
                        std::string_view note = {});

/// The bytes that such a file would have.
RAYDEX_EXPORT std::vector<std::byte> to_bytes(const context& on, const aggregate& of,
                                              std::string_view note = {});

/// An aggregate from a file, the index that it is over, and what was saved with them.
struct loaded_aggregate {
  std::unique_ptr<index> over;      ///< the index, which outlives the aggregate
  std::unique_ptr<aggregate> held;  ///< the aggregate
  std::string note;                 ///< the note
};

/// Loads an aggregate and its index from a file, on `cpu` by mapping it.
///
/// @param where the backend, as for `load`
/// @param on as for `build_aggregate`
/// @param path the file
/// @param options how. With `verify` a read of the file, the build of the index that `load` says,
///        and those of the structures for minima; sums are taken as they are, since any number is
///        one. Without, both are open in a millisecond if `load` opens the index so, unless there
///        are more than 2^32 - 2^23 entries.
///
/// *Errors*: as `load` and `build_aggregate`; each refuses the files of the others.
RAYDEX_EXPORT loaded_aggregate load_aggregate(backend where, const context& on,
                                              const std::string& path,
                                              const load_options& options = {});

/// The same from bytes, which are copied.
RAYDEX_EXPORT loaded_aggregate aggregate_from_bytes(backend where, const context& on,
                                                    std::span<const std::byte> bytes,
                                                    const load_options& options = {});

/// Writes the build side of as-of joins to a file, as `save` does an index: its columns, with the
/// rows that were appended. No `append` may run at the same time. *Cost*: besides those of an index
/// a copy of one column after the other in the memory of `on`.
RAYDEX_EXPORT void save(const context& on, const asof_join& of, const std::string& path,
                        std::string_view note = {});

/// The bytes that such a file would have.
RAYDEX_EXPORT std::vector<std::byte> to_bytes(const context& on, const asof_join& of,
                                              std::string_view note = {});

/// The build side of as-of joins from a file, and what was saved with it.
struct loaded_asof_join {
  std::shared_ptr<const void> columns;  ///< what has the memory that it reads: it outlives it
  std::unique_ptr<asof_join> held;      ///< the build side
  std::string note;                     ///< the note
  key_format times;                     ///< of its times
  std::vector<std::optional<key_format>> key;  ///< of the columns of its key; nothing for strings
  std::uint64_t rows = 0;                      ///< how many it has, be they missing or not
};

/// Loads the build side of as-of joins from a file, over columns of its own: on `cpu` those of the
/// file, which it maps; on a GPU copies.
///
/// @param where the backend
/// @param on as for `build_asof_join`
/// @param path the file
/// @param options how. With `verify` a read of the file by its checksums, and a look at offsets of
///        strings. In any case it is built again, which is a pass over the columns if they are
///        walked along (see `asof_join`), else a sort.
///
/// *Errors*: as `load` and `build_asof_join`; each refuses the files of the others.
RAYDEX_EXPORT loaded_asof_join load_asof_join(backend where, const context& on,
                                              const std::string& path,
                                              const load_options& options = {});

/// The same from bytes, which are copied.
RAYDEX_EXPORT loaded_asof_join asof_join_from_bytes(backend where, const context& on,
                                                    std::span<const std::byte> bytes,
                                                    const load_options& options = {});

/// What a file says of what it holds.
struct index_file_info {
  std::uint32_t version = 0;      ///< of the format
  std::uint64_t bytes = 0;        ///< of the file
  std::string structure;          ///< its name
  std::string options;            ///< those in force, as `index_info` has them
  key_format key;                 ///< of its keys, or of the values of the array
  std::uint64_t row_id_bits = 0;  ///< 32 or 64; of minima 0
  std::uint64_t n = 0;            ///< rows of the column, or values
  std::uint64_t entries = 0;      ///< rows that are not missing, and what edits have added; n
  std::uint64_t max_row_id = 0;   ///< the largest row that it was given; 0
  std::string note;               ///< the note that was saved with it
  bool is_minima = false;         ///< whether that is a structure of `load_rmq`, not of `load`
  bool is_aggregate = false;      ///< whether `load_aggregate` opens it
  bool is_asof_join = false;      ///< whether `load_asof_join` opens it
};

/// Reads what a file says of what it holds, and loads nothing.
///
/// @param path the file
///
/// Cost: a read of header, directory and note, which are verified by their checksums; arrays are
/// not. *Errors*: as `load`.
RAYDEX_EXPORT index_file_info inspect(const std::string& path);

}  // namespace raydex
