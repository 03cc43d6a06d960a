// SPDX-License-Identifier: Apache-2.0
/// @file
/// Batches divided among shards: which index of several owns a key, and the way there and back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

/// The most shards that a batch is divided among.
inline constexpr std::uint64_t most_shards = 1024;

/// Writes the keys that divide a sample into `out.size + 1` parts of about equal numbers of rows,
/// ascending: the splitters of as many shards. Equal ones are legal, and what lies between them is
/// then empty.
///
/// @param where the backend
/// @param on scratch of the backend's memory, and a stream
/// @param sample keys; to take every 100th cell of a column, give it a `stride`. Missing cells do
///        not count; of none at all, any keys are written.
/// @param out of the sample's format; `bytes` cells lie next to each other
///
/// *Cost*: a sort of the sample. Synchronises. Throws `invalid_argument`, `unavailable`,
/// `out_of_memory`, `cuda_error`.
RAYDEX_EXPORT void choose_splitters(backend where, const context& on, const column& sample,
                                    const value_span& out);

/// How the answers of a probe's pieces are put together.
enum class piece_answer : std::uint8_t {
  replace,  ///< the answer of a point's piece is the point's; for points only
  sum,      ///< added to what is there
  minimum   ///< the smaller one of it and what is there; of row ids, `not_found` is the largest
};

/// Where the pieces of a batch are written, those of one shard next to each other, in the order of
/// the shards, and in the order of the probes in each.
struct piece_span {
  row_id_span sources;    ///< the number of the probe that each is of
  void* lower = nullptr;  ///< its point, or its lower end: a cell of the probes' format
  void* upper = nullptr;  ///< of ranges, the upper end
};

/// A batch divided among shards by splitters.
///
/// Shard s owns the keys k with `splitters[s - 1] <= k < splitters[s]`; equal keys have one owner.
/// A point goes to its owner, a range to each shard that may hold keys of it: a *piece* each.
/// Missing probes and empty ranges have none.
///
/// *Cost*: two passes over the probes; the second writes; for points of 4 bytes with
/// 32-bit numbers 16 bytes of traffic each. *Memory*: 8 bytes for each shard and each chunk of
/// probes. A chunk has 256 of them or more, so that there are 16384 chunks at most; of points on a
/// GPU it has 4096, and 16384 with 256 shards or more. *Streams, threads*: as for `index`.
class RAYDEX_EXPORT partition {
 public:
  partition(const partition&) = delete;
  partition& operator=(const partition&) = delete;
  virtual ~partition();

  /// How many pieces each shard has, with those that fill its last unit.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  /// How many pieces there are.
  std::uint64_t size() const noexcept { return size_; }

  /// Writes the pieces. `batch`: the probes that were divided, unchanged. `out.sources` has room
  /// for `size()` numbers, and so have its cells.
  void write(const context& on, const probes& batch, const piece_span& out) const;

  /// Puts the answers of pieces together. `sources`: as `write` wrote them. `answers`: one a piece,
  /// in their order; numbers. `out`: one number of their format a probe, which holds what a probe
  /// without pieces has: for `sum` 0, say; of points, answers of int32 may also become int64.
  /// Of ranges, pieces are taken in the order of their shards, so that sums of doubles are the same
  /// each time.
  void put_together(const context& on, const row_id_span& sources, const column& answers,
                    piece_answer how, const value_span& out) const;

 protected:
  /// For implementations: a batch of so many probes.
  partition(backend where, const probes& batch);

  /// Answers `write`; there are pieces.
  virtual void do_write(const context& on, const probes& batch, const piece_span& out) const = 0;
  /// Answers `put_together`; there are pieces.
  virtual void do_put_together(const context& on, const row_id_span& sources, const column& answers,
                               piece_answer how, const value_span& out) const = 0;

  std::vector<std::uint64_t> counts_;  ///< what `counts` returns
  std::uint64_t size_ = 0;             ///< their sum

 private:
  backend where_;
  key_format format_;
  bool is_points_;
  std::uint64_t probes_;
};

/// Divides a batch among shards.
///
/// @param where the backend
/// @param on memory and a stream, which must both outlive the result
/// @param batch points or ranges
/// @param splitters one less than there are shards, of the probes' format, ascending, none missing;
///        in memory of the backend; read by this call only
/// @param unit what the pieces of a shard are a multiple of: where there are not so many of a batch
///        of points, the last one is repeated. With 16 each shard's pieces begin at a multiple of
///        16 bytes, which NCCL sends 2.4 times as fast as others
///
/// Cost: see `partition`. Synchronises. Throws `invalid_argument`, `unavailable`, `out_of_memory`,
/// `cuda_error`.
RAYDEX_EXPORT std::unique_ptr<partition> divide(backend where, const context& on,
                                                const probes& batch, const column& splitters,
                                                std::uint64_t unit = 1);

}  // namespace raydex
