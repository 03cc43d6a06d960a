// SPDX-License-Identifier: Apache-2.0
#include "tests/random/bits.hpp"

#include <array>
#include <cstring>
#include <type_traits>

namespace raydex::test {

namespace {

template <class T>
T as(std::uint64_t bits) {
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
std::uint64_t bits_from(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Calls `f` with a value of the number's type.
template <class F>
auto with_number(key_type type, F&& f) {
  switch (type) {
    case key_type::uint32:
      return f(std::uint32_t{});
    case key_type::uint64:
      return f(std::uint64_t{});
    case key_type::int32:
      return f(std::int32_t{});
    case key_type::int64:
      return f(std::int64_t{});
    case key_type::float32:
      return f(float{});
    default:
      return f(double{});
  }
}

// Turns the bytes of a string into a number of that base, and back: the same operation.
std::uint64_t reversed(key_format format, std::uint64_t bits) {
  std::uint64_t other = 0;
  for (unsigned byte = 0; byte < format.width; ++byte, bits >>= 8)
    other = other << 8 | (bits & 0xff);
  return other;
}

}  // namespace

number number_of(key_format format, std::uint64_t bits) {
  if (format.type == key_type::bytes) return static_cast<number>(reversed(format, bits));
  return with_number(format.type, [&]<class T>(T) { return static_cast<number>(as<T>(bits)); });
}

key_format format_of_type(key_type type) {
  return with_number(type, []<class T>(T) { return format_of<T>; });
}

const std::vector<key_format>& number_formats() {
  static const std::vector<key_format> all{format_of<std::uint32_t>, format_of<std::uint64_t>,
                                           format_of<std::int32_t>,  format_of<std::int64_t>,
                                           format_of<float>,         format_of<double>};
  return all;
}

const std::vector<key_format>& all_formats() {
  static const std::vector<key_format> all = [] {
    std::vector<key_format> formats = number_formats();
    formats.insert(formats.end(), {format_of<std::array<char, 1>>, format_of<std::array<char, 2>>,
                                   format_of<std::array<char, 3>>, format_of<std::array<char, 4>>,
                                   format_of<std::array<char, 5>>, format_of<std::array<char, 6>>,
                                   format_of<std::array<char, 7>>, format_of<std::array<char, 8>>});
    return formats;
  }();
  return all;
}

std::uint64_t mask_of(key_format format) {
  return ~std::uint64_t{0} >> (64 - 8 * format.width);
}

std::uint64_t bits_of(key_format format, std::uint64_t i) {
  if (format.type == key_type::bytes) return reversed(format, i & mask_of(format));
  return with_number(format.type, [&]<class T>(T) { return bits_from(static_cast<T>(i)); });
}

std::uint64_t bits_of_rank(key_format format, std::uint64_t i) {
  const bool is_signed = format.type == key_type::int32 || format.type == key_type::int64;
  return bits_of(format, is_signed ? i ^ (mask_of(format) / 2 + 1) : i);
}

std::uint64_t neighbour_of(key_format format, std::uint64_t bits, bool up) {
  const std::uint64_t step = up ? 1 : ~std::uint64_t{0};
  if (format.type == key_type::bytes) return bits_of(format, reversed(format, bits) + step);
  // The bit patterns of floats ascend with their magnitude.
  return (bits + step) & mask_of(format);
}

std::vector<std::uint64_t> extremes_of(key_format format) {
  if (format.type == key_type::bytes) {
    const std::uint64_t all = mask_of(format);
    return {0, 1, 0x80, bits_of(format, 1), bits_of(format, all - 1), all};
  }
  return with_number(format.type, []<class T>(T) -> std::vector<std::uint64_t> {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
      std::vector<std::uint64_t> all;
      for (const T value :
           {-limits::infinity(), limits::lowest(), T(-1), -limits::min(), -limits::denorm_min(),
            -T(0), T(0), limits::denorm_min(), limits::min(), T(1), limits::max(),
            limits::infinity(), -limits::quiet_NaN(), limits::signaling_NaN(), limits::quiet_NaN()})
        all.push_back(bits_from(value));
      return all;
    } else {
      return {bits_from(limits::min()),
              bits_from(static_cast<T>(limits::min() + 1)),
              0,
              1,
              bits_from(static_cast<T>(limits::max() - 1)),
              bits_from(limits::max())};
    }
  });
}

}  // namespace raydex::test
