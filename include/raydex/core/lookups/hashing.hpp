// SPDX-License-Identifier: Apache-2.0
/// @file
/// Buckets of hash tables: how entries lie in cache lines, and, with open addressing, which buckets
/// a key may be in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"

namespace raydex::core {

/// Spreads keys over all numbers of their width, each to another one: what a table holds in the
/// place of keys. The finalisers of MurmurHash3, by A. Appleby, with multipliers of the table's
/// own. Whoever does not know the second one cannot choose two keys that begin with the same k bits
/// more often than in one of 2^(k - 1) tables: what comes after it leaves the highest bits a
/// function of themselves (multiply-shift: Dietzfelbinger and others, 1997).
template <class Key>
struct hash_function;

/// That of 32 bits.
template <>
struct hash_function<std::uint32_t> {
  static constexpr unsigned outer = 16;  ///< bits of the first and the last shift
  static constexpr unsigned inner = 13;  ///< bits of the one between multiplications

  std::uint32_t first = 0x85eb'ca6b;   ///< what is multiplied with first; odd
  std::uint32_t second = 0xc2b2'ae35;  ///< what is multiplied with then; odd

  /// The hash of a key.
  RAYDEX_HD constexpr std::uint32_t operator()(std::uint32_t key) const {
    key ^= key >> outer;
    key *= first;
    key ^= key >> inner;
    key *= second;
    return key ^ key >> outer;
  }
};
/// That of 64 bits.
template <>
struct hash_function<std::uint64_t> {
  static constexpr unsigned outer = 33;  ///< likewise
  static constexpr unsigned inner = 33;  ///< likewise

  std::uint64_t first = 0xff51'afd7'ed55'8ccd;   ///< likewise
  std::uint64_t second = 0xc4ce'b9fe'1a85'ec53;  ///< likewise

  /// The hash of a key.
  RAYDEX_HD constexpr std::uint64_t operator()(std::uint64_t key) const {
    key ^= key >> outer;
    key *= first;
    key ^= key >> inner;
    key *= second;
    return key ^ key >> outer;
  }
};

/// The hash function of a seed.
template <class Key>
RAYDEX_HD constexpr hash_function<Key> hash_by(std::uint64_t seed) {
  constexpr unsigned left_out = 64 - 8 * sizeof(Key);
  constexpr hash_function<std::uint64_t> mix;
  constexpr std::uint64_t step = 0x9e37'79b9'7f4a'7c15;  // of SplitMix64
  return {static_cast<Key>(mix(seed + step) >> left_out | 1),
          static_cast<Key>(mix(seed + 2 * step) >> left_out | 1)};
}

/// The key that has a hash.
template <class Key>
RAYDEX_HD constexpr Key key_of(const hash_function<Key>& function, Key hash) {
  const auto unshift = [](Key all, unsigned shift) {
    for (unsigned known = shift; known < 8 * sizeof(Key); known *= 2)
      all ^= all >> known;
    return all;
  };
  // Newton's iteration doubles the bits that are right, three at first.
  const auto divide = [](Key all, Key odd) {
    Key inverse = odd;
    for (unsigned right = 3; right < 8 * sizeof(Key); right *= 2)
      inverse *= 2 - odd * inverse;
    return static_cast<Key>(all * inverse);
  };
  hash = divide(unshift(hash, function.outer), function.second);
  hash = divide(unshift(hash, function.inner), function.first);
  return unshift(hash, function.outer);
}

/// Which of `homes` buckets a hash belongs to: a larger hash belongs to no smaller one.
RAYDEX_HD constexpr std::uint32_t home_of(std::uint32_t hash, std::uint32_t homes) {
  return static_cast<std::uint32_t>(std::uint64_t{hash} * homes >> 32);
}
/// The same for 64 bits.
RAYDEX_HD constexpr std::uint32_t home_of(std::uint64_t hash, std::uint32_t homes) {
  return home_of(static_cast<std::uint32_t>(hash >> 32), homes);
}

/// The buckets that a key may be in, one after the other.
enum class hash_placement : std::uint8_t {
  linear,  ///< its own, and those after it
  jumps,   ///< its own, and those at a distance that the key chooses: double hashing
  choices  ///< the emptier one of two, and those at such a distance from the second
};

/// Which buckets a hash may be in; unless they are `linear`, `count` is a prime.
struct bucket_sequence {
  hash_placement placement = hash_placement::linear;  ///< how they follow
  std::uint32_t homes = 1;                            ///< buckets that a hash may be the first in
  std::uint32_t count = 1;                            ///< all buckets; homes and some more
  std::uint32_t farthest = 1;  ///< steps from its first one in which a hash may be

  /// The first one.
  template <class Key>
  RAYDEX_HD std::uint32_t home(Key hash) const {
    return home_of(hash, homes);
  }

  /// The one after `bucket`, which is the `step`-th, from 0.
  template <class Key>
  RAYDEX_HD std::uint32_t after(std::uint32_t bucket, std::uint32_t step, Key hash) const {
    if (placement == hash_placement::choices && step == 0) return second(hash);
    const std::uint64_t distance = placement == hash_placement::linear ? 1 : jump(hash);
    const std::uint64_t next = bucket + distance;
    return static_cast<std::uint32_t>(next < count ? next : next - count);
  }

 private:
  // Bits that do not follow from those that choose the first bucket.
  template <class Key>
  RAYDEX_HD static std::uint32_t other_bits(Key hash) {
    return hash_function<std::uint32_t>{}(static_cast<std::uint32_t>(hash) * 0x9e37'79b1U +
                                          0x7f4a'7c15U);
  }
  template <class Key>
  RAYDEX_HD std::uint32_t jump(Key hash) const {
    return count < 2 ? 0 : 1 + home_of(other_bits(hash), count - 1);
  }
  template <class Key>
  RAYDEX_HD std::uint32_t second(Key hash) const {
    return home_of(other_bits(hash), homes);
  }
};

/// Buckets of `Bytes` bytes each. A slot holds a hash and a row id; where these are of different
/// widths, the wider ones of a bucket come first. A slot without an entry has the largest row id:
/// with the largest hash it was never used, with hash 0 its entry was erased. Never used slots are
/// behind all others of their bucket. The last word of a `Linked` one is the number of the bucket
/// that it goes on in, or 0.
template <class Key, class RowId, unsigned Bytes, bool Linked = false>
struct hash_buckets {
  using key_type = Key;       ///< a hash
  using row_id_type = RowId;  ///< a row id

  static constexpr unsigned words = Bytes / 4;  ///< of a bucket
  /// Slots of a bucket.
  static constexpr unsigned slots = (Bytes - (Linked ? 4 : 0)) / (sizeof(Key) + sizeof(RowId));
  static constexpr unsigned used_words = slots * (sizeof(Key) + sizeof(RowId)) / 4;  ///< by slots
  static constexpr RowId none = std::numeric_limits<RowId>::max();                   ///< no row id
  static constexpr Key never = std::numeric_limits<Key>::max();  ///< of slots never used

  std::uint32_t* first = nullptr;  ///< the first bucket, aligned to a bucket

  /// The word of a bucket where the hash of a slot begins.
  RAYDEX_HD static constexpr unsigned key_word(unsigned slot) {
    constexpr unsigned key_words = sizeof(Key) / 4;
    if constexpr (sizeof(Key) == sizeof(RowId)) return 2 * key_words * slot;
    return key_words * slot + (sizeof(Key) < sizeof(RowId) ? 2 * slots : 0);
  }
  /// The word of a bucket where the row id of a slot begins.
  RAYDEX_HD static constexpr unsigned row_word(unsigned slot) {
    constexpr unsigned row_words = sizeof(RowId) / 4;
    if constexpr (sizeof(Key) == sizeof(RowId)) return row_words * (2 * slot + 1);
    return row_words * slot + (sizeof(RowId) < sizeof(Key) ? 2 * slots : 0);
  }

  /// A bucket.
  RAYDEX_HD std::uint32_t* at(std::uint32_t bucket) const {
    return first + std::uint64_t{bucket} * words;
  }
  /// The hash of a slot.
  RAYDEX_HD Key key(std::uint32_t bucket, unsigned slot) const {
    return *reinterpret_cast<const Key*>(at(bucket) + key_word(slot));
  }
  /// Where the row id of a slot is.
  RAYDEX_HD RowId* row(std::uint32_t bucket, unsigned slot) const {
    return reinterpret_cast<RowId*>(at(bucket) + row_word(slot));
  }
  /// Writes the hash of a slot.
  RAYDEX_HD void put_key(std::uint32_t bucket, unsigned slot, Key hash) const {
    *reinterpret_cast<Key*>(at(bucket) + key_word(slot)) = hash;
  }
  /// Writes a slot, and with the last one what is left of the bucket.
  RAYDEX_HD void put(std::uint32_t bucket, unsigned slot, Key hash, RowId row_id) const {
    put_key(bucket, slot, hash);
    *row(bucket, slot) = row_id;
    if constexpr (used_words < words) {
      if (slot + 1 != slots) return;
      for (unsigned word = used_words; word < words - (Linked ? 1 : 0); ++word)
        at(bucket)[word] = 0;
    }
  }
  /// Where a bucket says which one it goes on in.
  RAYDEX_HD std::uint32_t* link(std::uint32_t bucket) const requires Linked {
    return at(bucket) + (words - 1);
  }
};

/// What a bucket says of a hash.
template <class RowId>
struct bucket_answer {
  RowId row;      ///< of its entry, or the largest number
  unsigned slot;  ///< of its entry, if there is one
};

/// A bucket that was read.
template <class Buckets>
struct bucket_copy {
  using buckets = Buckets;                            ///< where it is from
  using key_type = typename buckets::key_type;        ///< a hash
  using row_id_type = typename buckets::row_id_type;  ///< a row id

  std::uint32_t word[buckets::words];  ///< all of it

  /// Reads a bucket.
  RAYDEX_HD explicit bucket_copy(const std::uint32_t* from) { load_words(from, word); }
  /// Looks for a hash, which at most one slot holds.
  RAYDEX_HD bucket_answer<row_id_type> find(key_type hash) const {
    bucket_answer<row_id_type> answer{buckets::none, 0};
    RAYDEX_UNROLL
    for (unsigned slot = 0; slot < buckets::slots; ++slot) {
      const auto row = number_of<row_id_type>(word + buckets::row_word(slot));
      if (number_of<key_type>(word + buckets::key_word(slot)) == hash && row != buckets::none)
        answer = {row, slot};
    }
    return answer;
  }
  /// The hash of the last slot.
  RAYDEX_HD key_type last() const {
    return number_of<key_type>(word + buckets::key_word(buckets::slots - 1));
  }
  /// Whether the last slot was never used.
  RAYDEX_HD bool has_room() const {
    return last() == buckets::never &&
           number_of<row_id_type>(word + buckets::row_word(buckets::slots - 1)) == buckets::none;
  }
  /// The bucket that a linked one goes on in, or 0.
  RAYDEX_HD std::uint32_t link() const { return word[buckets::words - 1]; }
};

}  // namespace raydex::core
