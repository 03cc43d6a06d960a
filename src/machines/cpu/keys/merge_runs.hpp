// SPDX-License-Identifier: Apache-2.0
// Merges sorted runs: pieces of them in memory at a time, by tournaments on all cores.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "raydex/core/keys/edits.hpp"
#include "src/machines/cpu/parallel.hpp"

namespace raydex::cpu {

// Entries of a run in memory, ascending. Its rows are counted from `base` on.
template <class Key, class Row, class OutRow>
struct run_piece {
  const Key* keys = nullptr;
  const Row* rows = nullptr;
  std::uint64_t size = 0;
  std::uint64_t base = 0;

  core::entry<Key, OutRow> operator[](std::uint64_t i) const {
    return {keys[i], static_cast<OutRow>(base + rows[i])};
  }
  // How many entries are below one.
  std::uint64_t below(const core::entry<Key, OutRow>& one) const {
    std::uint64_t begin = 0;
    for (std::uint64_t left = size; left != 0;) {
      const std::uint64_t half = left / 2;
      const bool above = (*this)[begin + half] < one;
      begin += above ? half + 1 : 0;
      left = above ? left - half - 1 : half;
    }
    return begin;
  }
};

// Merges a range of each piece into arrays: a tournament whose inner nodes have the losers.
template <class Key, class Row, class OutRow>
class tournament {
 public:
  using piece = run_piece<Key, Row, OutRow>;
  struct range {
    const piece* of;
    std::uint64_t begin;
    std::uint64_t end;
  };

  explicit tournament(std::vector<range> ranges)
      : ranges_(std::move(ranges)), leaves_(std::bit_ceil(ranges_.size())), losers_(leaves_) {
    for (const range& one : ranges_)
      size_ += one.end - one.begin;
    winner_ = winner_below(1);
  }

  void write(Key* keys, OutRow* rows) {
    player winner = winner_;
    for (std::uint64_t i = 0; i != size_; ++i) {
      keys[i] = winner.key;
      rows[i] = winner.row;
      winner = next_of(winner.run);
      for (std::size_t node = (leaves_ + winner.run) / 2; node != 0; node /= 2) {
        player& other = losers_[node];
        const bool loses = other.precedes(winner);
        const player lost = loses ? winner : other;
        winner = loses ? other : winner;
        other = lost;
      }
    }
  }

 private:
  // An entry of a run; of one that is at its end the largest values, which no entry has.
  struct player {
    Key key = static_cast<Key>(-1);
    OutRow row = static_cast<OutRow>(-1);
    std::uint32_t run = 0;

    bool precedes(const player& other) const {
      return (static_cast<unsigned>(key < other.key) |
              (static_cast<unsigned>(key == other.key) & static_cast<unsigned>(row < other.row))) !=
             0;
    }
  };

  player next_of(std::uint32_t run) {
    player next;
    next.run = run;
    if (run >= ranges_.size() || ranges_[run].begin == ranges_[run].end) return next;
    range& from = ranges_[run];
    const core::entry<Key, OutRow> one = (*from.of)[from.begin++];
    next.key = one.key;
    next.row = one.row;
    return next;
  }
  player winner_below(std::size_t node) {
    if (node >= leaves_) return next_of(static_cast<std::uint32_t>(node - leaves_));
    player a = winner_below(2 * node);
    player b = winner_below(2 * node + 1);
    if (b.precedes(a)) std::swap(a, b);
    losers_[node] = b;
    return a;
  }

  std::vector<range> ranges_;
  std::uint64_t size_ = 0;
  std::size_t leaves_;
  std::vector<player> losers_;
  player winner_;
};

// Merges of each piece its first `sizes[i]` entries, which are no larger than all others.
template <class Key, class Row, class OutRow>
void merge_pieces(const std::vector<run_piece<Key, Row, OutRow>>& pieces,
                  const std::vector<std::uint64_t>& sizes, Key* keys, OutRow* rows) {
  using entry = core::entry<Key, OutRow>;
  using match = tournament<Key, Row, OutRow>;
  constexpr std::uint64_t part_size = 1 << 16;
  std::uint64_t total = 0;
  for (const std::uint64_t size : sizes)
    total += size;
  const std::uint64_t parts = std::clamp<std::uint64_t>(total / part_size, 1, 64);

  // What parts begin with: entries that divide a sample.
  std::vector<entry> sample;
  const std::uint64_t every = total / (8 * parts) + 1;
  for (std::size_t i = 0; i < pieces.size() && parts > 1; ++i) {
    for (std::uint64_t at = every / 2; at < sizes[i]; at += every)
      sample.push_back(pieces[i][at]);
  }
  std::sort(sample.begin(), sample.end());
  std::vector<std::uint64_t> begins((parts + 1) * pieces.size());
  for (std::uint64_t part = 1; part <= parts; ++part) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::uint64_t& begin = begins[part * pieces.size() + i];
      begin = sizes[i];
      if (part == parts || sample.empty()) continue;
      begin = std::min(begin, pieces[i].below(sample[part * sample.size() / parts]));
    }
  }

  for_each_part(parts, [&](std::uint64_t part) {
    std::vector<typename match::range> ranges;
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::uint64_t begin = begins[part * pieces.size() + i];
      const std::uint64_t end = begins[(part + 1) * pieces.size() + i];
      out += begin;
      if (begin != end) ranges.push_back({&pieces[i], begin, end});
    }
    if (!ranges.empty()) match(std::move(ranges)).write(keys + out, rows + out);
  });
}

}  // namespace raydex::cpu
