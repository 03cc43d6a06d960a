// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_cover`: minima of covers of a range, and a search of block minima for the rest.
#pragma once

#include <memory>

#include "raydex/core/minima/rmq_cover.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

/// How much memory `rmq_cover` may take.
enum class rmq_memory : std::uint8_t {
  fast,  ///< at most a quarter of the array's
  small  ///< at most a twenty-fifth of the array's
};

/// Options of `rmq_cover`; by name as `options_of` and `raydex structures rmq_cover` list them.
struct rmq_cover_options {
  rmq_memory memory = rmq_memory::fast;  ///< beside the array; small arrays take some KiB more
  rmq_ties ties = rmq_ties::leftmost;    ///< of equal values, whose position counts
  rmq_extreme extreme = rmq_extreme::minimum;  ///< which value of a range counts
};

/// Range minima from tables of covers, and from levels of block minima where these do not tell.
///
/// *Tables* hold the minimum and its position for intervals of 2^j values, one every 2^(j-4). Two
/// of them cover a range and little more; if the smaller minimum lies in the range, it is the
/// answer. Else, and for ranges shorter than the first table's, *levels* are searched from the top:
/// the minima of blocks of 16 to 64 values, of 32 of these, and so on. An entry also tells the
/// least of those after and before it in its block. The blocks at the ends of the range bound what
/// is in them, and are descended into only if they could hold the minimum.
///
/// *Cost*: two reads of tables for most ranges of arrays without order. Whatever the array holds,
/// at most two or three reads of each level and end, and the values of a block at each end; near
/// ranges scan at most 33 entries of level 1. *Memory*: see `rmq_memory`. *Build*: one read of the
/// array, and passes over its tables; does not synchronise. *Refresh* writes the blocks of changed
/// positions, or all of a level where that is faster, and all tables anew: it costs no more than a
/// build. On `cpu` it takes 8 bytes of scratch for each of few positions.
///
/// Beyond the GPU-RMQ paper, whose levels (section 4.1) it has.
class RAYDEX_EXPORT rmq_cover : public rmq {
 public:
  ~rmq_cover() override;

  /// A view to ask from the user's own code, inside a kernel on `cuda`.
  ///
  /// @tparam T the type of the array's values
  /// @tparam Place `std::uint32_t`, or `std::uint64_t` where n > 2^32 - 2^23
  ///
  /// Throws `invalid_argument` if these are not the structure's own.
  template <class T, class Place = std::uint32_t>
  auto view() const {
    using queried = core::rmq_cover_view<core::compared_as<T>, Place>;
    check_view(format_of<T>, sizeof(Place));
    return rmq_view<T, queried>(*static_cast<const queried*>(view_of_core()));
  }

 protected:
  /// For implementations.
  using rmq::rmq;

  /// The view of core.
  virtual const void* view_of_core() const noexcept = 0;
};

/// Builds an `rmq_cover`; arguments and errors as for `build_rmq`.
RAYDEX_EXPORT std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& on,
                                                         const column& values,
                                                         const rmq_cover_options& options = {});

}  // namespace raydex
