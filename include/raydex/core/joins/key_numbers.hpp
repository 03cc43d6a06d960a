// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys of several columns as numbers of few bits, and values below them in one number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/lookups/hashing.hpp"

namespace raydex::core {

/// The smallest and the largest code of a column, and whether its codes descend anywhere. It is
/// what zeros become, so that they are where a search for the largest numbers begins.
struct code_span {
  std::uint64_t above = 0;     ///< the largest code
  std::uint64_t below = 0;     ///< the complement of the smallest one; 0 where no cell has a code
  std::uint64_t descends = 0;  ///< 1 if a code is smaller than the one before it, if wanted

  /// The smallest code.
  constexpr std::uint64_t first() const { return ~below; }
  /// The largest code less the smallest one.
  constexpr std::uint64_t size() const { return above - first(); }
  /// Whether any cell has a code.
  constexpr bool any() const { return first() <= above; }
};

/// Finds the span of a column.
struct find_code_span {
  static constexpr std::uint64_t chunk = 1 << 13;       ///< cells that a group looks at
  static constexpr std::size_t most_scratch_bytes = 0;  ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  key_cells from;      ///< the column
  std::uint64_t size;  ///< its cells
  bool in_order;       ///< whether to find out if codes descend
  code_span* out;      ///< zeros at first

  /// Looks at a chunk.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t c) const {
    const std::uint64_t begin = c * chunk;
    const std::uint64_t end = size - begin < chunk ? size : begin + chunk;
    code_span span;
#if !defined(__CUDA_ARCH__)
    const bool done =
        from.fixed.validity == nullptr && with_typed_codes(from.fixed, [&](const auto& code_of) {
          look(group, begin, end, code_of, span);
        });
    if (!done)
#endif
      look(
          group, begin, end, [&](std::uint64_t i) { return from.code(i); }, span);
    const auto larger = [](std::uint64_t a, std::uint64_t b) { return a < b ? b : a; };
    span.above = group.reduce(span.above, larger);
    span.below = group.reduce(span.below, larger);
    span.descends = group.reduce(span.descends, larger);
    if (group.lane() != 0) return;
    keep_largest(&out->above, span.above);
    keep_largest(&out->below, span.below);
    keep_largest(&out->descends, span.descends);
  }

 private:
  template <class Group, class Code>
  RAYDEX_HD void look(const Group& group, std::uint64_t begin, std::uint64_t end,
                      const Code& code_of, code_span& span) const {
    decltype(code_of(begin)) above = 0;
    decltype(code_of(begin)) least = ~above;
    bool descends = false;
    bool any = false;
    for (std::uint64_t i = begin + group.lane(); i < end; i += group.lanes()) {
      if (!from.fixed.valid(i)) continue;
      const auto code = code_of(i);
      any = true;
      above = code > above ? code : above;
      least = code < least ? code : least;
      if (in_order && i + 1 < size) descends |= code_of(i + 1) < code;
    }
    span.above = above;
    span.below = any ? ~std::uint64_t{least} : 0;
    span.descends = descends ? 1 : 0;
  }
};

/// Different keys, each at the slot of a table that its hash leads to, or at one after it.
struct key_table {
  composite_cells keys;              ///< those of the table
  hash_function<std::uint64_t> mix;  ///< what hashes them
  std::uint32_t* rows = nullptr;     ///< of each slot one more than a row of its key, or 0
  std::uint32_t* numbers = nullptr;  ///< of each slot the number of its key
  std::uint32_t* count = nullptr;    ///< how many keys have numbers
  std::uint32_t last = 0;            ///< the last slot; slots are a power of two
  std::uint32_t most = 0;            ///< keys that it takes
};

/// Finds the slots of keys in a table, or puts them there.
struct find_slots {
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< of a key that is not there

  composite_cells keys;  ///< of the same formats
  key_table in;          ///< the table
  bool puts;             ///< whether its own keys are to be put there
  std::uint32_t* slots;  ///< a slot a key, of no meaning where there were too many for the table

  /// Looks for one.
  RAYDEX_HD void operator()(std::uint64_t i) const { slots[i] = slot(i); }

 private:
  RAYDEX_HD std::uint32_t slot(std::uint64_t i) const {
    if (!keys.missing_equal && !keys.complete(i)) return none;
    auto slot = static_cast<std::uint32_t>(keys.hash(i, in.mix)) & in.last;
    for (std::uint64_t step = 0; step <= in.last; ++step, slot = (slot + 1) & in.last) {
      std::uint32_t row = load_atomically(in.rows + slot);
      if (row == 0) {
        if (!puts || load_atomically(in.count) > in.most) return none;
        if (replace_atomically(in.rows + slot, 0, static_cast<std::uint32_t>(i + 1))) {
          in.numbers[slot] = add_atomically(in.count, 1);
          return slot;
        }
        row = load_atomically(in.rows + slot);
      }
      if (keys.equal(i, in.keys, row - 1)) return slot;
      // A table that is too small is left soon.
      if (puts && step % 16 == 15 && load_atomically(in.count) > in.most) return none;
    }
    return none;
  }
};

/// Keys as numbers: by the span of each column, side by side, or by a table.
struct key_numbers {
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< of a key without a number

  composite_cells keys;                             ///< the columns
  std::uint64_t first[composite_cells::most] = {};  ///< the smallest code of each
  std::uint64_t size[composite_cells::most] = {};   ///< the largest one less the smallest one
  std::uint8_t bits[composite_cells::most] = {};    ///< that the number of each takes
  const std::uint32_t* slots = nullptr;             ///< of each key, by a table; null: by spans
  const std::uint32_t* numbers = nullptr;           ///< of each slot

  /// The number of key `i`, or `none`. Two keys have one number if and only if they are equal.
  RAYDEX_HD std::uint64_t operator[](std::uint64_t i) const {
    if (slots != nullptr) return slots[i] != find_slots::none ? load(numbers + slots[i]) : none;
    std::uint64_t all = 0;
    for (unsigned p = 0; p < keys.count; ++p) {
      std::uint64_t number = size[p] + 1;  // of a missing value
      if (keys.parts[p].fixed.valid(i)) {
        number = keys.parts[p].code(i) - first[p];
        if (number > size[p]) return none;  // or is smaller than the first one
      } else if (!keys.missing_equal) {
        return none;
      }
      all = all << bits[p] | number;
    }
    return all;
  }
};

/// Values as numbers in a span: 0 before it, and one more than its size behind it.
struct value_numbers {
  key_cells values;          ///< the column
  bool descending = false;   ///< whether a larger value has a smaller number: by the complement
  std::uint64_t first = 0;   ///< the smallest code, or complement of one, whose number is 1
  std::uint64_t behind = 0;  ///< the number of what is larger than all, if there is a larger code
  unsigned bits = 0;         ///< of a number, which none of them fills
  std::uint64_t fixed = key_numbers::none;  ///< the number of any value, unless it is none

  /// The number of value `i`.
  RAYDEX_HD std::uint64_t operator[](std::uint64_t i) const {
    if (fixed != key_numbers::none) return fixed;
    const std::uint64_t code = descending ? ~values.code(i) : values.code(i);
    if (code < first) return 0;
    const std::uint64_t after = code - first;
    return after < behind ? after + 1 : behind;
  }
};

/// Writes keys above values, as numbers; ones in all bits where one of them is missing or has no
/// number.
struct put_keyed_values {
  key_numbers keys;       ///< the keys
  value_numbers values;   ///< as many values
  std::uint32_t* narrow;  ///< a number each; null: see `wide`
  std::uint64_t* wide;    ///< likewise

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t key = values.values.fixed.valid(i) ? keys[i] : key_numbers::none;
    const std::uint64_t number = key == key_numbers::none ? key : key << values.bits | values[i];
    if (narrow != nullptr) {
      narrow[i] = static_cast<std::uint32_t>(number);
    } else {
      wide[i] = number;
    }
  }
};

}  // namespace raydex::core
