// SPDX-License-Identifier: Apache-2.0
// Columns divided by the hash of a key, and what was found of their parts put back in order.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "raydex/column.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cpu/lookups/simd_kernels.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/lookups/built_index.hpp"

namespace raydex::cpu {

// Which keys there may be: a bit for all that share the highest bits of a hash.
template <class Key>
class key_filter {
 public:
  // That lets all pass.
  key_filter() = default;
  // That lets none pass, of so many that are to come. Keys that differ in the highest `part_bits`
  // bits of their hashes share no word.
  key_filter(const context& on, std::uint64_t keys, unsigned part_bits = 0)
      : bits_(std::max(std::clamp(static_cast<unsigned>(std::bit_width(keys)) + 3, 6U, 27U),
                       part_bits + 6)),
        words_(on, std::uint64_t{1} << (bits_ - 6)) {
    std::fill(words_.begin(), words_.end(), 0);
  }

  bool lets_all_pass() const { return words_.size() == 0; }
  bool lets_pass(Key hash) const {
    const std::uint64_t place = place_of(hash);
    return (words_[place / 64] >> (place % 64) & 1) != 0;
  }
  // Several threads may add keys at once.
  void add(Key hash) {
    const std::uint64_t place = place_of(hash);
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    const std::atomic_ref<std::uint64_t> word(words_[place / 64]);
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  }
  // If nobody else has keys of the same part.
  void add_alone(Key hash) {
    const std::uint64_t place = place_of(hash);
    words_[place / 64] |= std::uint64_t{1} << (place % 64);
  }

 private:
  std::uint64_t place_of(Key hash) const { return hash >> (8 * sizeof(Key) - bits_); }

  unsigned bits_ = 0;
  buffer<std::uint64_t> words_;
};

// The hashes of a column's keys. Those of different keys differ, as far as their codes do.
template <class Key>
class hashed_column {
 public:
  // Hashes that are made at a time, which stay in the first-level cache.
  static constexpr std::uint64_t at_once = 512;

  hashed_column(const column& keys, const core::hash_function<Key>& mix)
      : cells_{cells_of(keys)}, size_(keys.size), mix_(mix) {}
  // Of keys that are hashed already and not missing; `hashes` outlive it.
  explicit hashed_column(std::span<const Key> hashes)
      : hashes_(hashes.data()), size_(hashes.size()) {}

  std::uint64_t size() const { return size_; }
  // Whether there are cells that are missing, or may be.
  bool leaves_out() const { return cells_.fixed.validity != nullptr || filter_ != nullptr; }

  // The same, as if all were missing that do not pass; `filter` outlives it.
  hashed_column filtered(const key_filter<Key>& filter) const {
    hashed_column other = *this;
    other.filter_ = filter.lets_all_pass() ? nullptr : &filter;
    return other;
  }

  // Calls f(i, hash) for the cells from `begin` to `end` that are not missing, and missing(i) for
  // the others.
  template <class Found, class Missing>
  void for_each(std::uint64_t begin, std::uint64_t end, const Found& f,
                const Missing& missing) const {
    for_some(begin, end, [&](std::uint64_t first, std::span<const Key> hashes) {
      if (!leaves_out()) {
        for (std::uint64_t i = 0; i < hashes.size(); ++i)
          f(first + i, hashes[i]);
        return;
      }
      for (std::uint64_t i = 0; i < hashes.size(); ++i) {
        const bool passes = filter_ == nullptr || filter_->lets_pass(hashes[i]);
        if (passes && cells_.fixed.valid(first + i)) {
          f(first + i, hashes[i]);
        } else {
          missing(first + i);
        }
      }
    });
  }
  // Writes the hashes from `begin` to `end` that pass a filter and are not missing, and their rows;
  // how many. There is room for all. Without branches: it is not foreseen which ones pass, and the
  // filter is beyond the second-level cache.
  template <class RowId>
  std::uint64_t pass(const key_filter<Key>& filter, std::uint64_t begin, std::uint64_t end,
                     Key* out, RowId* rows) const {
    std::uint64_t passed = 0;
    for_some(begin, end, [&](std::uint64_t first, std::span<const Key> hashes) {
      std::uint64_t at = passed;
      for (std::uint64_t i = 0; i < hashes.size(); ++i) {
        out[at] = hashes[i];
        rows[at] = static_cast<RowId>(first + i);
        const bool valid = cells_.fixed.valid(first + i);
        at += static_cast<unsigned>(filter.lets_pass(hashes[i])) & static_cast<unsigned>(valid);
      }
      passed = at;
    });
    return passed;
  }

 private:
  // Calls f(first, hashes) for some cells after the other, missing or not.
  template <class F>
  void for_some(std::uint64_t begin, std::uint64_t end, const F& f) const {
    Key hashes[at_once];
    for (std::uint64_t first = begin; first < end; first += at_once) {
      const std::uint64_t size = std::min(at_once, end - first);
      if (hashes_ != nullptr) {
        f(first, {hashes_ + first, size});
        continue;
      }
      take(first, size, hashes);
      f(first, {hashes, size});
    }
  }

  void take(std::uint64_t first, std::uint64_t size, Key* hashes) const {
    const core::cells& cells = cells_.fixed;
    const std::optional<Key> flipped = flipped_bits(cells.format.type);
    if (flipped && cells.stride == sizeof(Key)) {
      static const hash_numbers<Key> best = best_kernels<Key>().hash;
      best(reinterpret_cast<const Key*>(cells.data) + first, *flipped, mix_, hashes, size);
      return;
    }
    const auto take_all = [=, mix = mix_](const auto& code_of) {  // `hashes` may not change it
      for (std::uint64_t i = 0; i < size; ++i)
        hashes[i] = mix(static_cast<Key>(code_of(first + i)));
    };
    if (!core::with_typed_codes(cells, take_all)) {
      take_all([&](std::uint64_t i) { return cells_.code(i); });
    }
  }

  // What makes codes of integers that are as wide as these.
  static std::optional<Key> flipped_bits(key_type type) {
    constexpr bool wide = sizeof(Key) == 8;
    if (type == (wide ? key_type::uint64 : key_type::uint32)) return Key{0};
    if (type != (wide ? key_type::int64 : key_type::int32)) return std::nullopt;
    return encode(std::make_signed_t<Key>{0});
  }

  core::key_cells cells_;
  const Key* hashes_ = nullptr;  // in place of cells
  std::uint64_t size_;
  core::hash_function<Key> mix_;
  const key_filter<Key>* filter_ = nullptr;
};

// What build keys are to pass: those of the probe rows, if these are few and leave out many; else
// it lets all pass. So rows without a match are neither divided nor compared.
template <class Key>
key_filter<Key> probed_keys(const context& on, const hashed_column<Key>& build,
                            const hashed_column<Key>& probe) {
  constexpr std::uint64_t sample = 1 << 12;
  constexpr auto none = [](std::uint64_t) {};
  if (probe.size() > build.size() / 4) return {};
  key_filter<Key> probed(on, probe.size());
  for_blocks(probe.size(), 1 << 14, [&](std::uint64_t begin, std::uint64_t end) {
    probe.for_each(
        begin, end, [&](std::uint64_t, Key hash) { probed.add(hash); }, none);
  });
  const std::uint64_t looked_at = std::min(sample, build.size());
  std::uint64_t passed = 0;
  build.for_each(
      0, looked_at, [&](std::uint64_t, Key hash) { passed += probed.lets_pass(hash) ? 1U : 0U; },
      none);
  if (4 * passed > 3 * looked_at) return {};
  return probed;
}

// Numbers on their way to many places: a cache line for each place is filled before it is written,
// so that a place costs a line of the second-level cache and not one of memory.
template <class T>
class place_lines {
 public:
  place_lines(const context& on, std::size_t places) : lines_(on, places) {}

  // Puts down a number that belongs at `to[at]`; those of a place come one after the other, the
  // first one of this thread at `begin`.
  void put(std::size_t place, T* to, std::uint64_t begin, std::uint64_t at, T number) {
    T* const line = lines_.data()[place].numbers;
    line[at % of_line] = number;
    if (at % of_line != of_line - 1) return;
    const std::uint64_t first = at - (of_line - 1);
    if (first >= begin) {
      stream(line, to + first);
    } else {
      write(line, to, begin, at + 1);
    }
  }
  // Writes what is left of a place.
  void finish(std::size_t place, T* to, std::uint64_t begin, std::uint64_t end) {
    write(lines_.data()[place].numbers, to, std::max(begin, end - end % of_line), end);
  }

 private:
  static constexpr std::uint64_t of_line = 64 / sizeof(T);
  struct alignas(64) cache_line {
    T numbers[of_line];
  };

  // Past the caches: the line would have to be read first, and is not needed soon.
  static void stream(const T* line, T* to) {
    for (std::size_t i = 0; i < of_line; i += 16 / sizeof(T))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(line + i)));
  }
  static void write(const T* line, T* to, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin; at < end; ++at)
      to[at] = line[at % of_line];
  }

  buffer<cache_line> lines_;
};

// A column in 2^bits parts, by the highest bits of the hashes of its keys. Rows of a part are in
// their order, and missing ones in none.
template <class Key>
class division {
 public:
  // Counts what belongs to each part.
  division(const context& on, const hashed_column<Key>& from, unsigned bits)
      : from_(from),
        bits_(bits),
        rows_of_block_(std::max<std::uint64_t>(std::uint64_t{1} << 16, (from.size() + 255) / 256)),
        blocks_((from.size() + rows_of_block_ - 1) / rows_of_block_),
        places_(on, blocks_ << bits),
        ends_(on, parts()) {
    for_each_block([&](std::uint64_t* counts, std::uint64_t begin, std::uint64_t end) {
      if (bits_ == 0 && !from_.leaves_out()) {
        counts[0] = end - begin;
        return;
      }
      std::fill_n(counts, parts(), 0);
      from_.for_each(
          begin, end, [&](std::uint64_t, Key hash) { ++counts[part_of(hash)]; },
          [](std::uint64_t) {});
    });
    std::uint64_t next = 0;
    for (std::size_t part = 0; part < parts(); ++part) {
      for (std::uint64_t block = 0; block < blocks_; ++block) {
        std::uint64_t& place = places_[(block << bits_) + part];
        next += std::exchange(place, next);
      }
      ends_[part] = next;
    }
  }

  std::size_t parts() const { return std::size_t{1} << bits_; }
  std::uint64_t begin(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }
  std::uint64_t end(std::size_t part) const { return ends_[part]; }
  std::size_t part_of(Key hash) const {
    // A shift by all bits is none.
    return static_cast<std::size_t>(hash >> 1 >> (8 * sizeof(Key) - 1 - bits_));
  }
  // Rows that are in a part.
  std::uint64_t size() const { return ends_[parts() - 1]; }

  // Writes the hashes of the parts, one part after the other, and the rows unless they are null.
  template <class RowId>
  void divide(const context& on, Key* hashes, RowId* rows) const {
    if (bits_ == 0) return copy(hashes, rows);
    for_each_block([&](const std::uint64_t* begins, std::uint64_t begin, std::uint64_t end) {
      buffer<std::uint64_t> next(on, parts());
      std::copy_n(begins, parts(), next.data());
      place_lines<Key> hash_lines(on, parts());
      place_lines<RowId> row_lines(on, rows == nullptr ? 0 : parts());
      from_.for_each(
          begin, end,
          [&](std::uint64_t i, Key hash) {
            const std::size_t part = part_of(hash);
            const std::uint64_t at = next[part]++;
            hash_lines.put(part, hashes, begins[part], at, hash);
            if (rows != nullptr) {
              row_lines.put(part, rows, begins[part], at, static_cast<RowId>(i));
            }
          },
          [](std::uint64_t) {});
      for (std::size_t part = 0; part < parts(); ++part) {
        hash_lines.finish(part, hashes, begins[part], next[part]);
        if (rows != nullptr) row_lines.finish(part, rows, begins[part], next[part]);
      }
      _mm_sfence();  // other threads read it
    });
  }

  // Calls f(i, part, place) for each row that is in a part, in their order within blocks, and
  // missing(i) for the others.
  template <class Found, class Missing>
  void for_each_in_order(const context& on, const Found& f, const Missing& missing) const {
    for_each_block([&](const std::uint64_t* begins, std::uint64_t begin, std::uint64_t end) {
      buffer<std::uint64_t> next(on, parts());
      std::copy_n(begins, parts(), next.data());
      from_.for_each(
          begin, end,
          [&](std::uint64_t i, Key hash) {
            const std::size_t part = part_of(hash);
            f(i, part, next[part]++);
          },
          missing);
    });
  }

 private:
  // What `divide` does with one part.
  template <class RowId>
  void copy(Key* hashes, RowId* rows) const {
    for_each_block([&](const std::uint64_t* begins, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t at = begins[0];
      from_.for_each(
          begin, end,
          [&](std::uint64_t i, Key hash) {
            hashes[at] = hash;
            if (rows != nullptr) rows[at] = static_cast<RowId>(i);
            ++at;
          },
          [](std::uint64_t) {});
    });
  }

  // Calls f(places, begin, end) for blocks of rows.
  template <class F>
  void for_each_block(const F& f) const {
    for_each_part(blocks_, [&](std::uint64_t block) {
      f(const_cast<std::uint64_t*>(places_.data()) + (block << bits_), block * rows_of_block_,
        std::min(from_.size(), (block + 1) * rows_of_block_));
    });
  }

  hashed_column<Key> from_;
  unsigned bits_;
  std::uint64_t rows_of_block_;
  std::uint64_t blocks_;
  buffer<std::uint64_t> places_;  // where each block puts its first row of each part
  buffer<std::uint64_t> ends_;    // of parts
};

}  // namespace raydex::cpu
