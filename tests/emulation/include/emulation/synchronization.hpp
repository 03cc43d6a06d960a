// SPDX-License-Identifier: Apache-2.0
//
// What a block's and a warp's threads do together: barriers, votes, shuffles, matches, reductions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulation/fibers.hpp"

namespace emulation::detail {

// What a shuffle gives for a lane that takes no part; CUDA leaves that value undefined.
inline constexpr std::uint64_t undefined_value = 0xA5A5'A5A5'A5A5'A5A5;

inline constexpr block_meeting syncthreads{"__syncthreads"};
inline constexpr block_meeting syncthreads_count{"__syncthreads_count"};
inline constexpr block_meeting syncthreads_or{"__syncthreads_or"};
inline constexpr block_meeting syncthreads_and{"__syncthreads_and"};

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(static_cast<unsigned int>(std::countr_zero(mask)));
  }
}

inline void resolve_nothing(lane_slots, std::uint32_t) {}

// The argument is the lane to take the value from.
inline void resolve_shuffle(lane_slots lanes, std::uint32_t participants) {
  for_each_lane(participants, [&](unsigned int lane) {
    const std::uint32_t source = lanes[lane].argument;
    const bool present = ((participants >> source) & 1U) != 0;
    lanes[lane].result = present ? lanes[source].value : undefined_value;
  });
}

inline void resolve_ballot(lane_slots lanes, std::uint32_t participants) {
  std::uint32_t ballot = 0;
  for_each_lane(participants, [&](unsigned int lane) {
    if (lanes[lane].value != 0) ballot |= 1U << lane;
  });
  for_each_lane(participants, [&](unsigned int lane) { lanes[lane].result = ballot; });
}

inline void resolve_any(lane_slots lanes, std::uint32_t participants) {
  bool any = false;
  for_each_lane(participants, [&](unsigned int lane) { any = any || lanes[lane].value != 0; });
  for_each_lane(participants, [&](unsigned int lane) { lanes[lane].result = any ? 1 : 0; });
}

inline void resolve_all(lane_slots lanes, std::uint32_t participants) {
  bool all = true;
  for_each_lane(participants, [&](unsigned int lane) { all = all && lanes[lane].value != 0; });
  for_each_lane(participants, [&](unsigned int lane) { lanes[lane].result = all ? 1 : 0; });
}

inline void resolve_match(lane_slots lanes, std::uint32_t participants) {
  for_each_lane(participants, [&](unsigned int lane) {
    std::uint32_t equal = 0;
    for_each_lane(participants, [&](unsigned int other) {
      if (lanes[other].value == lanes[lane].value) equal |= 1U << other;
    });
    lanes[lane].result = equal;
  });
}

template <typename Type, typename Combine>
void resolve_reduction(lane_slots lanes, std::uint32_t participants) {
  const auto value = [&](unsigned int lane) { return static_cast<Type>(lanes[lane].value); };
  Type total = value(static_cast<unsigned int>(std::countr_zero(participants)));
  for_each_lane(participants & (participants - 1),
                [&](unsigned int lane) { total = Combine{}(total, value(lane)); });
  for_each_lane(participants, [&](unsigned int lane) {
    lanes[lane].result = static_cast<std::make_unsigned_t<Type>>(total);
  });
}

struct adding {
  template <typename Type>
  Type operator()(Type left, Type right) const {
    return static_cast<Type>(static_cast<std::uint32_t>(left) + static_cast<std::uint32_t>(right));
  }
};

struct least {
  template <typename Type>
  Type operator()(Type left, Type right) const {
    return std::min(left, right);
  }
};

struct greatest {
  template <typename Type>
  Type operator()(Type left, Type right) const {
    return std::max(left, right);
  }
};

struct bitwise_and {
  template <typename Type>
  Type operator()(Type left, Type right) const {
    return left & right;
  }
};

struct bitwise_or {
  template <typename Type>
  Type operator()(Type left, Type right) const {
    return left | right;
  }
};

struct bitwise_xor {
  template <typename Type>
  Type operator()(Type left, Type right) const {
    return left ^ right;
  }
};

inline constexpr warp_meeting syncwarp{"__syncwarp", resolve_nothing};
inline constexpr warp_meeting shuffle{"__shfl_sync", resolve_shuffle};
inline constexpr warp_meeting shuffle_up{"__shfl_up_sync", resolve_shuffle};
inline constexpr warp_meeting shuffle_down{"__shfl_down_sync", resolve_shuffle};
inline constexpr warp_meeting shuffle_xor{"__shfl_xor_sync", resolve_shuffle};
inline constexpr warp_meeting ballot{"__ballot_sync", resolve_ballot};
inline constexpr warp_meeting any{"__any_sync", resolve_any};
inline constexpr warp_meeting all{"__all_sync", resolve_all};
inline constexpr warp_meeting match_any{"__match_any_sync", resolve_match};

template <typename Type, typename Combine>
inline constexpr warp_meeting reduction{"__reduce_*_sync", resolve_reduction<Type, Combine>};

// One shuffle of up to 8 bytes at a time; larger values, which only groups offer, take several.
template <typename Type>
Type shuffle_value(const warp_meeting& operation, unsigned int mask, const Type& value,
                   unsigned int source) {
  static_assert(std::is_trivially_copyable_v<Type> && sizeof(Type) <= 32);
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  std::array<std::uint64_t, (sizeof(Type) + word_bytes - 1) / word_bytes> words{};
  std::memcpy(words.data(), &value, sizeof(Type));
  for (std::uint64_t& word : words)
    word = meet_warp(operation, mask, word, source);
  std::array<unsigned char, sizeof(Type)> bytes;
  std::memcpy(bytes.data(), words.data(), sizeof(Type));
  return std::bit_cast<Type>(bytes);
}

inline unsigned int checked_width(int width) {
  if (width < 1 || width > warpSize || !std::has_single_bit(static_cast<unsigned int>(width))) {
    fail_launch("the width of a shuffle is no power of two up to 32");
  }
  return static_cast<unsigned int>(width);
}

template <typename Type>
Type shuffle_from(unsigned int mask, const Type& value, int source, int width) {
  const unsigned int last = checked_width(width) - 1;
  const unsigned int lane = current_lane();
  return shuffle_value(shuffle, mask, value,
                       (lane & ~last) | (static_cast<unsigned int>(source) & last));
}

template <typename Type>
Type shuffle_from_below(unsigned int mask, const Type& value, unsigned int delta, int width) {
  const unsigned int last = checked_width(width) - 1;
  const unsigned int lane = current_lane();
  const bool inside = (delta & 31U) <= (lane & last);
  return shuffle_value(shuffle_up, mask, value, inside ? lane - (delta & 31U) : lane);
}

template <typename Type>
Type shuffle_from_above(unsigned int mask, const Type& value, unsigned int delta, int width) {
  const unsigned int last = checked_width(width) - 1;
  const unsigned int lane = current_lane();
  const bool inside = (delta & 31U) + (lane & last) <= last;
  return shuffle_value(shuffle_down, mask, value, inside ? lane + (delta & 31U) : lane);
}

// Earlier segments can be read, later ones cannot.
template <typename Type>
Type shuffle_across(unsigned int mask, const Type& value, int lane_mask, int width) {
  const unsigned int last = checked_width(width) - 1;
  const unsigned int lane = current_lane();
  const unsigned int source = lane ^ (static_cast<unsigned int>(lane_mask) & 31U);
  return shuffle_value(shuffle_xor, mask, value, source <= (lane | last) ? source : lane);
}

// The bytes of a value that a match compares.
template <typename Type>
std::uint64_t bits_of(const Type& value) {
  static_assert(std::is_trivially_copyable_v<Type> && sizeof(Type) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(Type));
  return bits;
}

template <typename Type>
concept number = std::is_arithmetic_v<Type>;

}  // namespace emulation::detail

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the names are CUDA's
inline void __syncthreads() {
  emulation::detail::meet_block(emulation::detail::syncthreads, false);
}
inline int __syncthreads_count(int predicate) {
  using namespace emulation::detail;
  return static_cast<int>(meet_block(syncthreads_count, predicate != 0).in_favor);
}
inline int __syncthreads_or(int predicate) {
  using namespace emulation::detail;
  return meet_block(syncthreads_or, predicate != 0).in_favor != 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate) {
  using namespace emulation::detail;
  const block_vote vote = meet_block(syncthreads_and, predicate != 0);
  return vote.in_favor == vote.arrived ? 1 : 0;
}

inline void __syncwarp(unsigned int mask = 0xFFFF'FFFF) {
  emulation::detail::meet_warp(emulation::detail::syncwarp, mask, 0, 0);
}

template <emulation::detail::number Type>
Type __shfl_sync(unsigned int mask, Type value, int source, int width = warpSize) {
  return emulation::detail::shuffle_from(mask, value, source, width);
}
template <emulation::detail::number Type>
Type __shfl_up_sync(unsigned int mask, Type value, unsigned int delta, int width = warpSize) {
  return emulation::detail::shuffle_from_below(mask, value, delta, width);
}
template <emulation::detail::number Type>
Type __shfl_down_sync(unsigned int mask, Type value, unsigned int delta, int width = warpSize) {
  return emulation::detail::shuffle_from_above(mask, value, delta, width);
}
template <emulation::detail::number Type>
Type __shfl_xor_sync(unsigned int mask, Type value, int lane_mask, int width = warpSize) {
  return emulation::detail::shuffle_across(mask, value, lane_mask, width);
}

inline unsigned int __ballot_sync(unsigned int mask, int predicate) {
  using namespace emulation::detail;
  return static_cast<unsigned int>(meet_warp(ballot, mask, predicate != 0 ? 1 : 0, 0));
}
inline int __any_sync(unsigned int mask, int predicate) {
  using namespace emulation::detail;
  return static_cast<int>(meet_warp(any, mask, predicate != 0 ? 1 : 0, 0));
}
inline int __all_sync(unsigned int mask, int predicate) {
  using namespace emulation::detail;
  return static_cast<int>(meet_warp(all, mask, predicate != 0 ? 1 : 0, 0));
}

// CUDA promises only that the caller is active, so this answer exposes code that relies on more.
inline unsigned int __activemask() {
  return 1U << emulation::detail::current_lane();
}

template <emulation::detail::number Type>
unsigned int __match_any_sync(unsigned int mask, Type value) {
  using namespace emulation::detail;
  return static_cast<unsigned int>(meet_warp(match_any, mask, bits_of(value), 0));
}

#define EMULATION_REDUCTION(name, type, combine)                                            \
  inline type name(unsigned int mask, type value) {                                         \
    using namespace emulation::detail;                                                      \
    return static_cast<type>(meet_warp(reduction<type, combine>, mask, bits_of(value), 0)); \
  }
EMULATION_REDUCTION(__reduce_add_sync, int, adding)
EMULATION_REDUCTION(__reduce_add_sync, unsigned int, adding)
EMULATION_REDUCTION(__reduce_min_sync, int, least)
EMULATION_REDUCTION(__reduce_min_sync, unsigned int, least)
EMULATION_REDUCTION(__reduce_max_sync, int, greatest)
EMULATION_REDUCTION(__reduce_max_sync, unsigned int, greatest)
EMULATION_REDUCTION(__reduce_and_sync, unsigned int, bitwise_and)
EMULATION_REDUCTION(__reduce_or_sync, unsigned int, bitwise_or)
EMULATION_REDUCTION(__reduce_xor_sync, unsigned int, bitwise_xor)
#undef EMULATION_REDUCTION
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
