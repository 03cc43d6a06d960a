// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups: threads that do one thing together. A backend brings groups of its own.
#pragma once

#include <concepts>
#include <cstdint>

#include "raydex/core/config.hpp"

namespace raydex::core {

/// What all groups have. All threads of a group call their functions together.
template <class G>
concept group = requires(const G& g) {
  { g.lane() } -> std::same_as<unsigned>;   // the number of this thread
  { g.lanes() } -> std::same_as<unsigned>;  // how many there are
  g.sync();                                 // all of it see what any of it wrote
};

/// Groups that merge lists.
template <class G>
concept merging_group = group<G> && requires(const G& g, bool flag, unsigned& total) {
  // How many threads before this one have the flag, and in all.
  { g.count_before(flag, total) } -> std::same_as<unsigned>;
};

/// Groups that scan.
template <class G>
concept reducing_group = group<G> &&
    requires(const G& g, std::uint64_t x, std::uint64_t (*combine)(std::uint64_t, std::uint64_t)) {
  // What is combined of all threads' `x`, the same in all of them.
  { g.reduce(x, combine) } -> std::same_as<std::uint64_t>;
};

/// Groups that read and write lines of eight words of 64 bits, of 64 bytes, one for each thread.
template <class G>
concept line_group = group<G> &&
    requires(const G& g, std::uint64_t* line, bool wanted, std::uint64_t (&words)[8]) {
  // Reads the line of this thread, if it is wanted.
  g.read_line(line, wanted, words);
  // Writes it.
  g.write_line(line, wanted, words);
  // Whether any thread has the flag.
  { g.any(wanted) } -> std::same_as<bool>;
};

/// Groups that add up numbers of their threads.
template <class G>
concept summing_group = group<G> && requires(const G& g, std::uint64_t x, std::uint64_t* scratch) {
  // The sum of what the threads before this one have; `scratch` is the group's, of 8 numbers.
  { g.sum_before(x, scratch) } -> std::same_as<std::uint64_t>;
};

/// Groups of up to 32 threads that decide together.
template <class G>
concept voting_group = group<G> &&
    requires(const G& g, bool flag, const std::uint32_t* numbers, std::uint32_t least) {
  // A bit of each thread: whether it has the flag.
  { g.vote(flag) } -> std::same_as<std::uint32_t>;
  // A bit of each of `compared` numbers, 8 to 32: whether it is not below `least`. They begin at a
  // multiple of their bytes.
  { g.at_least(numbers, least) } -> std::same_as<std::uint32_t>;
  { G::compared } -> std::convertible_to<unsigned>;
};

/// Groups that divide their items among owners.
template <class G>
concept partitioning_group = reducing_group<G> &&
    requires(const G& g, bool flag, unsigned number, unsigned& total) {
  // How many threads before this one have the flag and its number, and in all. Of no meaning where
  // this one has no flag.
  { g.count_before(flag, number, total) } -> std::same_as<unsigned>;
};

/// Groups that are made of smaller ones, which divide their items among owners each, or decide.
template <class G>
concept group_of_teams = summing_group<G> && requires(const G& g) {
  { g.team() } -> partitioning_group;  // that of this thread
  { g.team() } -> voting_group;
  // What the thread of a lane of the team has.
  { g.team().from(std::uint64_t{}, unsigned{}) } -> std::same_as<std::uint64_t>;
  { g.team_number() } -> std::same_as<unsigned>;  // which of them it is
  { g.teams() } -> std::same_as<unsigned>;        // how many there are
  { g.thread() } -> voting_group;                 // this thread alone
};

/// A group of one.
struct group_of_one {
  /// The only thread.
  RAYDEX_HD static unsigned lane() { return 0; }
  /// One.
  RAYDEX_HD static unsigned lanes() { return 1; }
  /// It sees what it wrote.
  RAYDEX_HD static void sync() {}
  /// None is before it.
  RAYDEX_HD static unsigned count_before(bool flag, unsigned& total) {
    total = flag ? 1 : 0;
    return 0;
  }
  /// None is before it.
  RAYDEX_HD static unsigned count_before(bool flag, unsigned /*number*/, unsigned& total) {
    return count_before(flag, total);
  }
  /// Its own.
  RAYDEX_HD static std::uint32_t vote(bool flag) { return flag ? 1 : 0; }
  /// Numbers that it looks at in one go.
  static constexpr unsigned compared = 8;
  /// It looks at all of them.
  template <class Number>
  RAYDEX_HD static std::uint32_t at_least(const Number* numbers, Number least) {
    std::uint32_t flags = 0;
    RAYDEX_UNROLL
    for (unsigned i = 0; i < compared; ++i)
      flags |= (numbers[i] >= least ? 1U : 0U) << i;
    return flags;
  }
  /// None is before it.
  RAYDEX_HD static std::uint64_t sum_before(std::uint64_t /*x*/, std::uint64_t* /*scratch*/) {
    return 0;
  }
  /// There is nothing to combine.
  template <class T, class Combine>
  RAYDEX_HD static T reduce(const T& x, const Combine& /*combine*/) {
    return x;
  }
  /// It reads its own.
  RAYDEX_HD static void read_line(const std::uint64_t* line, bool wanted,
                                  std::uint64_t (&words)[8]) {
    RAYDEX_UNROLL
    for (unsigned w = 0; w < 8; ++w)
      if (wanted) words[w] = line[w];
  }
  /// It writes its own.
  RAYDEX_HD static void write_line(std::uint64_t* line, bool wanted,
                                   const std::uint64_t (&words)[8]) {
    RAYDEX_UNROLL
    for (unsigned w = 0; w < 8; ++w)
      if (wanted) line[w] = words[w];
  }
  /// Its own.
  RAYDEX_HD static bool any(bool flag) { return flag; }
};
static_assert(merging_group<group_of_one> && partitioning_group<group_of_one> &&
                  summing_group<group_of_one> && voting_group<group_of_one> &&
                  line_group<group_of_one>,
              "a group of one serves wherever groups do");

}  // namespace raydex::core
