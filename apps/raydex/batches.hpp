// SPDX-License-Identifier: Apache-2.0
// Probes in batches, so that what a backend holds of them at a time is bounded.
#pragma once

#include <algorithm>
#include <cstdint>

#include "placed_column.hpp"
#include "progress/progress.hpp"
#include "raydex/column.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// Enough to keep any device busy, few enough to bound its memory. A multiple of 8, so that validity
// bitmaps can be cut there.
inline constexpr std::uint64_t batch_size = std::uint64_t{1} << 24;

// Calls `answer(batch, first)` for one batch after the other, where the backend can read it;
// `first` is the number of its first probe. No probes are a batch too, so that all arguments are
// checked.
template <class Answer>
void for_each_batch(const session& where, const probes& all, progress& bar, Answer&& answer) {
  std::uint64_t done = 0;
  do {
    const std::uint64_t count = std::min(batch_size, all.size() - done);
    answer(placed_probes(where, slice(all, done, count)).view(), done);
    bar.advance(count);
    done += count;
  } while (done < all.size());
}

}  // namespace raydex::cli
