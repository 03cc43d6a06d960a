// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_cover`: minima of covers of a range, and a search of block minima for the rest.
#pragma once

#include <memory>

#include "raydex/core/rmq_cover.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

/// How much memory `rmq_cover` may take.
enum class rmq_memory : std::uint8_t {
  fast,  ///< at most a quarter of the array's
  small  ///< at most a twenty-fifth of the array's
};

/// Options of `rmq_cover`; by name: `memory=fast|small ties=leftmost|rightmost`.
struct rmq_cover_options {
  rmq_memory memory = rmq_memory::fast;  ///< beside the array; small arrays take some KiB more
  rmq_ties ties = rmq_ties::leftmost;    ///< of equal values, whose position counts
};

/// Range minima from tables of covers, and from levels of block minima where these do not tell.
///
/// *Tables* hold the minimum and its position for intervals of 2^j values, one every 2^(j-4). Two
/// of them cover a range and little more; if the smaller minimum lies in the range, it is the
/// answer. Else, and for ranges shorter than the first table's, *levels* are searched from the top:
/// the minima of blocks of 8 to 64 values, of 128 bytes of these, and so on. The blocks at the ends
/// of the range bound what is in them, and are descended into only if they could hold the minimum.
///
/// *Cost*: two reads of tables for most ranges of arrays without order. At most one line of 128
/// bytes of each level and end beside the first two, whatever the array holds; on `cuda` eight
/// threads read a line at once. *Memory*: see `rmq_memory`. *Build*: one read of the array, and
/// passes over its tables; does not synchronise. *Refresh* writes the blocks of changed positions,
/// and all tables anew.
///
/// Beyond the GPU-RMQ paper, whose levels (section 4.1) it has.
class RAYDEX_EXPORT rmq_cover : public rmq {
 public:
  ~rmq_cover() override;

  /// The structure as a trivially copyable view, for queries inside a kernel of one's own (`cuda`)
  /// or a loop (`cpu`): `minimum(first, last)` and `find(first, last)` of *places*, which are
  /// positions plus `view.array.first()`, both in the array; values are in the form of
  /// `view.array.ordered`. It is valid as long as the structure.
  ///
  /// `Value`: `float`, `double`, or the signed type of the values' width; `Place`: `std::uint32_t`
  /// for arrays of less than 2^32 - 1024 values, else `std::uint64_t`. Throws `invalid_argument`
  /// for other types.
  template <class Value, class Place>
  core::rmq_cover_view<Value, Place> view() const {
    check_view(std::is_floating_point_v<Value>, sizeof(Value), sizeof(Place));
    return *static_cast<const core::rmq_cover_view<Value, Place>*>(erased_view());
  }

 protected:
  /// For implementations.
  explicit rmq_cover(memory_resource& upstream);

 private:
  void check_view(bool is_floating, std::size_t value_bytes, std::size_t place_bytes) const;
  virtual const void* erased_view() const = 0;
};

/// Builds it.
RAYDEX_EXPORT std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& where_to,
                                                         const column& values,
                                                         const rmq_cover_options& options = {});

}  // namespace raydex
