// SPDX-License-Identifier: Apache-2.0
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "raydex/core/lookups/hashing.hpp"
#include "raydex/error.hpp"
#include "src/interface/row_id_checks.hpp"
#include "src/machines/cpu/keys/radix_sort.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/hash_ties.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex::cpu {

namespace {

constexpr std::uint64_t block = 1 << 16;

template <class RowId>
row_id_facts inspect(const core::encoded_column<RowId>& row_ids, std::uint64_t size) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::uint64_t>(0, size, block), row_id_facts{},
      [&](const auto& range, row_id_facts facts) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i)
          facts.add(row_ids, i);
        return facts;
      },
      [](row_id_facts a, const row_id_facts& b) {
        a.add(b);
        return a;
      });
}

// The entries that are not missing, in column order.
template <class Key, class RowId>
pairs<Key, RowId> gather(const context& on, const core::encoded_column<Key>& keys,
                         std::uint64_t size, const core::encoded_column<RowId>* row_ids,
                         const entry_order& order) {
  const sort_code<Key> code_of(order);
  const std::uint64_t blocks = (size + block - 1) / block;
  buffer<std::uint64_t> ends(on, blocks);
  for_each_part(blocks, [&](std::uint64_t b) {
    const std::uint64_t end = std::min(size, (b + 1) * block);
    std::uint64_t count = 0;
    for (std::uint64_t i = b * block; i < end; ++i) {
      if (keys.valid(i)) ++count;
    }
    ends.data()[b] = count;
  });
  std::partial_sum(ends.data(), ends.data() + blocks, ends.data());
  const auto begin_of = [&](std::uint64_t b) { return b == 0 ? 0 : ends.data()[b - 1]; };

  pairs<Key, RowId> entries(on, begin_of(blocks));
  for_each_part(blocks, [&](std::uint64_t b) {
    const std::uint64_t end = std::min(size, (b + 1) * block);
    std::uint64_t next = begin_of(b);
    for (std::uint64_t i = b * block; i < end; ++i) {
      if (!keys.valid(i)) continue;
      const Key key = keys[i];
      entries.keys.data()[next] = code_of(key);
      entries.values.data()[next] = row_ids != nullptr ? (*row_ids)[i] : static_cast<RowId>(i);
      ++next;
    }
  });
  return entries;
}

// The same, and the facts of all row ids.
template <class Key, class RowId>
pairs<Key, RowId> gather(const context& on, const column& keys,
                         const std::optional<column>& row_ids, const entry_order& order,
                         row_id_facts& facts) {
  const core::encoded_column<Key> codes{cells_of(keys)};
  if (!row_ids) {
    facts.max = keys.size != 0 ? keys.size - 1 : 0;
    return gather<Key, RowId>(on, codes, keys.size, nullptr, order);
  }
  const core::encoded_column<RowId> ids{cells_of(*row_ids)};
  facts = inspect(ids, keys.size);
  facts.check(not_found<RowId>);
  return gather(on, codes, keys.size, &ids, order);
}

}  // namespace

template <class Key, class RowId>
unsorted_column<Key, RowId> take_column(const context& on, const column& keys,
                                        const std::optional<column>& row_ids) {
  row_id_facts facts;
  auto entries = gather<Key, RowId>(on, keys, row_ids, {}, facts);
  if (!row_ids && entries.keys.size() == keys.size) entries.values = {};
  return {std::move(entries.keys), std::move(entries.values), facts.max};
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
  row_id_facts facts;
  pairs<Key, RowId> entries = gather<Key, RowId>(on, keys, row_ids, order, facts);

  const bool rows_descend = facts.descents != 0;
  const std::uint64_t size = entries.keys.size();
  if (!order.seed &&
      ascend(entries.keys.data(), rows_descend ? entries.values.data() : nullptr, size))
    return {std::move(entries.keys), std::move(entries.values), facts.max};
  pairs<Key, RowId> scratch(on, size);
  if (rows_descend) sort_by_row(on, entries, scratch, size);
  const bit_range bits = telling_bits(order, 8 * sizeof(Key), size);
  radix_sort(on, entries, scratch, bits);
  if constexpr (sizeof(Key) == 8) {
    if (bits.first != order.bits.first) {
      const order_ties<RowId> mend{entries.keys.data(), entries.values.data(), size, bits.first};
      for_each_part((size + block - 1) / block, [&](std::uint64_t b) {
        for (std::uint64_t i = b * block; i < std::min(size, (b + 1) * block); ++i)
          mend(i);
      });
      if (!ascend<Key, RowId>(entries.keys.data(), nullptr, size))
        radix_sort(on, entries, scratch, order.bits);
    }
  }
  return {std::move(entries.keys), std::move(entries.values), facts.max};
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

}  // namespace raydex::cpu
