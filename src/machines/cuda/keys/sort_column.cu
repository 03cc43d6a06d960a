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
#include "src/operations/lookups/ordered_entries.hpp"
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

// The same side by side.
struct gather_row {
  core::encoded_column<std::uint32_t> column;
  const std::uint32_t* positions;
  core::encoded_column<std::uint32_t> row_ids;
  put_rows<std::uint32_t, std::uint32_t> put;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t row = positions != nullptr ? positions[i] : i;
    put(i, column[row], row_ids.data != nullptr ? row_ids[row] : static_cast<std::uint32_t>(row));
  }
};

// Writes what no search takes for a match, from `begin` on.
struct pad_rows {
  std::uint64_t begin;
  put_rows<std::uint32_t, std::uint32_t> put;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    put(begin + i, ~std::uint32_t{0}, ~std::uint32_t{0});
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

// Sets `*descends` if entries do not ascend, by key and, if `rows` are given, then by row. Once it
// is set blocks end early, so that entries in no order cost little.
template <class Key, class RowId>
__global__ void __launch_bounds__(threads)
    find_descent(core::strided<Key> keys, core::strided<RowId> rows, std::uint64_t size,
                 std::uint32_t* descends) {
  constexpr unsigned at_once = threads * keys_at_once;
  const std::uint64_t stride = gridDim.x * std::uint64_t{at_once};
  for (std::uint64_t first = blockIdx.x * std::uint64_t{at_once}; first + 1 < size;
       first += stride) {
    bool descended = false;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < keys_at_once; ++j) {
      const std::uint64_t i = first + j * threads + threadIdx.x;
      if (i + 1 >= size) continue;
      const Key own = keys(i);
      const Key next = keys(i + 1);
      if (next < own || (rows.first != nullptr && next == own && rows(i + 1) < rows(i)))
        descended = true;
    }
    // A thread of a block looks and tells: all threads at one address took 20 microseconds.
    const bool seen = threadIdx.x == 0 && first >= stride && core::load_atomically(descends) != 0;
    if (__syncthreads_or(descended || seen ? 1 : 0) == 0) continue;
    if (threadIdx.x == 0) core::store_atomically(descends, 1U);
    return;
  }
}

template <class Key, class RowId>
bool ascend(const context& on, const core::strided<Key>& keys, const core::strided<RowId>& rows,
            std::uint64_t size) {
  constexpr std::uint64_t most_blocks = 1024;
  buffer<std::uint32_t> descends(on, 1);
  executor::clear(on, descends.data());
  launch(on.stream, std::min(most_blocks, blocks_for(size, threads * keys_at_once)), threads, 0,
         find_descent<Key, RowId>, keys, rows, size, descends.data());
  std::uint32_t found = 0;
  executor::copy_out(on, &found, descends.data(), sizeof found);
  return found == 0;
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

  double_buffer<Key> codes(on, size);
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
  // Equal keys are to lie by row id: sort by row id first, as the sort by key is stable.
  const bit_range bits = telling_bits(order, 8 * sizeof(Key), size);
  const bool by_row = facts.descents != 0;
  if (order.seed.has_value() ||
      !ascend<Key, RowId>(on, {codes.current.data()}, {by_row ? rows.current.data() : nullptr},
                          size)) {
    if (by_row) sort_pairs(on, rows, codes);
    sort_pairs(on, codes, rows, bits);
  }
  if constexpr (sizeof(Key) == 8) {
    if (bits.first != order.bits.first) {
      Key* const hashes = codes.current.data();
      executor::for_each(on, order_ties<RowId>{hashes, rows.current.data(), size, bits.first},
                         size);
      if (!ascend<Key, RowId>(on, {hashes}, {nullptr}, size))
        sort_pairs(on, codes, rows, order.bits);
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

sorted_rows<std::uint32_t, std::uint32_t> sort_rows(const context& on, const column& keys,
                                                    const std::optional<column>& row_ids,
                                                    std::uint64_t multiple) {
  present_rows<std::uint32_t> present(on, keys, row_ids);
  const std::uint64_t size = present.size;
  const std::uint64_t padded = (size + multiple - 1) / multiple * multiple;
  double_buffer<std::uint32_t> words(on, 2 * padded);
  executor::for_each(
      on,
      gather_row{{cells_of(keys)}, present.positions.data(), present.ids, {words.current.data()}},
      size);
  present.positions = {};
  if (size == 0) return {{}, 0, present.facts.max};
  constexpr bit_range by_key{0, 32}, by_row{32, 64};
  constexpr std::uint32_t step = 8;  // bytes of an entry
  const auto count = static_cast<std::uint32_t>(size);
  const bool rows_descend = present.facts.descents != 0;
  if (!ascend<std::uint32_t, std::uint32_t>(
          on, {words.current.data(), step},
          {rows_descend ? words.current.data() + 1 : nullptr, step}, size)) {
    if (rows_descend) sort_rows(on, words, count, by_row);
    sort_rows(on, words, count, by_key);
  }
  words.other = {};
  executor::for_each(on, pad_rows{size, {words.current.data()}}, padded - size);
  return {std::move(words.current), size, present.facts.max};
}

}  // namespace raydex::cuda
