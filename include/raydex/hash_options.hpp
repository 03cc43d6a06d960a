// SPDX-License-Identifier: Apache-2.0
/// @file
/// What hash tables are asked alike.
#pragma once

#include <cstdint>

namespace raydex {

/// Whether keys may repeat.
enum class repetition : std::uint8_t {
  allowed,  ///< they may; the build finds out whether they do
  refused   ///< a build or an edit that would hold a key twice throws `invalid_argument`
};

/// Which threads of a GPU read the bucket of a point for `first`.
enum class bucket_reading : std::uint8_t {
  shared,  ///< those of neighbouring points together, 16 bytes each
  single   ///< the thread of the point alone
};

}  // namespace raydex
