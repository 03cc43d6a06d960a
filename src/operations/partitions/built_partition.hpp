// SPDX-License-Identifier: Apache-2.0
// What the backends' partitions have in common: all but the executor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "raydex/core/partitions/pieces.hpp"
#include "raydex/core/partitions/tiles.hpp"
#include "raydex/partition.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Probes that a warp takes, whole rows of them: enough that the numbers of a chunk are few beside
// them, and few enough that a GPU is full.
inline std::uint64_t probes_of_chunk(std::uint64_t probes, std::uint64_t shards) {
  constexpr std::uint64_t most_chunks = 16384;
  constexpr std::uint64_t row = 32;
  const std::uint64_t even = (probes + most_chunks - 1) / most_chunks;
  const std::uint64_t least = std::max<std::uint64_t>(row * shards, 256);
  return (std::max(even, least) + row - 1) / row * row;
}

template <class Key, executor Executor>
class built_partition final : public partition {
 public:
  built_partition(const context& on, backend where, const probes& batch, const column& splitters,
                  std::uint64_t unit)
      : partition(where, batch), unit_(unit), splitters_(on, splitters.size) {
    const std::uint64_t shards = splitters.size + 1;
    Executor::for_each(on, core::put_codes<Key>{{cells_of(splitters)}, splitters_.data()},
                       splitters.size);
    check_ascending(on);
    counts_.assign(shards, 0);
    const core::divided_probes<Key> divided = over(batch);
    const std::uint64_t chunks = divided.chunks;
    if (chunks == 0) return;
    chunk_ = divided.chunk;
    each_has_a_piece_ = batch.is_points && batch.lower.validity == nullptr;
    ends_ = {on, shards * chunks};
    count(on, batch, divided);
    Executor::inclusive_sum(on, ends_.data(), ends_.size());
    begins_ = {on, shards + 1};
    Executor::clear(on, begins_.data());
    Executor::for_each(on, core::count_places{places(chunks), unit_, begins_.data() + 1}, shards);
    Executor::inclusive_sum(on, begins_.data() + 1, shards);
    Executor::copy_out(on, counts_.data(), begins_.data() + 1, shards * sizeof(std::uint64_t));
    size_ = counts_.back();
    for (std::size_t shard = counts_.size() - 1; shard > 0; --shard)
      counts_[shard] -= counts_[shard - 1];
  }

 private:
  // Whether points are put in order in fast memory before they are written, where it has room for
  // a tile and all shards.
  bool is_in_tiles(const probes& batch) const {
    if constexpr (Executor::writes_in_tiles) {
      const std::uint64_t shards = splitters_.size() + 1;
      return batch.is_points && batch.lower.format.type != key_type::bytes &&
             core::bytes_of_tile<Key>(shards) <= Executor::fast_memory();
    } else {
      return false;
    }
  }

  core::divided_probes<Key> over(const probes& batch) const {
    const std::uint64_t shards = splitters_.size() + 1;
    const std::uint64_t chunk =
        is_in_tiles(batch) ? core::points_of_chunk(shards) : probes_of_chunk(batch.size(), shards);
    return {.lower = {cells_of(batch.lower)},
            .upper = {cells_of(batch.upper)},
            .is_points = batch.is_points,
            .size = batch.size(),
            .owners = {splitters_.data(), static_cast<unsigned>(splitters_.size())},
            .chunk = chunk,
            .chunks = (batch.size() + chunk - 1) / chunk};
  }

  core::piece_places places(std::uint64_t chunks) const {
    return {ends_.data(), begins_.data(), chunks};
  }

  void check_ascending(const context& on) const {
    if (splitters_.size() < 2) return;
    buffer<std::uint64_t> descents(on, 1);
    Executor::clear(on, descents.data());
    Executor::for_each(on, core::count_descents<Key>{splitters_.data(), descents.data()},
                       splitters_.size() - 1);
    if (Executor::read(on, descents.data()) != 0)
      throw invalid_argument("splitters: they do not ascend; sort them");
  }

  void count(const context& on, const probes& batch, const core::divided_probes<Key>& divided) {
    if constexpr (Executor::writes_in_tiles) {
      if (is_in_tiles(batch)) {
        Executor::for_each_in_blocks(on, core::count_points<Key>{divided, ends_.data()},
                                     divided.chunks);
        return;
      }
    }
    Executor::for_each_in_warps(on, core::count_pieces<Key>{divided, ends_.data()}, divided.chunks);
  }

  void do_write(const context& on, const probes& batch, const piece_span& out) const override {
    if (out.sources.type == row_id_type::uint32) {
      write_pieces(on, batch, out, static_cast<std::uint32_t*>(out.sources.data));
    } else {
      write_pieces(on, batch, out, static_cast<std::uint64_t*>(out.sources.data));
    }
  }

  template <class Number>
  void write_pieces(const context& on, const probes& batch, const piece_span& out,
                    Number* sources) const {
    const core::divided_probes<Key> divided = over(batch);
    const core::piece_places all = places(divided.chunks);
    write_found(on, batch, divided, all, out, sources);
    if (unit_ == 1) return;
    Executor::for_each(on,
                       core::repeat_last_pieces<Number>{cells_of(batch.lower), all, unit_, sources,
                                                        static_cast<std::byte*>(out.lower)},
                       counts_.size() * unit_);
  }

  // All pieces but those that are repeated.
  template <class Number>
  void write_found(const context& on, const probes& batch, const core::divided_probes<Key>& divided,
                   const core::piece_places& all, const piece_span& out, Number* sources) const {
    if constexpr (Executor::writes_in_tiles) {
      if (is_in_tiles(batch)) {
        Executor::for_each_in_blocks(
            on,
            core::write_points<Key, Number>{divided, all, sources, static_cast<Key*>(out.lower)},
            divided.chunks);
        return;
      }
    }
    Executor::for_each_in_warps(
        on,
        core::write_pieces<Key, Number>{divided, all, sources, static_cast<std::byte*>(out.lower),
                                        static_cast<std::byte*>(out.upper)},
        divided.chunks);
  }

  void do_put_together(const context& on, const row_id_span& sources, const column& answers,
                       piece_answer how, const value_span& out) const override {
    if (sources.type == row_id_type::uint32) {
      put(on, static_cast<const std::uint32_t*>(sources.data), answers, how, out);
    } else {
      put(on, static_cast<const std::uint64_t*>(sources.data), answers, how, out);
    }
  }

  template <class Number>
  void put(const context& on, const Number* sources, const column& answers, piece_answer how,
           const value_span& out) const {
    const auto place = [&]<class Value, class Out>(Value /*of*/, Out* to) {
      using placing = core::place_answers<Value, Number, Out>;
      const bool in_order = Executor::writes_in_tiles && each_has_a_piece_ &&
                            chunk_ * sizeof(Value) <= placing::most_scratch_bytes;
      const std::uint64_t chunks = ends_.size() / counts_.size();
      Executor::for_each_in_blocks(
          on,
          placing{sources, cells_of(answers), places(chunks), static_cast<unsigned>(counts_.size()),
                  chunk_, out.size, in_order, to},
          chunks);
    };
    const auto combine = [&]<class Value>(Value* to) {
      std::uint64_t first = 0;
      for (const std::uint64_t pieces : counts_) {
        Executor::for_each(on,
                           core::put_answers<Value, Number>{sources, cells_of(answers), first,
                                                            how == piece_answer::sum, to},
                           pieces);
        first += pieces;
      }
    };
    if (how == piece_answer::replace) {
      if (answers.format.width == 8) {
        place(std::uint64_t{}, static_cast<std::uint64_t*>(out.data));
      } else if (out.format.width == 8) {
        place(std::int32_t{}, static_cast<std::int64_t*>(out.data));
      } else {
        place(std::uint32_t{}, static_cast<std::uint32_t*>(out.data));
      }
    } else if (answers.format.type == key_type::float64) {
      combine(static_cast<double*>(out.data));
    } else if (answers.format.width == 4) {
      combine(static_cast<std::uint32_t*>(out.data));
    } else {
      combine(static_cast<std::uint64_t*>(out.data));
    }
  }

  std::uint64_t unit_;
  std::uint64_t chunk_ = 0;        // probes that were divided together
  bool each_has_a_piece_ = false;  // whether no probe lacks one, for sure
  buffer<Key> splitters_;
  buffer<std::uint64_t> ends_;    // of the pieces of each shard and chunk, without those repeated
  buffer<std::uint64_t> begins_;  // of each shard, and where the last one ends
};

template <executor Executor>
std::unique_ptr<partition> make_partition(const context& on, backend where, const probes& batch,
                                          const column& splitters, std::uint64_t unit) {
  if (batch.lower.format.encoded_bits() == 32) {
    return std::make_unique<built_partition<std::uint32_t, Executor>>(on, where, batch, splitters,
                                                                      unit);
  }
  return std::make_unique<built_partition<std::uint64_t, Executor>>(on, where, batch, splitters,
                                                                    unit);
}

template <executor Executor>
void write_splitters(const context& on, const column& sample, const value_span& out) {
  const row_id_type row_ids =
      sample.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  dispatch(sample.format, row_ids, [&]<class Key, class RowId>() {
    const auto sorted = Executor::template sort_column<Key, RowId>(on, sample, std::nullopt);
    const std::uint64_t rows = sorted.row_ids.size();
    if (rows == 0) {
      Executor::clear(on, static_cast<std::uint8_t*>(out.data), out.size * out.format.width);
    } else {
      Executor::for_each(
          on,
          core::put_splitters<RowId>{cells_of(sample), sorted.row_ids.data(), rows, out.size + 1,
                                     static_cast<std::byte*>(out.data)},
          out.size);
    }
    Executor::synchronise(on);
  });
}

}  // namespace raydex
