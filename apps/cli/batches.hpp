// SPDX-License-Identifier: Apache-2.0
// Probes in batches, so that what a backend holds of them at a time is bounded.
#pragma once

#include <algorithm>
#include <cstdint>

#include "io/progress.hpp"

namespace raydex::cli {

// Enough to keep any device busy, few enough to bound its memory. A multiple of 8, so that validity
// bitmaps can be cut there.
inline constexpr std::uint64_t batch_size = std::uint64_t{1} << 24;
// The same of rows that are written one part after the other.
inline constexpr std::uint64_t rows_at_a_time = std::uint64_t{1} << 22;

// Calls `answer(first, count)` for one batch of `size` probes after the other, by the number of its
// first one. No probes are a batch too, so that all arguments are checked.
template <class Answer>
void for_each_batch(std::uint64_t size, progress_bar& bar, Answer&& answer) {
  std::uint64_t done = 0;
  do {
    const std::uint64_t count = std::min(batch_size, size - done);
    answer(done, count);
    bar.advance(count);
    done += count;
  } while (done < size);
}

}  // namespace raydex::cli
