// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys of several columns: laid side by side, hashed, compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

  /// The bits of a code; not of strings.
  RAYDEX_HD constexpr unsigned bits() const { return 8U * fixed.format.width; }
  /// The code of cell `i`, in its lower bits, in the order of keys.
  RAYDEX_HD std::uint64_t code(std::uint64_t i) const {
    if (fixed.format.encoded_bits() == 32)
      return encoded_column<std::uint32_t>{fixed}[i] >> (32 - bits());
    return encoded_column<std::uint64_t>{fixed}[i] >> (64 - bits());
  }
  /// Where string `i` begins.
  RAYDEX_HD std::uint64_t begin(std::uint64_t i) const {
    return wide_offsets ? load(static_cast<const std::uint64_t*>(offsets) + i)
                        : load(static_cast<const std::uint32_t*>(offsets) + i);
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
    std::uint64_t all = mix.first;
    for (unsigned p = 0; p < count; ++p) {
      const key_cells& part = parts[p];
      if (!part.fixed.valid(i)) {
        all = mix(all + 1);
      } else if (!part.is_strings) {
        all = mix(mix(all + 2) ^ part.code(i));
      } else {
        all = hash_string(part, i, mix, all + 2);
      }
    }
    return all;
  }

  /// Whether key `i` equals a key of columns of the same formats.
  RAYDEX_HD bool equal(std::uint64_t i, const composite_cells& others, std::uint64_t other) const {
    for (unsigned p = 0; p < count; ++p) {
      const key_cells& a = parts[p];
      const key_cells& b = others.parts[p];
      const bool valid = a.fixed.valid(i);
      if (valid != b.fixed.valid(other) || (!valid && !missing_equal)) return false;
      if (!valid) continue;
      if (a.is_strings ? !equal_strings(a, i, b, other) : a.code(i) != b.code(other)) return false;
    }
    return true;
  }

 private:
  RAYDEX_HD static std::uint64_t hash_string(const key_cells& part, std::uint64_t i,
                                             const hash_function<std::uint64_t>& mix,
                                             std::uint64_t before) {
    const std::uint64_t begin = part.begin(i);
    const std::uint64_t size = part.begin(i + 1) - begin;
    std::uint64_t all = mix(before ^ size);
    for (std::uint64_t at = 0; at < size; at += 8) {
      const std::uint64_t left = size - at;
      all = mix(all ^ up_to_8_bytes(part.bytes + begin + at, left));
    }
    return all;
  }
  RAYDEX_HD static bool equal_strings(const key_cells& a, std::uint64_t i, const key_cells& b,
                                      std::uint64_t other) {
    const std::uint64_t begin = a.begin(i);
    const std::uint64_t other_begin = b.begin(other);
    const std::uint64_t size = a.begin(i + 1) - begin;
    if (size != b.begin(other + 1) - other_begin) return false;
#if defined(__CUDA_ARCH__)
    for (std::uint64_t at = 0; at < size; ++at)
      if (a.bytes[begin + at] != b.bytes[other_begin + at]) return false;
    return true;
#else
    // The last bytes again with those before them, since short strings are common, and a call of
    // memcmp takes longer.
    std::uint64_t at = 0;
    for (; at + 8 < size; at += 8)
      if (bytes_at<std::uint64_t>(a.bytes + begin + at) !=
          bytes_at<std::uint64_t>(b.bytes + other_begin + at))
        return false;
    return up_to_8_bytes(a.bytes + begin + at, size - at) ==
           up_to_8_bytes(b.bytes + other_begin + at, size - at);
#endif
  }

  /// A number made of the first bytes of a string, of up to 8; of strings of one size another one
  /// for other bytes.
  RAYDEX_HD static std::uint64_t up_to_8_bytes(const char* text, std::uint64_t size) {
#if defined(__CUDA_ARCH__)
    return encode_bytes<std::uint64_t>(text, size < 8 ? static_cast<int>(size) : 8);
#else
    if (size >= 8) return bytes_at<std::uint64_t>(text);
    if (size >= 4) {
      // Some bytes are in both.
      return std::uint64_t{bytes_at<std::uint32_t>(text)} << 32 |
             bytes_at<std::uint32_t>(text + size - 4);
    }
    if (size == 0) return 0;
    const auto byte = [&](std::uint64_t i) {
      return std::uint64_t{static_cast<unsigned char>(text[i])};
    };
    return byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
#endif
  }
#if !defined(__CUDA_ARCH__)
  template <class Number>
  static Number bytes_at(const char* text) {
    Number bytes;
    std::memcpy(&bytes, text, sizeof bytes);
    return bytes;
  }
#endif
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
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = from.hash(i, mix); }
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
