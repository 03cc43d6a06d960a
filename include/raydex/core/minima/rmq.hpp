// SPDX-License-Identifier: Apache-2.0
/// @file
/// What all structures for range minima share: the order of values, arrays of them, and reading
/// ranges.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// The type that values are ordered as: unsigned integers as signed ones.
template <class T>
using ordered_as = typename std::conditional_t<std::is_integral_v<T>, std::make_signed<T>,
                                               std::type_identity<T>>::type;

/// The type that they are compared as where fewer kinds of kernels are worth more than a step for
/// each value: `double`, too, by its code. `float` is compared as it is: its codes took 3 % longer
/// for small ranges, and 7 % for a build, on an H100.
template <class T>
using compared_as = std::conditional_t<std::is_same_v<T, double>, std::int64_t, ordered_as<T>>;

/// @name Floating numbers of 32 or 64 bits, `Word`, as signed integers of the same order. Zeros are
/// one, NaN the largest integer.
/// @{

/// The bits of infinity.
template <class Word>
inline constexpr Word infinity_bits = sizeof(Word) == 4 ? static_cast<Word>(0x7f80'0000)
                                                        : static_cast<Word>(0x7ff0'0000'0000'0000);
/// The bit that only negative numbers have.
template <class Word>
inline constexpr Word sign_bit = Word{1} << (8 * sizeof(Word) - 1);

/// The integer of a number.
template <class Word>
RAYDEX_HD constexpr Word order_of_bits(Word bits) {
  const Word size = bits & ~sign_bit<Word>;
  if (size > infinity_bits<Word>) return ~sign_bit<Word>;
  return (bits & sign_bit<Word>) != 0 ? Word{0} - size : size;
}
/// The number of an integer; of those that no number has, NaN.
template <class Word>
RAYDEX_HD constexpr Word bits_of_order(Word order) {
  const bool is_negative = (order & sign_bit<Word>) != 0;
  const Word size = is_negative ? Word{0} - order : order;
  if (size > infinity_bits<Word>) return infinity_bits<Word> | (infinity_bits<Word> >> 1);
  return is_negative ? size | sign_bit<Word> : size;
}
/// @}

/// @name The order of values: `float`, `double`, `std::int32_t` or `std::int64_t`. NaN comes after
/// everything. Unsigned integers are compared as signed ones, their top bit flipped; floating
/// numbers may be, by their codes. For maxima all are integers in the opposite order, so that NaN
/// comes first.
/// @{

/// Nothing comes after it, so that a minimum of nothing can start from it.
template <class Value>
RAYDEX_HD constexpr Value last_value() {
  if constexpr (std::is_floating_point_v<Value>) {
    return std::numeric_limits<Value>::quiet_NaN();
  } else {
    return std::numeric_limits<Value>::max();
  }
}

/// Whether it is NaN; integers never are.
template <class Value>
RAYDEX_HD constexpr bool is_nan(Value value) {
  return value != value;  // NOLINT(misc-redundant-expression)
}

/// Whether `a` comes before `b`.
template <class Value>
RAYDEX_HD constexpr bool less(Value a, Value b) {
  if constexpr (std::is_floating_point_v<Value>) {
    return a < b || (is_nan(b) && !is_nan(a));
  } else {
    return a < b;
  }
}

/// The one that comes first; of equal ones, either.
template <class Value>
RAYDEX_HD inline Value smaller(Value a, Value b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Value, float>) return fminf(a, b);
  if constexpr (std::is_same_v<Value, double>) return fmin(a, b);
#endif
  return less(b, a) ? b : a;
}
/// @}

/// The longest array whose places have 32 bits. A range of a longer one may need a table of
/// `rmq_cover` whose intervals have 2^32 places.
inline constexpr std::uint64_t most_narrow_values =
    (std::uint64_t{1} << 32) - (std::uint64_t{1} << 23);

/// A minimum and its place.
template <class Value, class Place>
struct placed_minimum {
  Value value = last_value<Value>();  ///< the smallest value
  Place place = 0;                    ///< where it is
};

/// 16 bytes of values, which are read at once.
template <class Value>
struct alignas(16) value_pack {
  static constexpr unsigned size = 16 / sizeof(Value);  ///< values in it
  Value at[size];                                       ///< the values
};

/// Reads 8 or 16 bytes at once.
template <class T>
RAYDEX_HD inline T load_whole(const T* address) {
  constexpr std::size_t bytes = sizeof(T);
  static_assert((bytes == 8 || bytes == 16) && alignof(T) == bytes);
#if defined(__CUDA_ARCH__)
  using word = std::conditional_t<sizeof(T) == 8, int2, int4>;
  const word bits = __ldg(reinterpret_cast<const word*>(address));
  T read;
  __builtin_memcpy(&read, &bits, sizeof read);
  return read;
#else
  return *address;
#endif
}

/// A user's array. A *place* is a position counted from the 16-byte boundary at or before the first
/// value, so that packs begin at places that are multiples of their size.
template <class Value>
class value_array {
 public:
  /// The integer whose bits a value has.
  using word = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;

  /// No values.
  value_array() = default;
  /// `size` values at `values` of this type; in the opposite order if `is_reversed`, which only
  /// integers are.
  value_array(const void* values, std::uint64_t size, key_type type, bool is_reversed)
      : coded_(std::is_integral_v<Value> &&
               (type == key_type::float32 || type == key_type::float64)) {
    if (type == key_type::uint32 || type == key_type::uint64) flip_ ^= sign_bit<word>;
    if (is_reversed) flip_ ^= ~word{0};
    const auto address = reinterpret_cast<std::uintptr_t>(values);
    first_ = address % 16 / sizeof(Value);
    end_ = first_ + size;
    data_ = static_cast<const Value*>(values) - first_;
  }

  /// The first place that holds a value.
  RAYDEX_HD std::uint64_t first() const { return first_; }
  /// The place after the last value.
  RAYDEX_HD std::uint64_t end() const { return end_; }
  /// How many values there are.
  RAYDEX_HD std::uint64_t size() const { return end_ - first_; }

  /// The value at a place.
  RAYDEX_HD Value operator[](std::uint64_t place) const { return ordered(load(data_ + place)); }
  /// The pack of this number; what is not in the array is the last value.
  template <class Place>
  RAYDEX_HD value_pack<Value> pack(Place number) const {
    constexpr unsigned size = value_pack<Value>::size;
    const Place begin = number * size;
    if (is_whole(number)) return whole_pack(number);
    value_pack<Value> read;
    RAYDEX_UNROLL
    for (unsigned i = 0; i < size; ++i) {
      const bool is_in =
          begin + i >= static_cast<Place>(first_) && begin + i < static_cast<Place>(end_);
      read.at[i] = is_in ? (*this)[begin + i] : last_value<Value>();
    }
    return read;
  }
  /// Whether all of a pack is in the array.
  template <class Place>
  RAYDEX_HD bool is_whole(Place number) const {
    constexpr unsigned size = value_pack<Value>::size;
    return number >= static_cast<Place>((first_ + size - 1) / size) &&
           number < static_cast<Place>(end_ / size);
  }
  /// The pack of this number, which is in the array as a whole.
  RAYDEX_HD value_pack<Value> whole_pack(std::uint64_t number) const {
    value_pack<Value> read = load_whole(packs() + number);
    RAYDEX_UNROLL
    for (unsigned i = 0; i < value_pack<Value>::size; ++i)
      read.at[i] = ordered(read.at[i]);
    return read;
  }
  /// Where pack 0 is, as it lies in memory.
  RAYDEX_HD const value_pack<Value>* packs() const {
    return reinterpret_cast<const value_pack<Value>*>(data_);
  }

  /// A value of the array as the order takes it.
  RAYDEX_HD Value ordered(Value value) const {
    if constexpr (std::is_integral_v<Value>) {
      const auto bits = static_cast<word>(value);
      return static_cast<Value>((coded_ ? order_of_bits(bits) : bits) ^ flip_);
    } else {
      return value;
    }
  }
  /// The value of the array that `ordered` made this one of; zeros and NaN become one each.
  RAYDEX_HD Value original(Value value) const {
    if constexpr (std::is_integral_v<Value>) {
      const word bits = static_cast<word>(value) ^ flip_;
      return static_cast<Value>(coded_ ? bits_of_order(bits) : bits);
    } else {
      return is_nan(value) ? last_value<Value>() : value + Value{0};
    }
  }

 private:
  const Value* data_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  word flip_ = 0;       // of integers
  bool coded_ = false;  // floating numbers, compared by integers
};

/// The position in cell `i`: uint32, uint64, int32 or int64. Negative ones become so large that
/// they are beyond all arrays.
RAYDEX_HD inline std::uint64_t position_of(const cells& positions, std::uint64_t i) {
  const std::byte* at = positions.data + i * positions.stride;
  switch (positions.format.type) {
    case key_type::uint32:
      return load_once(reinterpret_cast<const std::uint32_t*>(at));
    case key_type::int32:
      return static_cast<std::uint64_t>(
          std::int64_t{load_once(reinterpret_cast<const std::int32_t*>(at))});
    default:
      return load_once(reinterpret_cast<const std::uint64_t*>(at));
  }
}

/// The ranges of a batch, as they are read.
class range_source {
 public:
  /// No ranges.
  range_source() = default;
  /// The ranges between these ends.
  range_source(const cells& lower, const cells& upper) : lower_(lower), upper_(upper) {
    const auto address = reinterpret_cast<std::uintptr_t>(lower.data);
    pairs_ = lower.format.width == 4 && lower.stride == 8 && upper.stride == 8 &&
             upper.data == lower.data + 4 && address % 8 == 0 &&
             lower.format.type == key_type::uint32 && lower.validity == nullptr &&
             upper.validity == nullptr;
    signed_ = lower.format.type == key_type::int32 || lower.format.type == key_type::int64;
  }

  /// The ranges from one on, a multiple of 8.
  range_source from(std::uint64_t first) const {
    const auto moved = [&](cells ends) {
      ends.data += first * ends.stride;
      if (ends.validity != nullptr) ends.validity += first / 8;
      return ends;
    };
    return {moved(lower_), moved(upper_)};
  }

  /// The ends of a range as the column has them. False if one is missing.
  RAYDEX_HD bool ends(std::uint64_t i, std::uint64_t& lower, std::uint64_t& upper) const {
    if (pairs_) {
      const std::uint64_t both = load_once(reinterpret_cast<const std::uint64_t*>(lower_.data) + i);
      lower = both & 0xffff'ffffU;
      upper = both >> 32;
      return true;
    }
    lower = position_of(lower_, i);
    upper = position_of(upper_, i);
    return lower_.valid(i) && upper_.valid(i);
  }

  /// The part of a range that is in an array of so many values, as positions: it is cut on both
  /// sides. False if there is none.
  RAYDEX_HD bool within(std::uint64_t i, std::uint64_t size, std::uint64_t& lower,
                        std::uint64_t& upper) const {
    if (!ends(i, lower, upper)) return false;
    if (signed_) {
      if (static_cast<std::int64_t>(upper) < 0) return false;
      if (static_cast<std::int64_t>(lower) < 0) lower = 0;
    }
    if (upper >= size) upper = size - 1;
    return lower <= upper && lower < size;
  }

  /// The same as places of the array.
  template <class Value, class Place>
  RAYDEX_HD bool read(std::uint64_t i, const value_array<Value>& array, Place& first,
                      Place& last) const {
    if (sizeof(Place) == 4 && pairs_) {
      const std::uint64_t both = load_once(reinterpret_cast<const std::uint64_t*>(lower_.data) + i);
      const auto lower = static_cast<Place>(both);
      const auto upper = static_cast<Place>(both >> 32);
      const auto size = static_cast<Place>(array.size());
      first = lower + static_cast<Place>(array.first());
      last = (upper < size ? upper : size - 1) + static_cast<Place>(array.first());
      return lower <= upper && lower < size;
    }
    std::uint64_t lower = 0;
    std::uint64_t upper = 0;
    const bool is_any = within(i, array.size(), lower, upper);
    first = static_cast<Place>(lower + array.first());
    last = static_cast<Place>(upper + array.first());
    return is_any;
  }

 private:
  cells lower_;
  cells upper_;
  bool pairs_ = false;   // both ends of a range are one aligned read
  bool signed_ = false;  // positions may be negative
};

}  // namespace raydex::core
