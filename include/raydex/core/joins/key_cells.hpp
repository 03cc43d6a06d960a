// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys of several columns: laid side by side, hashed, compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/hashing.hpp"

namespace raydex::core {

/// A column of a key: numbers and short byte strings as cells, or strings of any length.
struct key_cells {
  cells fixed;                    ///< its cells; of strings only the validity
  const char* bytes = nullptr;    ///< of strings
  const void* offsets = nullptr;  ///< where each string begins
  bool wide_offsets = false;      ///< whether these have 64 bits
  bool is_strings = false;        ///< whether the column is of strings
  std::uint64_t size = 0;         ///< of strings, how many

  /// The bits of a code; not of strings.
  RAYDEX_HD constexpr unsigned bits() const { return 8U * fixed.format.width; }
  /// The code of cell `i`, in its lower bits, in the order of keys.
  RAYDEX_HD std::uint64_t code(std::uint64_t i) const {
    const std::uint64_t cells[1] = {i};
    const bool wanted[1] = {true};
    std::uint64_t all[1];
    codes(cells, wanted, all);
    return all[0];
  }
  /// The codes of the cells that are wanted, and any of the others, which are not read. All are
  /// under way at a time, and their format is looked at once.
  template <std::size_t N>
  RAYDEX_HD void codes(const std::uint64_t (&cells)[N], const bool (&wanted)[N],
                       std::uint64_t (&all)[N]) const {
    fixed.format.encoded_bits() == 32 ? encode<std::uint32_t>(cells, wanted, all)
                                      : encode<std::uint64_t>(cells, wanted, all);
  }
  /// Where string `i` begins.
  RAYDEX_HD std::uint64_t begin(std::uint64_t i) const {
    return wide_offsets ? load(static_cast<const std::uint64_t*>(offsets) + i)
                        : load(static_cast<const std::uint32_t*>(offsets) + i);
  }

 private:
  template <class Code, std::size_t N>
  RAYDEX_HD void encode(const std::uint64_t (&cells)[N], const bool (&wanted)[N],
                        std::uint64_t (&all)[N]) const {
    const encoded_column<Code> from{fixed};
    Code read[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      read[j] = wanted[j] ? from.raw(cells[j]) : 0;
    from.encode_all(read);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      all[j] = read[j] >> (8 * sizeof(Code) - bits());
  }
};

/// Calls f(code) with a function from a cell's number to its code that knows the type of the cells,
/// so that loops over it do not look at it again. False where cells do not lie side by side, or are
/// byte strings.
template <class F>
RAYDEX_HD bool with_typed_codes(const cells& from, const F& f) {
  if (from.stride != from.format.width) return false;
  const auto call = [&]<class T>(T /*type*/) {
    f([all = reinterpret_cast<const T*>(from.data)](std::uint64_t i) { return encode(all[i]); });
    return true;
  };
  switch (from.format.type) {
    case key_type::uint32:
      return call(std::uint32_t{});
    case key_type::uint64:
      return call(std::uint64_t{});
    case key_type::int32:
      return call(std::int32_t{});
    case key_type::int64:
      return call(std::int64_t{});
    case key_type::float32:
      return call(float{});
    case key_type::float64:
      return call(double{});
    case key_type::bytes:
      break;
  }
  return false;
}

/// The bytes of a string of a column.
struct string_cell {
  const char* bytes;       ///< the first one
  std::uint64_t size;      ///< how many
  const char* end_of_all;  ///< of all strings

  /// String `i` of a column.
  RAYDEX_HD string_cell(const key_cells& strings, std::uint64_t i)
      : bytes(strings.bytes + strings.begin(i)),
        size(strings.begin(i + 1) - strings.begin(i)),
        end_of_all(strings.bytes + strings.begin(strings.size)) {}
  /// One of some bytes.
  RAYDEX_HD string_cell(const char* first, std::uint64_t count, const char* end)
      : bytes(first), size(count), end_of_all(end) {}

  /// The bytes from `at` on, of up to 8, as a number in their order: the first one highest, and
  /// zeros behind the last one.
  RAYDEX_HD std::uint64_t word(std::uint64_t at) const {
    if (at >= size) return 0;
#if defined(__CUDA_ARCH__)
    return reverse_bytes(up_to_8_bytes(at));
#else
    if (size - at >= 8) return reverse_bytes(number<std::uint64_t>(bytes + at));
    std::uint64_t all = 0;
    for (std::uint64_t i = at; i < size; ++i)
      all |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (56 - 8 * (i - at));
    return all;
#endif
  }

#if defined(__CUDA_ARCH__)
  /// A number made of the bytes from `at` on, of up to 8. Words are read that are aligned; if one
  /// goes beyond the last string, its bytes.
  __device__ std::uint64_t up_to_8_bytes(std::uint64_t at) const {
    const unsigned taken = size - at < 8 ? static_cast<unsigned>(size - at) : 8;
    const auto address = reinterpret_cast<std::uintptr_t>(bytes + at);
    const auto before = static_cast<unsigned>(address % 8);
    const auto* const words = reinterpret_cast<const std::uint64_t*>(address - before);
    const bool two = before + taken > 8;
    std::uint64_t all = 0;
    if (reinterpret_cast<const char*>(words + (two ? 2 : 1)) > end_of_all) {
      for (unsigned i = 0; i < taken; ++i)
        all |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
      return all;
    }
    all = load(words) >> 8 * before;
    if (two) all |= load(words + 1) << (64 - 8 * before);
    return taken == 8 ? all : all & ((std::uint64_t{1} << 8 * taken) - 1);
  }
#else
  /// A number made of the bytes from `at` on, of up to 8; of strings of one size another one for
  /// other bytes. The last bytes are read again with those before them, since short strings are
  /// common, and a call of memcpy takes longer.
  std::uint64_t up_to_8_bytes(std::uint64_t at) const {
    const char* const from = bytes + at;
    const std::uint64_t left = size - at;
    if (left >= 8) return number<std::uint64_t>(from);
    if (left >= 4)
      return std::uint64_t{number<std::uint32_t>(from)} << 32 |
             number<std::uint32_t>(from + left - 4);
    const auto byte = [&](std::uint64_t i) {
      return std::uint64_t{static_cast<unsigned char>(from[i])};
    };
    return byte(0) << 16 | byte(left / 2) << 8 | byte(left - 1);
  }

 private:
  template <class Number>
  static Number number(const char* from) {
    Number all;
    std::memcpy(&all, from, sizeof all);
    return all;
  }
#endif
};

/// The columns of a key.
struct composite_cells {
  static constexpr unsigned most = 18;  ///< columns: those of a key, and of two values beside it

  key_cells parts[most];  ///< the first one highest
  unsigned count = 0;     ///< how many
  bool missing_equal =
      false;  ///< whether missing values are equal; else what has one matches nothing

  /// Bits of all columns side by side; more than 64 where that cannot be.
  constexpr unsigned bits() const {
    unsigned all = 0;
    for (unsigned p = 0; p < count; ++p) {
      if (parts[p].is_strings) return 65;
      all += parts[p].bits() + (missing_equal ? 1 : 0);
    }
    return all;
  }

  /// Key `i` as a number: columns side by side, in the order of keys. A missing value comes first.
  RAYDEX_HD std::uint64_t packed(std::uint64_t i) const {
    std::uint64_t all = 0;
    for (unsigned p = 0; p < count; ++p) {
      const key_cells& part = parts[p];
      const bool valid = part.fixed.valid(i);
      const std::uint64_t code = valid ? part.code(i) : 0;
      if (missing_equal) all = all << 1 | (valid ? 1 : 0);
      all = part.bits() == 64 ? code : all << part.bits() | code;
    }
    return all;
  }

  /// Whether key `i` has all its values.
  RAYDEX_HD bool complete(std::uint64_t i) const {
    for (unsigned p = 0; p < count; ++p)
      if (!parts[p].fixed.valid(i)) return false;
    return true;
  }

  /// A hash of key `i`.
  RAYDEX_HD std::uint64_t hash(std::uint64_t i, const hash_function<std::uint64_t>& mix) const {
    const std::uint64_t keys[1] = {i};
    std::uint64_t all[1];
    hash(keys, mix, all);
    return all[0];
  }
  /// The same of a few keys, which are under way at a time.
  template <std::size_t N>
  RAYDEX_HD void hash(const std::uint64_t (&keys)[N], const hash_function<std::uint64_t>& mix,
                      std::uint64_t (&all)[N]) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      all[j] = mix.first;
    for (unsigned p = 0; p < count; ++p) {
      const key_cells& part = parts[p];
      bool valid[N];
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        valid[j] = part.fixed.valid(keys[j]);
      std::uint64_t codes[N] = {};
      if (!part.is_strings) part.codes(keys, valid, codes);
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j) {
        if (!valid[j]) {
          all[j] = mix(all[j] + 1);
        } else if (!part.is_strings) {
          all[j] = mix(mix(all[j] + 2) ^ codes[j]);
        } else {
          all[j] = hash_string(part, keys[j], mix, all[j] + 2);
        }
      }
    }
  }

  /// Makes `are_equal[j]` false if key j differs from the other one, of columns of the same
  /// formats. Keys that it is false of are not looked at.
  template <std::size_t N>
  RAYDEX_HD void compare(const std::uint64_t (&keys)[N], const composite_cells& others,
                         const std::uint64_t (&other_keys)[N], bool (&are_equal)[N]) const {
    for (unsigned p = 0; p < count; ++p) {
      const key_cells& a = parts[p];
      const key_cells& b = others.parts[p];
      bool valid[N];  // both, and not known to differ
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j) {
        valid[j] = are_equal[j] && a.fixed.valid(keys[j]);
        if (are_equal[j])
          are_equal[j] = valid[j] == b.fixed.valid(other_keys[j]) && (valid[j] || missing_equal);
        valid[j] = valid[j] && are_equal[j];
      }
      if (a.is_strings) {
        RAYDEX_UNROLL
        for (std::size_t j = 0; j < N; ++j)
          if (valid[j]) are_equal[j] = equal_strings(a, keys[j], b, other_keys[j]);
      } else {
        std::uint64_t codes[N];
        std::uint64_t other_codes[N];
        a.codes(keys, valid, codes);
        b.codes(other_keys, valid, other_codes);
        RAYDEX_UNROLL
        for (std::size_t j = 0; j < N; ++j)
          if (valid[j]) are_equal[j] = codes[j] == other_codes[j];
      }
    }
  }
  /// Whether key `i` equals a key of columns of the same formats.
  RAYDEX_HD bool equal(std::uint64_t i, const composite_cells& others, std::uint64_t other) const {
    const std::uint64_t keys[1] = {i};
    const std::uint64_t other_keys[1] = {other};
    bool are_equal[1] = {true};
    compare(keys, others, other_keys, are_equal);
    return are_equal[0];
  }

 private:
  RAYDEX_HD static std::uint64_t hash_string(const key_cells& part, std::uint64_t i,
                                             const hash_function<std::uint64_t>& mix,
                                             std::uint64_t before) {
    const string_cell own(part, i);
    std::uint64_t all = mix(before ^ own.size);
    for (std::uint64_t at = 0; at < own.size; at += 8)
      all = mix(all ^ own.up_to_8_bytes(at));
    return all;
  }
  RAYDEX_HD static bool equal_strings(const key_cells& a, std::uint64_t i, const key_cells& b,
                                      std::uint64_t other) {
    const string_cell own(a, i);
    const string_cell others(b, other);
    if (own.size != others.size) return false;
    for (std::uint64_t at = 0; at < own.size; at += 8)
      if (own.up_to_8_bytes(at) != others.up_to_8_bytes(at)) return false;
    return true;
  }
};

/// Writes keys as numbers.
template <class Key>
struct put_packed_keys {
  composite_cells from;  ///< the columns
  Key* out;              ///< a number a key
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = static_cast<Key>(from.packed(i)); }
};

/// Writes hashes of keys.
struct put_key_hashes {
  composite_cells from;              ///< the columns
  hash_function<std::uint64_t> mix;  ///< which of many hashes
  std::uint64_t* out;                ///< a hash a key
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { some<1>(i, 1, i + 1); }
  /// Writes N of them `step` apart, but none from `end` on.
  template <std::size_t N>
  RAYDEX_HD void some(std::uint64_t begin, std::uint64_t step, std::uint64_t end) const {
    if (begin >= end) return;
    std::uint64_t keys[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      keys[j] = begin + j * step < end ? begin + j * step : begin;
    std::uint64_t all[N];
    from.hash(keys, mix, all);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      if (begin + j * step < end) out[begin + j * step] = all[j];
  }
};

/// Writes which keys have all their values, eight a byte.
struct put_validity {
  composite_cells from;  ///< the columns
  std::uint64_t size;    ///< how many keys
  std::uint8_t* out;     ///< a bit a key
  /// Writes byte `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    unsigned bits = 0xff;
    for (unsigned p = 0; p < from.count; ++p)
      if (from.parts[p].fixed.validity != nullptr)
        bits &= from.parts[p].fixed.valid_bits(i * 8, size);
    out[i] = static_cast<std::uint8_t>(bits);
  }
};

/// Counts the keys that differ from the first one of the same hash.
template <class RowId>
struct count_different_keys {
  composite_cells keys;    ///< the columns
  const RowId* firsts;     ///< the first row of the hash of each, or the largest number
  spread_count different;  ///< 0 at first
  /// Looks at one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const RowId first = firsts[i];
    const bool differs =
        first != static_cast<RowId>(-1) && first != i && !keys.equal(i, keys, first);
    different.add(i, differs ? 1 : 0);
  }
};

/// Takes from probes the matches whose hash is equal, and whose key is not. `counts` is null where
/// no probe has more than one match.
template <class RowId>
struct drop_different_keys {
  composite_cells probes;             ///< their columns
  composite_cells keys;               ///< the columns of the build side
  RowId* begins;                      ///< as of `located_probes`
  RowId* counts;                      ///< likewise
  const RowId* list;                  ///< likewise
  const RowId* probe_rows = nullptr;  ///< likewise
  /// The probe row of a probe.
  RAYDEX_HD std::uint64_t probe_row(std::uint64_t i) const {
    return probe_rows == nullptr ? i : probe_rows[i];
  }
  /// Looks at one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const RowId begin = begins[i];
    if (counts == nullptr) {
      if (begin != static_cast<RowId>(-1) && !probes.equal(probe_row(i), keys, begin))
        begins[i] = static_cast<RowId>(-1);
    } else if (const RowId count = counts[i]; count != 0) {
      // All rows of a hash have one key.
      if (!probes.equal(probe_row(i), keys, count == 1 ? begin : load(list + begin))) counts[i] = 0;
    }
  }
};

}  // namespace raydex::core
