// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_hierarchy`: levels of chunk minima.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "raydex/core/minima/rmq_hierarchy.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

/// How the threads that answer a range read it (GPU-RMQ paper, section 4.2).
enum class hierarchy_load : std::uint8_t {
  automatic,  ///< `coalesced` if a group has several threads, otherwise `vector`
  vector,     ///< one thread, 16 bytes at once
  coalesced   ///< a group of threads, adjacent ones adjacent values
};

/// How ranges are assigned to groups of threads (GPU-RMQ paper, section 4.3).
enum class hierarchy_assign : std::uint8_t {
  queue,  ///< each thread reads a range, and its group answers those of its threads in turn
  multi   ///< all threads of a group read the range that they answer
};

/// What answers what a range leaves to the last level (GPU-RMQ paper, section 4.5).
enum class hierarchy_top : std::uint8_t {
  automatic,  ///< `rays` on `optix`, otherwise `scan`
  scan,       ///< all entries are read; on `cpu` and `cuda`
  rays        ///< rays find the minimum, as those of `rmq_rx` do; on `cpu` and `optix`
};

/// Options of `rmq_hierarchy`; by name as `options_of` and `raydex structures rmq_hierarchy` list
/// them. `load`, `group` and `assign` matter on `cuda` only.
///
/// The paper takes vector loading up to 2^25 values, and above it coalesced loading with chunks of
/// 32 and groups of 16. On an H200 its vector loading is the faster one at all sizes.
struct rmq_hierarchy_options {
  /// Values under a minimum, a power of 2. By default 16, or 32 where loading is coalesced.
  std::optional<unsigned> chunk = {};
  /// The last level is the first one with no more entries. By default two chunks: scanning these
  /// reads what a level above them would leave to read. For rays, 65536.
  std::optional<unsigned> cutoff = {};
  /// How the last level is searched.
  hierarchy_top top = hierarchy_top::automatic;
  /// How threads read.
  hierarchy_load load = hierarchy_load::automatic;
  /// Threads that answer a range together, a power of 2: 1 where loads are vectors, by default 16
  /// where they are coalesced.
  std::optional<unsigned> group = {};
  /// How groups of several threads come by ranges.
  hierarchy_assign assign = hierarchy_assign::queue;
  /// Of equal values, whose position counts.
  rmq_ties ties = rmq_ties::leftmost;
  /// Which value of a range counts.
  rmq_extreme extreme = rmq_extreme::minimum;
};

/// Levels of chunk minima and their positions over the array (GPU-RMQ paper, sections 4.1 to 4.4):
/// each chunk of c values has a minimum in level 1, each chunk of c minima one in level 2, until a
/// level has no more than `cutoff` entries. A range is answered from the array upwards: what is of
/// it in the chunks at its ends is scanned, and what lies between is left to the level above. In
/// libraydex_papers.
///
/// *Cost*: build: a read of the array, a minimum and a position written for each c values, a pass a
/// level. A range of m values: up to 2c entries of each of log_c m levels, and `cutoff` of the last
/// one; or, with `top=rays`, the rays of an `rmq_rx` over that level, and then a thread a range,
/// with 8 bytes of scratch a range, for up to 2^26 ranges. *Memory*: about
/// n / (c - 1) minima and as many positions, 4 bytes each, or 8 where n > 2^32 - 2^23; with
/// `top=rays` an `rmq_rx` over the last level besides. *Updates*: `refresh` makes the chunks again
/// that hold changed positions, or all of a level where that is faster, for no more than the build
/// costs; the scene of rays is built anew. If there is no memory for it, `refresh` throws, and
/// levels alone answer until another one succeeds; such lookups count as `repairs`. *Stream*:
/// neither build nor refresh synchronises.
class RAYDEX_EXPORT rmq_hierarchy : public rmq {
 public:
  ~rmq_hierarchy() override;

  /// A view to ask from the user's own code, inside a kernel on `cuda` or `optix`. It casts no
  /// rays.
  ///
  /// @tparam T the type of the array's values
  /// @tparam Place `std::uint32_t`, or `std::uint64_t` where n > 2^32 - 2^23
  ///
  /// Throws `invalid_argument` if these are not the structure's own.
  template <class T, class Place = std::uint32_t>
  auto view() const {
    using queried = core::rmq_hierarchy_view<core::ordered_as<T>, Place>;
    check_view(format_of<T>, sizeof(Place));
    return rmq_view<T, queried>(*static_cast<const queried*>(view_of_core()));
  }

 protected:
  /// For implementations.
  using rmq::rmq;

  /// The view of core.
  virtual const void* view_of_core() const noexcept = 0;
  /// The same of another one.
  static const void* view_of_core(const rmq_hierarchy& other) noexcept {
    return other.view_of_core();
  }
};

/// Builds an `rmq_hierarchy`; arguments and errors as for `build_rmq`.
RAYDEX_EXPORT std::unique_ptr<rmq_hierarchy> build_rmq_hierarchy(
    backend where, const context& on, const column& values,
    const rmq_hierarchy_options& options = {});

}  // namespace raydex
