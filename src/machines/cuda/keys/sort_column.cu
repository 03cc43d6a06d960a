// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/core/atomic.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "src/interface/row_id_checks.hpp"
#include "src/machines/cuda/executor.cuh"
#include "src/machines/cuda/warp.cuh"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/hash_ties.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex::cuda {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned keys_at_once = 8;  // that a thread compares with the next ones

// Writes codes and row ids of the entries; entry i is row `positions[i]`, or row i without
// positions. `keys` or `ids` may be null: then only the others are written.
template <class Key, class RowId>
struct gather_entry {
  core::encoded_column<Key> column;
  const RowId* positions;
  core::encoded_column<RowId> row_ids;
  Key* keys;
  RowId* ids;
  sort_code<Key> code_of;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t row = positions != nullptr ? positions[i] : i;
    if (keys != nullptr) keys[i] = code_of(column[row]);
    if (ids != nullptr) ids[i] = row_ids.data != nullptr ? row_ids[row] : static_cast<RowId>(row);
  }
};

// Gathers the facts of all row ids, a block's share in shared memory first.
template <class RowId>
__global__ void __launch_bounds__(threads)
    inspect_row_ids(core::encoded_column<RowId> row_ids, std::uint64_t size, row_id_facts* out) {
  __shared__ row_id_facts of_thread[threads];
  row_id_facts mine;
  const std::uint64_t all_threads = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = global_thread(); i < size; i += all_threads)
    mine.add(row_ids, i);
  of_thread[threadIdx.x] = mine;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) of_thread[threadIdx.x].add(of_thread[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = of_thread[0];
}

template <class RowId>
row_id_facts inspect(const context& on, const core::encoded_column<RowId>& row_ids,
                     std::uint64_t size) {
  constexpr std::uint64_t most_blocks = 1024;
  const std::uint64_t blocks = std::min(most_blocks, blocks_for(size, threads));
  buffer<row_id_facts> device(on, blocks);
  launch(on.stream, blocks, threads, 0, inspect_row_ids<RowId>, row_ids, size, device.data());
  std::vector<row_id_facts> host(blocks);
  check(cudaMemcpyAsync(host.data(), device.data(), device.bytes(), cudaMemcpyDeviceToHost,
                        on.stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(on.stream), "cudaStreamSynchronize");
  row_id_facts all;
  for (const row_id_facts& facts : host)
    all.add(facts);
  return all;
}

// Sets `*descends` where keys do not ascend. Once it is set blocks end early, so that keys in no
// order cost little.
template <class Key>
__global__ void __launch_bounds__(threads)
    find_descent(const Key* keys, std::uint64_t size, std::uint32_t* descends) {
  constexpr unsigned at_once = threads * keys_at_once;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * at_once; first + 1 < size;
       first += std::uint64_t{gridDim.x} * at_once) {
    bool descended = core::load_atomically(descends) != 0;
    if (__any_sync(all_lanes, descended ? 1 : 0) != 0) return;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < keys_at_once; ++j) {
      const std::uint64_t i = first + j * threads + threadIdx.x;
      if (i + 1 < size && keys[i + 1] < keys[i]) descended = true;
    }
    // Once a warp: from every thread that saw one, it took 0.2 ms.
    descended = __any_sync(all_lanes, descended ? 1 : 0) != 0;
    if (descended && lane_of_warp() == 0) core::replace_atomically(descends, 0, 1);
  }
}

template <class Key>
bool ascend(const context& on, const Key* keys, std::uint64_t size) {
  constexpr std::uint64_t most_blocks = 1024;
  buffer<std::uint32_t> descends(on, 1);
  executor::clear(on, descends.data());
  launch(on.stream, std::min(most_blocks, blocks_for(size, threads * keys_at_once)), threads, 0,
         find_descent<Key>, keys, size, descends.data());
  std::uint32_t found = 0;
  executor::copy_out(on, &found, descends.data(), sizeof found);
  return found == 0;
}

// Whether the codes of a column are its cells as they are, so that the sort can read them in place.
bool is_sortable_in_place(const column& keys) {
  const bool is_unsigned =
      keys.format.type == key_type::uint32 || keys.format.type == key_type::uint64;
  return is_unsigned && keys.validity == nullptr && keys.step() == keys.format.width;
}

// Which rows of a column have keys, and what their row ids are.
template <class RowId>
struct present_rows {
  core::encoded_column<RowId> ids{};  // none: the numbers of rows
  row_id_facts facts{};
  buffer<RowId> positions{};  // none where all have keys
  std::uint64_t size = 0;

  present_rows(const context& on, const column& keys, const std::optional<column>& row_ids)
      : size(keys.size) {
    if (row_ids) {
      ids = {cells_of(*row_ids)};
      facts = inspect(on, ids, keys.size);
      facts.check(not_found<RowId>);
    } else if (keys.size != 0) {
      facts.max = keys.size - 1;
    }
    if (keys.validity == nullptr || size == 0) return;
    positions = {on, size};
    buffer<std::uint64_t> count(on, 1);
    select_valid(on, cells_of(keys), size, positions.data(), count.data());
    size = executor::read(on, count.data());
  }
};

}  // namespace

template <class Key, class RowId>
unsorted_column<Key, RowId> take_column(const context& on, const column& keys,
                                        const std::optional<column>& row_ids) {
  const present_rows<RowId> rows(on, keys, row_ids);
  const bool numbered = !row_ids && rows.size == keys.size;
  unsorted_column<Key, RowId> taken{
      {on, rows.size}, {on, numbered ? 0 : rows.size}, rows.facts.max};
  executor::for_each(on,
                     gather_entry<Key, RowId>{{cells_of(keys)},
                                              rows.positions.data(),
                                              rows.ids,
                                              taken.keys.data(),
                                              taken.row_ids.data(),
                                              sort_code<Key>(entry_order())},
                     rows.size);
  return taken;
}

template unsorted_column<std::uint32_t, std::uint32_t> take_column(const context&, const column&,
                                                                   const std::optional<column>&);
template unsorted_column<std::uint32_t, std::uint64_t> take_column(const context&, const column&,
                                                                   const std::optional<column>&);
template unsorted_column<std::uint64_t, std::uint32_t> take_column(const context&, const column&,
                                                                   const std::optional<column>&);
template unsorted_column<std::uint64_t, std::uint64_t> take_column(const context&, const column&,
                                                                   const std::optional<column>&);

template <class Key, class RowId>
sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                      const std::optional<column>& row_ids,
                                      const entry_order& order) {
  present_rows<RowId> present(on, keys, row_ids);
  const row_id_facts& facts = present.facts;
  const std::uint64_t size = present.size;

  // Read in place, the codes need no copy, but the sort needs scratch as large as its output. Where
  // row ids are wide there are billions of rows, and memory is what is short.
  const bool in_place =
      sizeof(RowId) == 4 && !order.seed && is_sortable_in_place(keys) && facts.descents == 0;
  double_buffer<Key> codes(on, in_place ? 0 : size);
  double_buffer<RowId> rows(on, size);
  executor::for_each(on,
                     gather_entry<Key, RowId>{{cells_of(keys)},
                                              present.positions.data(),
                                              present.ids,
                                              codes.current.data(),
                                              rows.current.data(),
                                              sort_code<Key>(order)},
                     size);
  present.positions = {};
  if (size == 0) return {{}, {}, facts.max};
  if constexpr (sizeof(RowId) == 4) {
    if (in_place) {
      buffer<Key> sorted(on, size);
      const auto* const cells = static_cast<const Key*>(keys.data);
      if (ascend(on, cells, size)) {
        check(cudaMemcpyAsync(sorted.data(), cells, sorted.bytes(), cudaMemcpyDeviceToDevice,
                              on.stream),
              "cudaMemcpyAsync");
        return {std::move(sorted), std::move(rows.current), facts.max};
      }
      sort_pairs(on, cells, sorted.data(), rows.current.data(), rows.other.data(), size,
                 order.bits);
      return {std::move(sorted), std::move(rows.other), facts.max};
    }
  }
  // Equal keys are to lie by row id: sort by row id first, as the sort by key is stable.
  const bit_range bits = telling_bits(order, 8 * sizeof(Key), size);
  if (facts.descents != 0) {
    sort_pairs(on, rows, codes);
    sort_pairs(on, codes, rows, bits);
  } else if (order.seed.has_value() || !ascend(on, codes.current.data(), size)) {
    sort_pairs(on, codes, rows, bits);
  }
  if constexpr (sizeof(Key) == 8) {
    if (bits.first != order.bits.first) {
      Key* const hashes = codes.current.data();
      executor::for_each(on, order_ties<RowId>{hashes, rows.current.data(), size, bits.first},
                         size);
      if (!ascend(on, hashes, size)) sort_pairs(on, codes, rows, order.bits);
    }
  }
  return {std::move(codes.current), std::move(rows.current), facts.max};
}

template sorted_column<std::uint32_t, std::uint32_t> sort_column(const context&, const column&,
                                                                 const std::optional<column>&,
                                                                 const entry_order&);
template sorted_column<std::uint32_t, std::uint64_t> sort_column(const context&, const column&,
                                                                 const std::optional<column>&,
                                                                 const entry_order&);
template sorted_column<std::uint64_t, std::uint32_t> sort_column(const context&, const column&,
                                                                 const std::optional<column>&,
                                                                 const entry_order&);
template sorted_column<std::uint64_t, std::uint64_t> sort_column(const context&, const column&,
                                                                 const std::optional<column>&,
                                                                 const entry_order&);

}  // namespace raydex::cuda
