// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lookups that rays did not answer rightly.
#pragma once

#include <cstdint>

#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// For implementations: a structure that casts rays, and counts such lookups.
class RAYDEX_EXPORT counts_repairs {
 public:
  virtual ~counts_repairs() = default;

  /// Answers `repairs`.
  virtual std::uint64_t do_repairs(stream_t stream) const = 0;
};

/// How many lookups of an `index` or an `rmq` rays did not answer rightly since the build, so that
/// a search had to; 0 for structures without rays. Answers are right in any case; a number that
/// grows tells of rays that pass beside what they should meet. Lookups that are left to a search by
/// design do not count, such as ranges of too many rays, nor, of `rx`, those without matches.
/// Synchronises. Queries must not run at the same time. Throws `cuda_error`.
template <class Structure>
std::uint64_t repairs(const Structure& structure, stream_t stream) {
  const auto* const counting = dynamic_cast<const counts_repairs*>(&structure);
  return counting == nullptr ? 0 : counting->do_repairs(stream);
}

}  // namespace raydex
