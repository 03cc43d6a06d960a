// SPDX-License-Identifier: Apache-2.0
#include "src/machines/cpu/joins/key_columns.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "raydex/index.hpp"
#include "src/machines/cpu/parallel.hpp"

namespace raydex::cpu {

namespace {

// Keys whose numbers stay in the first-level cache from one column to the next.
constexpr std::uint64_t at_once = 512;

// Calls f(code_of), see `core::with_typed_codes`.
template <class F>
void with_codes(const core::key_cells& part, const F& f) {
  if (!core::with_typed_codes(part.fixed, f)) f([&](std::uint64_t i) { return part.code(i); });
}

// Writes the numbers of some keys, from `begin` on.
void put_some(const core::put_key_hashes& put, std::uint64_t begin, std::uint64_t size) {
  const core::composite_cells& keys = put.from;
  const core::hash_function<std::uint64_t> mix = put.mix;
  std::uint64_t* const all = put.out + begin;
  const auto is_string = [](const core::key_cells& part) { return part.is_strings; };
  if (std::any_of(keys.parts, keys.parts + keys.count, is_string)) {
    for (std::uint64_t i = 0; i < size; ++i)
      all[i] = keys.hash(begin + i, mix);
    return;
  }
  std::fill_n(all, size, mix.first);
  for (unsigned p = 0; p < keys.count; ++p) {
    const core::cells& cells = keys.parts[p].fixed;
    with_codes(keys.parts[p], [&](const auto& code_of) {
      for (std::uint64_t i = 0; i < size; ++i)
        all[i] =
            cells.valid(begin + i) ? mix(mix(all[i] + 2) ^ code_of(begin + i)) : mix(all[i] + 1);
    });
  }
}

template <class Key>
void put_some(const core::put_packed_keys<Key>& put, std::uint64_t begin, std::uint64_t size) {
  const core::composite_cells& keys = put.from;
  std::uint64_t all[at_once] = {};
  for (unsigned p = 0; p < keys.count; ++p) {
    const core::cells& cells = keys.parts[p].fixed;
    const unsigned bits = keys.parts[p].bits();
    with_codes(keys.parts[p], [&](const auto& code_of) {
      for (std::uint64_t i = 0; i < size; ++i) {
        const bool valid = cells.valid(begin + i);
        const std::uint64_t code = valid ? code_of(begin + i) : 0;
        if (keys.missing_equal) all[i] = all[i] << 1 | (valid ? 1 : 0);
        all[i] = bits == 64 ? code : all[i] << bits | code;
      }
    });
  }
  std::transform(all, all + size, put.out + begin,
                 [](std::uint64_t number) { return static_cast<Key>(number); });
}

template <class Put>
void put_all(const Put& put, std::uint64_t size) {
  for_blocks(size, 8 * at_once, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t first = begin; first < end; first += at_once)
      put_some(put, first, std::min(at_once, end - first));
  });
}

template <class RowId>
void drop_all(const core::drop_different_keys<RowId>& drop, std::uint64_t size) {
  const auto row_of = [&](std::uint64_t i) -> std::optional<std::uint64_t> {
    const RowId begin = drop.begins[i];
    if (drop.counts != nullptr ? drop.counts[i] == 0 : begin == not_found<RowId>)
      return std::nullopt;
    const bool is_row = drop.counts == nullptr || drop.counts[i] == 1;
    return is_row ? begin : drop.list[begin];  // of several, which have one key, the first
  };
  for_blocks(size, 1 << 10, [&](std::uint64_t begin, std::uint64_t end) {
    for_each_fetched(drop.keys, begin, end, row_of, [&](std::uint64_t i, std::uint64_t row) {
      if (drop.probes.equal(drop.probe_row(i), drop.keys, row)) return;
      drop.begins[i] = not_found<RowId>;
      if (drop.counts != nullptr) drop.counts[i] = 0;
    });
  });
}

}  // namespace

void put_numbers(const core::put_key_hashes& put, std::uint64_t size) {
  put_all(put, size);
}
void put_numbers(const core::put_packed_keys<std::uint32_t>& put, std::uint64_t size) {
  put_all(put, size);
}
void put_numbers(const core::put_packed_keys<std::uint64_t>& put, std::uint64_t size) {
  put_all(put, size);
}

void drop_different(const core::drop_different_keys<std::uint32_t>& drop, std::uint64_t size) {
  drop_all(drop, size);
}
void drop_different(const core::drop_different_keys<std::uint64_t>& drop, std::uint64_t size) {
  drop_all(drop, size);
}

}  // namespace raydex::cpu
