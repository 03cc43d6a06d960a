// SPDX-License-Identifier: Apache-2.0
/// @file
/// The interface that every structure answers through, and the run-time choice of a structure.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/edits.hpp"
#include "raydex/error.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

class aggregate;
class kept_memory;  // of an index in a file; internal
struct aggregate_options;

/// The row id that is never a row: "no match". Its type is the index's row-id type.
template <class RowId>
inline constexpr RowId not_found = std::numeric_limits<RowId>::max();

/// How wide the row ids of an index are.
enum class row_id_type : std::uint8_t {
  uint32,  ///< columns of fewer than 2^32 - 1 rows, or explicit row ids of that type
  uint64   ///< longer columns, or explicit row ids of that type; only by `build` with a name
};

/// Where row ids are written: an array of `std::uint32_t` or `std::uint64_t`.
struct row_id_span {
  row_id_type type;    ///< the type of an element
  void* data;          ///< the first element
  std::uint64_t size;  ///< number of elements

  /// All of a `buffer`, `std::span`, `std::vector` or the like.
  template <std::ranges::contiguous_range Out>
  requires(std::same_as<std::ranges::range_reference_t<Out>, std::uint32_t&> ||
           std::same_as<std::ranges::range_reference_t<Out>, std::uint64_t&>)
      row_id_span(Out&& out)  // NOLINT(google-explicit-constructor)
      : row_id_span(sizeof(std::ranges::range_value_t<Out>) == 4 ? row_id_type::uint32
                                                                 : row_id_type::uint64,
                    std::ranges::data(out), std::ranges::size(out)) {}
  /// An array whose type is known at run time.
  row_id_span(row_id_type element, void* first, std::uint64_t count)
      : type(element), data(first), size(count) {}
};

/// All matching row ids of a batch, in CSR form: probe i matches `rows[offsets[i]]` and what
/// follows, up to but without `rows[offsets[i + 1]]`.
struct matches {
  buffer<std::uint64_t> offsets;  ///< probes + 1 offsets, the first 0
  buffer<std::byte> rows;         ///< `total` row ids of type `type`
  row_id_type type;               ///< the type of a row id
  std::uint64_t total;            ///< the number of matches

  /// The row ids as numbers of their type: T is `std::uint32_t` or `std::uint64_t`, as `type` says.
  /// Throws `invalid_argument` where it is the other one.
  template <class T>
  requires(std::same_as<T, std::uint32_t> ||
           std::same_as<T, std::uint64_t>) std::span<const T> rows_as()
  const {
    if ((type == row_id_type::uint32) != (sizeof(T) == 4))
      throw invalid_argument(sizeof(T) == 4 ? "rows_as: the row ids are uint64"
                                            : "rows_as: the row ids are uint32");
    return {reinterpret_cast<const T*>(rows.data()), total};
  }
};

/// Which keys are the closest ones to a point.
enum class closeness : std::uint8_t {
  or_equal,  ///< equal ones, if there are any
  strict     ///< equal ones are left out
};

/// What an index is and what it holds.
struct index_info {
  std::string structure;  ///< the structure's name
  backend where;          ///< the backend
  key_format key;         ///< format of the column it was built over
  row_id_type row_ids;    ///< type of its row ids
  std::uint64_t n;        ///< rows of the column
  std::uint64_t entries;  ///< rows that are not missing
  /// The largest row id that it ever had, of missing keys and of erased entries, too; 0 without
  /// any.
  std::uint64_t max_row_id;
  std::string options;             ///< the options in force, as `name=value` separated by spaces
  std::uint64_t resident_bytes;    ///< bytes held by the index, measured
  std::uint64_t build_peak_bytes;  ///< most bytes allocated at once during its build, measured
};

/// An index over a column: answers batches of points and ranges.
///
/// *Streams*: work is queued on the stream of the context; on `cuda` and `optix` a call returns
/// before it is done and never synchronises, unless its comment says so. On `cpu` a call returns
/// when it is done. *Memory*: probes and outputs are in the backend's memory; scratch comes from
/// the context, for long matches on a GPU up to 4 MB. *Threads*: several may query. *Errors*:
/// `invalid_argument` before any work is queued, where formats, sizes or addresses do not fit;
/// `out_of_memory`; `cuda_error`. Outputs must not overlap inputs. A batch of 0 probes is legal.
///
/// The device of the build must be current in every later call. An index is destroyed on the stream
/// of its build; that and the memory resource must still exist, unless they are a session's.
class RAYDEX_EXPORT index {
 public:
  index(const index&) = delete;
  index& operator=(const index&) = delete;
  virtual ~index();

  /// What the index is and what it holds.
  const index_info& info() const noexcept { return info_; }

  /// Writes, for each probe, the smallest matching row id, or `not_found`. `out`: one row id a
  /// probe, of the type `info().row_ids`, or of 64 bits in any case. Narrow ones are widened by
  /// another pass, with 4 bytes of scratch each.
  void first(const context& on, const probes& batch, const row_id_span& out) const;

  /// Writes whether each probe matches any row. Costs `first`, another pass, and a row id of
  /// scratch a probe.
  void contains(const context& on, const probes& batch, std::span<bool> out) const;

  /// Writes the number of matches of each probe.
  void count(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes the sum of the matching row ids of each probe, modulo 2^64.
  void sum(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes the sum of `values[row id]` over the matching rows of each probe, modulo 2^64. `values`
  /// holds unsigned integers and more than `info().max_row_id` cells; a missing value adds nothing.
  void sum(const context& on, const probes& batch, const column& values,
           std::span<std::uint64_t> out) const;

  /// The same for values of a signed integer type.
  void sum(const context& on, const probes& batch, const column& values,
           std::span<std::int64_t> out) const;

  /// The same for values of type float or double. Added up in twice the precision of double and
  /// rounded once, so that the order of summation does not show: results are equal on every
  /// structure and backend unless terms cancel by more than 2^50 times their sum, or overflow on
  /// the way to it.
  void sum(const context& on, const probes& batch, const column& values,
           std::span<double> out) const;

  /// Writes where the matches of each probe begin in the output of `rows`: `out[0] = 0` and
  /// `out[i + 1] = out[i] + count of probe i`. `out` holds one element more than there are probes.
  void offsets(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes all matching row ids of each probe, from `out[offsets[i]]` on; ordered by key, then by
  /// row id, on ordered structures. `offsets`: what `offsets` wrote for this batch; they are
  /// trusted, and no edit may come between. `out` must hold `offsets[batch.size()]` row ids, which
  /// only `cpu` checks: elsewhere that would synchronise. Their type is as of `first`.
  void rows(const context& on, const probes& batch, std::span<const std::uint64_t> offsets,
            const row_id_span& out) const;

  /// All matching row ids of each probe. Synchronises the stream once, to learn the size.
  matches rows(const context& on, const probes& batch) const;

  /// Writes a bit for each row id below `size`, 1 if the row matches any probe: bit `row % 32`,
  /// counted from the lowest one, of `words[row / 32]`. `words` has as many as `size` needs; bits
  /// from `size` on are 0. Throws `invalid_argument` if a row that matches is not below `size`.
  ///
  /// Synchronises, to learn how many rows match. Takes scratch of 8 bytes a probe and a row id a
  /// match; if probes share rows, of no more matches at a time than the index has entries, or
  /// 2^20. A call that throws may have written some bits.
  void bitset(const context& on, const probes& batch, std::uint64_t size,
              std::span<std::uint32_t> words) const;

  /// Writes all entries, in any order: of each key its code, see `encode`, and its row id. Both
  /// outputs have `info().entries` elements; `rows` are of a type as of `first`. Throws
  /// `unsupported` for an `rx` with `primitives=rows` and row ids of 32 bits, which keeps no keys.
  ///
  /// Cost: a pass over the entries; those of hash tables and of a `cgrx` with nodes are gathered in
  /// scratch of a key and a row id each first.
  void entries(const context& on, std::span<std::uint64_t> codes, const row_id_span& rows) const;

  /// @name Places of points among the keys
  /// The probes are points. Only where `capability::ranges` says so; others throw `unsupported`,
  /// and so do a `cgrx` with nodes and an `rx` with `primitives=rows`. A search each, no rays.
  /// @{

  /// Writes, for each point, how many keys are less than it: NumPy's `searchsorted` of the sorted
  /// column, `side="left"`. Of a missing point, the largest number of the type.
  void rank(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes, for each point, how many keys are not greater than it: `side="right"`.
  void rank_right(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes, for each point, the smallest row id of the largest key that is not greater than it,
  /// or less than it; `not_found` where there is none, and of a missing point. `out` is as for
  /// `first`. Takes 8 bytes of scratch a point.
  void predecessor(const context& on, const probes& batch, const row_id_span& out,
                   closeness which = closeness::or_equal) const;

  /// The same for the smallest key that is not less than the point, or greater than it.
  void successor(const context& on, const probes& batch, const row_id_span& out,
                 closeness which = closeness::or_equal) const;
  /// @}

  /// Inserts and erases entries; cost and memory: see the structure. Only where
  /// `capability::updates` says so; otherwise throws `unsupported`.
  ///
  /// Memory comes from the resource of the build, and work goes to `stream`, on which the index is
  /// destroyed from then on; the streams before must still exist. Synchronises. Queries must not
  /// run at the same time. A failed call leaves the index as it was; only a failing device may
  /// leave a `cgrx` with nodes half edited, to be destroyed then. Throws `invalid_argument` where
  /// formats or sizes do not fit, `unsupported` where row ids or places do not suffice,
  /// `out_of_memory`, `cuda_error`, `optix_error`.
  void edit(stream_t stream, const edits& batch);

 protected:
  /// For implementations: an index over memory that is counted on its way to `upstream`.
  explicit index(memory_resource& upstream);

  /// Where sums come from and go to: `values.data` is null for sums of row ids.
  struct sum_request {
    column values;  ///< the values, or none
    void* out;      ///< 64-bit integers, or doubles for floating values
  };

  /// @name What an implementation provides. Arguments are checked; only `do_offsets`, `do_rank` and
  /// `do_closest` are called for a batch of 0 probes.
  /// @{

  /// Answers `first`.
  virtual void do_first(const context& on, const probes& batch, void* out) const = 0;
  /// Answers `count`.
  virtual void do_count(const context& on, const probes& batch, std::uint64_t* out) const = 0;
  /// Answers both kinds of `sum`.
  virtual void do_sum(const context& on, const probes& batch, const sum_request& wanted) const = 0;
  /// Answers `offsets`.
  virtual void do_offsets(const context& on, const probes& batch, std::uint64_t* out) const = 0;
  /// Answers `rows`.
  virtual void do_rows(const context& on, const probes& batch, const std::uint64_t* offsets,
                       void* out) const = 0;
  /// Answers `rows` without offsets. By default by those above.
  virtual matches do_matches(const context& on, const probes& batch) const;
  /// Throws `unsupported` for probes of a kind that the structure does not answer. By default, none
  /// are.
  virtual void check_kind(const probes& batch) const;
  /// Throws `unsupported` if the structure does not know the order of its keys, which `what`, an
  /// operation, needs. By default it throws.
  virtual void check_ranks(const char* call) const;
  /// Answers `rank`, or `rank_right` if `past` equal keys. By default, throws `unsupported`.
  virtual void do_rank(const context& on, const probes& batch, bool past, std::uint64_t* out) const;
  /// Answers `predecessor`, or else `successor`; `predecessor` with the largest row id of the key,
  /// if `last`. By default, throws `unsupported`.
  virtual void do_closest(const context& on, const probes& batch, bool before, closeness which,
                          bool last, void* out) const;
  /// Does `edit`. By default, throws `unsupported`.
  virtual void do_edit(stream_t stream, const edits& batch);
  /// Writes where the matches of each probe begin, and how many they are, both of the row-id type.
  /// Where a probe matches begins at a *position*: a rank in the order of the keys if the structure
  /// knows that, else a number of its own. If `single_rows`, of one match it writes the row id
  /// instead. By default, as the next three, throws `unsupported`.
  virtual void do_locate(const context& on, const probes& batch, void* begins, void* counts,
                         bool single_rows) const;
  /// Writes the row ids of all entries in the order of the keys.
  virtual void do_row_ids(const context& on, void* out) const;
  /// Returns the row ids by position, which the index holds, or writes them to `made`; null where
  /// no key repeats. By default those of `do_row_ids`.
  virtual const void* do_row_list(const context& on, buffer<std::byte>& made) const;
  /// Counts the entries whose key repeats another one, or some of them; synchronises.
  virtual std::uint64_t do_count_repeated(const context& on) const;
  /// Does `entries`. By default, throws `unsupported`.
  virtual void do_entries(const context& on, std::uint64_t* codes, void* rows) const;
  /// Names its numbers and arrays to a file, which saves them, or has others in their place. By
  /// default, throws `unsupported`.
  virtual void do_keep(const context& own, kept_memory& file);
  /// Returns a number of the backend's memory; synchronises.
  virtual std::uint64_t do_read(const context& on, const std::uint64_t* number) const = 0;
  /// @}

  /// The counted resource: an implementation's memory comes from here.
  tracking_resource& memory() noexcept { return memory_; }

  /// Fills in the byte counts once the build's scratch is freed.
  void measure() noexcept;

  /// To be called before its entries change in another way than by `edit`.
  void count_change() noexcept { ++changes_; }

  /// What `info` returns.
  index_info info_;

 private:
  // An aggregate is made of ranks and row ids, as joins are, and checks what an index does.
  friend class aggregate;
  friend class located_index;
  friend class index_keeper;
  friend RAYDEX_EXPORT std::unique_ptr<aggregate> build_aggregate(
      const context& on, const index& over, const std::optional<column>& values,
      const aggregate_options& options);

  void check(const context& on, const probes& batch, std::uint64_t out_size) const;
  void check_points(const context& on, const probes& batch, std::uint64_t out_size) const;
  void closest(const context& on, const probes& batch, bool before, closeness which,
               const row_id_span& out) const;
  void check_values(const column& values) const;

  tracking_resource memory_;
  std::uint64_t changes_ = 0;
};

/// Options by name, as on a command line.
using option_map = std::map<std::string, std::string, std::less<>>;

/// Builds an index over `keys`.
///
/// @param structure a name of `capabilities()`, or `auto`
/// @param where the backend; `on.memory` must be of its space
/// @param on memory for the index and its scratch, and the stream of the build
/// @param keys the column; read by the build only, unless the structure says otherwise
/// @param row_ids explicit row ids, as many as keys, `uint32` or `uint64`; the largest value of the
///        type is `not_found` and not legal. Without them a key's row id is its position.
/// @param options structure options by name
///
/// Cost, memory, and whether the build synchronises: see the structure's own header. With row ids
/// of 64 bits, which only this function takes, the index also holds 8 bytes and an encoded key per
/// entry; lookups read one row id more per match, an edit costs what a build costs, and the result
/// is of no structure's own class. Throws
/// `invalid_argument` (names the legal ones for a bad structure or option), `unsupported`,
/// `unavailable`, `out_of_memory`, `cuda_error`.
RAYDEX_EXPORT std::unique_ptr<index> build(std::string_view structure, backend where,
                                           const context& on, const column& keys,
                                           const std::optional<column>& row_ids = std::nullopt,
                                           const option_map& options = {});

}  // namespace raydex
