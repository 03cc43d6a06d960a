// SPDX-License-Identifier: Apache-2.0
/// @file
/// Range-minimum queries: the smallest value, or the largest one, between two positions of an
/// array, or where it is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/core/config.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// Which position is the one of the minimum, where equal values share it.
enum class rmq_ties : std::uint8_t {
  leftmost,  ///< the smallest
  rightmost  ///< the largest
};

/// Which value of a range counts.
enum class rmq_extreme : std::uint8_t {
  minimum,  ///< the smallest
  maximum   ///< the largest; NaN, where there is one
};

/// The position of the minimum of an empty range.
inline constexpr std::uint64_t no_position = ~std::uint64_t{0};

/// Room for values of a type that is known at run time.
struct value_span {
  key_format format;       ///< of the values
  void* data = nullptr;    ///< the first one
  std::uint64_t size = 0;  ///< how many there is room for

  /// No room.
  value_span() = default;
  /// Room of a format known at run time.
  value_span(key_format value_format, void* values, std::uint64_t count)
      : format(value_format), data(values), size(count) {}
  /// All of a `buffer`, `std::span`, `std::vector` or the like.
  template <std::ranges::contiguous_range Out>
  requires(!std::is_const_v<std::remove_reference_t<
               std::ranges::range_reference_t<Out>>>) explicit value_span(Out&& values)
      : value_span(format_of<std::ranges::range_value_t<Out>>, std::ranges::data(values),
                   std::ranges::size(values)) {}
};

/// What a structure is and what it holds.
struct rmq_info {
  std::string structure;                       ///< the structure's name
  backend where;                               ///< the backend
  key_format value;                            ///< of the array's values
  rmq_extreme extreme = rmq_extreme::minimum;  ///< what it was built for
  std::uint64_t n = 0;                         ///< values in the array
  const void* array = nullptr;                 ///< the first of them
  std::string options;               ///< the options in force, as `name=value` separated by spaces
  std::uint64_t resident_bytes = 0;  ///< bytes held beside the array, measured
  std::uint64_t build_peak_bytes = 0;  ///< most bytes allocated at once during the build, measured
};

/// Answers batches of range-minimum queries over an array, or of range-maximum queries where the
/// build had `extreme=maximum`. What is said of minima holds for maxima in the opposite order.
///
/// The array stays where it is: it is read by the build and by queries, and must outlive the
/// structure; one of `load_rmq` has an array of its own. Its values are ordered as keys are: -0.0
/// equals 0.0, NaN comes after everything and equals itself.
///
/// *Ranges* are `ranges(lower, upper)` of positions, both ends included, counted from 0; columns of
/// uint32, uint64, int32 or int64. A range is cut to the array on both sides: of 3 values, [-4, 1]
/// has the first two and [1, 9] the last two. A range that has nothing left has no minimum, nor
/// one whose lower end is greater than the upper one, such as [0, -1], or one that is missing: its
/// value is the last one in the order (NaN, or the largest of the type; of maxima NaN, or the
/// smallest of the type), its position `no_position`. `check` refuses ranges that are not wholly in
/// the array.
///
/// *Streams*: work is queued on the stream of the context; on `cuda` and `optix` a call returns
/// before it is done and never synchronises, unless its comment says so. On `cpu` a call returns
/// when it is done. *Memory*: ranges and outputs are in the backend's memory; scratch comes from
/// the context. *Threads*: queries may be made by several threads at once. *Errors*:
/// `invalid_argument` before any work is queued, where formats or sizes do not fit;
/// `out_of_memory`; `cuda_error`. Outputs must not overlap inputs. A batch of 0 ranges is legal.
///
/// The device that is current at the build must be current in every later call. The structure is
/// destroyed on the stream of its build, which must still exist, as must its memory resource.
class RAYDEX_EXPORT rmq {
 public:
  rmq(const rmq&) = delete;
  rmq& operator=(const rmq&) = delete;
  virtual ~rmq();

  /// What the structure is and what it holds.
  const rmq_info& info() const noexcept { return info_; }

  /// Writes the smallest value of each range; a zero is 0.0, never -0.0. `out`: a value a range, of
  /// the array's format. Throws `unsupported` if the structure was built for maxima.
  void minimum(const context& on, const probes& ranges, const value_span& out) const;

  /// Writes the largest value of each range, as `minimum` does the smallest one. Throws
  /// `unsupported` if the structure was not built for maxima.
  void maximum(const context& on, const probes& ranges, const value_span& out) const;

  /// Writes where each range has its smallest value, or the largest one if it was built for these;
  /// of equal ones the leftmost or rightmost, as `ties` says.
  void position(const context& on, const probes& ranges, std::span<std::uint64_t> out) const;

  /// Refuses ranges whose lower end is greater than the upper one, or that has an end which is not
  /// in the array, on either side: throws `invalid_argument`, which names the first of them and its
  /// ends. Missing ones are legal. Of a part of a longer batch, `first` is the number of its first
  /// range there. Synchronises.
  void check(const context& on, const probes& ranges, std::uint64_t first = 0) const;

  /// Takes in values of the array that have changed, at these positions (uint32, uint64, int32 or
  /// int64; repeated ones are legal, those beyond the array are not looked at). Where
  /// `rmq_capability::updates` says so; otherwise throws `unsupported`.
  ///
  /// Work goes to `stream` and does not synchronise. Queries of the same time must be on this
  /// stream, or wait for it. Scratch comes from the resource of the build. A call that fails for
  /// want of memory leaves the structure as it was, except `rmq_hierarchy` with `top=rays`; see
  /// there.
  void refresh(stream_t stream, const column& positions);

 protected:
  /// For implementations: a structure over memory that is counted on its way to `upstream`.
  explicit rmq(memory_resource& upstream);

  /// @name What an implementation provides. Arguments are checked, batches are not empty.
  /// @{

  /// Answers `minimum`, or `maximum` if it is of maxima.
  virtual void do_extreme(const context& on, const probes& ranges, void* out) const = 0;
  /// Answers `position`.
  virtual void do_position(const context& on, const probes& ranges, std::uint64_t* out) const = 0;
  /// The number of the first range that `check` refuses, or `no_position`; synchronises.
  virtual std::uint64_t do_check(const context& on, const probes& ranges) const = 0;
  /// Copies bytes of the backend's memory to the host; synchronises.
  virtual void do_read(const context& on, void* to, const void* from, std::size_t bytes) const = 0;
  /// Copies bytes of the host to the backend's memory; synchronises.
  virtual void do_write(const context& on, void* to, const void* from, std::size_t bytes) const = 0;
  /// Does `refresh`. By default, throws `unsupported`.
  virtual void do_refresh(stream_t stream, const column& positions);
  /// Names its arrays to a file, which saves them, or has others in their place, over the array of
  /// `info`. By default it has none to keep: returns false, and is built again.
  virtual bool do_keep(const context& own, kept_memory& file);
  /// @}

  /// Checks the types of values and places of a view, and that it is of minima.
  void check_view(key_format value, std::size_t place_bytes) const;

  /// The counted resource: an implementation's memory comes from here.
  tracking_resource& memory() noexcept { return memory_; }

  /// Fills in the byte counts once the build's scratch is freed.
  void measure() noexcept;

  /// What `info` returns.
  rmq_info info_;

 private:
  friend class index_keeper;

  void check_batch(const context& on, const probes& ranges, std::uint64_t out_size) const;
  void values(rmq_extreme wanted, const context& on, const probes& ranges,
              const value_span& out) const;

  std::shared_ptr<const void> array_;  // of one that was loaded; others' is the caller's
  tracking_resource memory_;
};

/// What one structure for minima can do on one backend.
struct rmq_capability {
  std::string structure;         ///< its name, as `build_rmq` takes it
  backend where;                 ///< the backend
  bool available;                ///< whether the backend is usable on this machine
  std::string reason;            ///< why not, and how to get it; empty if available
  bool updates;                  ///< whether it takes `refresh`
  std::vector<key_type> values;  ///< types of values it takes
};

/// All structures for minima on all backends that this build of raydex knows, available or not.
RAYDEX_EXPORT std::vector<rmq_capability> rmq_capabilities();

/// Builds a structure over an array.
///
/// @param structure a name of `rmq_capabilities()`, or `auto`
/// @param where the backend; `on.memory` must be of its space
/// @param on memory for the structure and its scratch, and the stream of the build
/// @param values the array: adjacent numbers, none missing
/// @param options structure options by name
///
/// Cost, memory, and whether the build synchronises: see the structure's own header. Throws
/// `invalid_argument` (names the legal ones for a bad structure or option), `unsupported`,
/// `unavailable`, `out_of_memory`, `cuda_error`.
RAYDEX_EXPORT std::unique_ptr<rmq> build_rmq(std::string_view structure, backend where,
                                             const context& on, const column& values,
                                             const option_map& options = {});

/// A structure for minima as the user's own code asks it, inside a kernel on `cuda`. It is
/// trivially copyable, and stays valid as long as the structure.
///
/// Ranges have positions of the array at both ends, counted from 0, the upper one not before the
/// lower one and below `size()`; others are not allowed.
///
/// @tparam T of the array's values
/// @tparam View the structure's own view, of core
template <class T, class View>
class rmq_view {
 public:
  /// What the structure answers by.
  explicit rmq_view(const View& view) : view_(view) {}

  /// Values in the array.
  RAYDEX_HD std::uint64_t size() const { return view_.array.size(); }
  /// The smallest value of a range; a zero is 0.0, never -0.0.
  RAYDEX_HD T minimum(std::uint64_t lower, std::uint64_t upper) const {
    return std::bit_cast<T>(view_.array.original(view_.minimum(place(lower), place(upper))));
  }
  /// Where it is; of equal ones the leftmost or rightmost, as `ties` says.
  RAYDEX_HD std::uint64_t position(std::uint64_t lower, std::uint64_t upper) const {
    return view_.find(place(lower), place(upper)).place - view_.array.first();
  }

 private:
  using place_type = typename View::place_type;
  RAYDEX_HD place_type place(std::uint64_t position) const {
    return static_cast<place_type>(position + view_.array.first());
  }

  View view_;
};

}  // namespace raydex
