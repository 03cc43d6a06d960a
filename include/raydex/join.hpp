// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins: the pairs of rows of two tables whose keys match.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "raydex/column.hpp"
#include "raydex/error.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// Strings of any length, as Arrow's `utf8` and `large_utf8` lay them out: string i is the bytes
/// from `offsets[i]` up to `offsets[i + 1]`. Does not own them.
struct string_column {
  const char* bytes = nullptr;    ///< all strings, one after the other; null only if all are empty
  const void* offsets = nullptr;  ///< `size + 1` numbers of 32 or 64 bits, which never descend:
                                  ///< nobody looks
  bool wide_offsets = false;      ///< whether they have 64 bits
  std::uint64_t size = 0;         ///< number of strings
  validity_bitmap validity = {};  ///< as of a `column`
};

/// A column of a key.
using key_part = std::variant<column, string_column>;
/// The columns that make up a key, of equal sizes; at most `most_key_parts`.
using key_parts = std::vector<key_part>;
/// The most columns that make up a key.
inline constexpr std::size_t most_key_parts = 16;

/// Which rows a join gives.
enum class join_kind : std::uint8_t {
  inner,  ///< each pair of a probe row and a build row that match
  left,   ///< the same, and probe rows without a match, beside `not_found`
  semi,   ///< probe rows with a match, once each
  anti,   ///< probe rows without one
  right,  ///< inner, then build rows without a match, beside `not_found`
  full    ///< left, then the same
};

/// How a build key compares with the probe: `less` asks for build keys less than the probe.
enum class comparison : std::uint8_t { less, less_equal, greater, greater_equal };

/// Which build row an as-of join takes for a probe.
enum class asof_direction : std::uint8_t {
  backward,  ///< the one with the largest time that is not after the probe's
  forward,   ///< the one with the smallest time that is not before it
  nearest    ///< the closer one of the two; of equally close ones that before
};

/// The largest distance of two keys that are taken as near: of integers a whole number, of floating
/// ones a number of their type. No distance of integers is too large for it.
class key_distance {
 public:
  /// A whole number. One below 0 is refused where it is used.
  template <std::integral T>
  constexpr key_distance(T whole)  // NOLINT(google-explicit-constructor)
      : is_whole_(true),
        whole_(static_cast<std::uint64_t>(whole)),
        real_(static_cast<double>(whole)) {}
  /// A floating number. Of integers it must be whole; of keys of `float` it is rounded to one.
  template <std::floating_point T>
  constexpr key_distance(T real)  // NOLINT(google-explicit-constructor)
      : real_(static_cast<double>(real)) {}

  /// As a floating number.
  constexpr double real() const noexcept { return real_; }
  /// Of integers: no two are farther apart than the largest number.
  constexpr std::uint64_t whole() const noexcept {
    if (is_whole_) return whole_;
    return real_ >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(real_);
  }

 private:
  bool is_whole_ = false;
  std::uint64_t whole_ = 0;
  double real_;
};

/// The name of a kind of join: `inner left semi anti right full`.
RAYDEX_EXPORT std::string_view to_string(join_kind kind);

/// Where rows of a join are written: two arrays of row numbers of one type, which gather the rows
/// of the two tables. In them, the largest number of the type stands for no row.
struct gather_maps {
  row_id_type type = row_id_type::uint64;  ///< of an element of both
  void* probe_rows = nullptr;              ///< a probe row for each row of the join
  void* build_rows = nullptr;              ///< its build row; null for semi and anti joins
  std::uint64_t size = 0;                  ///< rows that there is room for

  /// Nothing.
  gather_maps() = default;
  /// Arrays whose type is known at run time.
  gather_maps(row_id_type element, void* probes, void* builds, std::uint64_t count)
      : type(element), probe_rows(probes), build_rows(builds), size(count) {}
  /// Two `buffer`, `std::span`, `std::vector` or the like; throws `invalid_argument` if their sizes
  /// differ.
  template <std::ranges::contiguous_range Out>
  gather_maps(Out& probes, Out& builds)
      : gather_maps(row_id_span(probes).type, std::ranges::data(probes), std::ranges::data(builds),
                    std::ranges::size(probes)) {
    if (std::ranges::size(builds) != size) {
      throw invalid_argument("build rows: room for " + std::to_string(std::ranges::size(builds)) +
                             ", but for " + std::to_string(size) + " probe rows");
    }
  }
  /// One, for semi and anti joins.
  template <std::ranges::contiguous_range Out>
  explicit gather_maps(Out& probes)
      : gather_maps(row_id_span(probes).type, std::ranges::data(probes), nullptr,
                    std::ranges::size(probes)) {}
};

/// Writes `number` in place of each `not_found` among row numbers, for a library with another
/// number for no row. Cost: a pass over them. Takes no memory. Throws `invalid_argument` where
/// their type does not hold the number, `unavailable`, `cuda_error`.
RAYDEX_EXPORT void replace_not_found(backend where, const context& on, const row_id_span& rows,
                                     std::uint64_t number);

/// A batch of probe rows that has been looked up: how many rows the join has, and the rows.
///
/// Rows are in the order of the probe rows, unless you ask for `join_order::any`; those of one
/// probe row are ordered by build key, then by build row, where the structure is ordered, by build
/// row where it is not. After them, in right and full joins, come the build rows without a match,
/// in their order; also those whose key is missing. You can take any slice of them, so that a join
/// larger than memory is written in parts.
///
/// *Memory*: for a probe row 4 bytes where no two build keys are equal, else, and for ranges, 8;
/// twice that with 64-bit row ids; and 8 for each 1024 probe rows; or see `match_tables`. Of right
/// and full joins also 4 for a build row, and 8 for each 1024; those by order are made from an
/// inner or left join, whose rows are written once more, up to 2^22 at a time. *Streams, threads*:
/// as for `index`. What it was made from, the join and its index, must outlive it; the probe
/// columns need not. Once such an index is edited, `counts` and `rows` throw `invalid_argument`.
class RAYDEX_EXPORT joined {
 public:
  joined(const joined&) = delete;
  joined& operator=(const joined&) = delete;
  virtual ~joined();

  /// How many rows the join has.
  std::uint64_t size() const noexcept { return size_; }
  /// How many probe rows there were.
  std::uint64_t probes() const noexcept { return probes_; }
  /// How many of its rows, the last ones, are build rows without a match beside no probe row; none
  /// but in right and full joins.
  std::uint64_t unmatched() const noexcept { return unmatched_; }
  /// Which rows it has.
  join_kind kind() const noexcept { return kind_; }

  /// Writes how many rows of the join each probe row has; all but the `unmatched`. `out`: one
  /// number a probe row.
  void counts(const context& on, std::span<std::uint64_t> out) const;

  /// Writes `out.size` rows of the join from number `first` on. Takes no memory. Throws
  /// `invalid_argument` where there are fewer rows, or the type is too narrow for row numbers.
  void rows(const context& on, std::uint64_t first, const gather_maps& out) const;
  /// All of them; `out.size` is `size()`.
  void rows(const context& on, const gather_maps& out) const;

 protected:
  /// For implementations: of `probes` rows, joined with rows numbered up to `max_build_row`.
  joined(backend where, join_kind kind, std::uint64_t probes, std::uint64_t max_build_row)
      : where_(where), kind_(kind), probes_(probes), max_build_row_(max_build_row) {}

  /// Answers `counts`.
  virtual void do_counts(const context& on, std::uint64_t* out) const = 0;
  /// Answers `rows`, which are not none.
  virtual void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const = 0;

  std::uint64_t size_ = 0;       ///< what `size` returns
  std::uint64_t unmatched_ = 0;  ///< what `unmatched` returns

 private:
  backend where_;
  join_kind kind_;
  std::uint64_t probes_;
  std::uint64_t max_build_row_;
};

/// In which order the rows of a join are.
enum class join_order : std::uint8_t {
  probe_rows,  ///< in that of the probe rows, and those of one as `joined` says
  any          ///< in any, not even those of a probe row side by side; mostly faster on `cuda`
};

/// How the build side of a join is made.
struct join_options {
  std::string structure = "auto";  ///< a name of `capabilities()`, or `auto`
  option_map options = {};         ///< of the structure
  bool missing_equal = false;      ///< whether a missing value equals another one; else it matches
                                   ///< nothing
  std::optional<std::uint32_t> seed = {};  ///< of the hash of keys that are hashed; drawn anew for
                                           ///< each join if none. Answers do not depend on it
  /// Of joins that are made once; others have their order.
  join_order order = join_order::probe_rows;
};

/// How keys are compared.
enum class key_comparison : std::uint8_t {
  column,  ///< a single column, as it is
  packed,  ///< several columns side by side in 64 bits, in order
  hashed   ///< by a hash of 64 bits and a look at the columns themselves
};

/// What the build side of a join is and what it holds.
struct join_info {
  std::string structure;         ///< the structure of its index
  std::string options;           ///< and its options
  backend where;                 ///< the backend
  key_comparison keys;           ///< how keys are compared
  bool keys_differ;              ///< whether no two build keys are equal
  std::uint64_t entries;         ///< build rows that can match
  std::uint64_t resident_bytes;  ///< bytes held, of the index, too, if it is its own; measured
};

/// The build side of joins: an index over the keys of a table, which answers any number of batches
/// of probe rows.
///
/// Keys of one column are indexed as they are. Those of several columns are laid side by side, the
/// first one highest, while they fit 64 bits: a number takes its own, a byte string 8 a byte. With
/// `missing_equal` each column takes a bit more, and a single one is laid out so, too. Others, and
/// strings, go by a hash of 64 bits, each join by one of its own; the columns decide, so that
/// answers are exact: the build takes another hash if rows of different keys have equal ones, and
/// each probe row is compared with one build row. Then the build columns must outlive the join;
/// others need not.
///
/// *Cost*: of the build, that of the index, and for hashed keys a lookup of each build row; of a
/// batch, one lookup a probe row, and a pass that writes each row of the join in the same time,
/// however rows are spread over probes. *Stream*: builds and matches synchronise: sizes are known
/// when they return. *Scratch* of a batch: up to 24 bytes for each of at most 2^22 probe rows where
/// keys are packed, hashed or ranges, else none; of right and full joins 4 bytes a build row where
/// build keys repeat. The join holds a row id a build row where build keys repeat, and a batch of
/// ranges where they do not, unless the structure has them side by side.
///
/// *Source*: the join view of lookups, and joins by rays with `rx` and `inverse`: the thesis (Fast
/// Database Join on Ray-tracing Core Equipped GPU). *Errors*: as for `index`.
class RAYDEX_EXPORT join {
 public:
  join(const join&) = delete;
  join& operator=(const join&) = delete;
  virtual ~join();

  /// What the build side is and what it holds.
  const join_info& info() const noexcept { return info_; }

  /// Joins by equal keys. `probe`: columns of the formats of the build side's. Only these joins,
  /// and those by points, may be right and full; others throw `unsupported` (see `range_join`).
  std::unique_ptr<joined> match(const context& on, const key_parts& probe, join_kind kind) const;

  /// Joins by points or ranges: each probe row with the build rows whose key lies in its range.
  /// Only of keys of one column that is indexed as it is, and ranges only of ordered structures;
  /// others throw `unsupported`.
  template <std::same_as<probes> Probes>  // so that columns in braces are a key
  std::unique_ptr<joined> match(const context& on, const Probes& batch, join_kind kind) const {
    return match_probes(on, batch, kind);
  }

  /// Joins each probe row with the build rows whose key is at most `distance` away: those of
  /// |build - probe| <= distance, exactly for integers, and of floating keys with the difference as
  /// their type rounds it, as in as-of joins. Equal infinities are 0 apart; NaN matches nothing;
  /// within an infinite distance is all but NaN. Keys are numbers. Throws `invalid_argument` for a
  /// negative distance, or of integers one with a fraction.
  std::unique_ptr<joined> match_band(const context& on, const column& probe, key_distance distance,
                                     join_kind kind) const;

  /// Joins each probe row with the build rows whose key compares so with it, in the order of keys:
  /// NaN comes after everything.
  std::unique_ptr<joined> match_compared(const context& on, const column& probe, comparison how,
                                         join_kind kind) const;

 protected:
  /// For implementations.
  join() = default;

  /// What a batch asks for.
  struct request {
    join_kind kind;                             ///< which rows
    const key_parts* parts = nullptr;           ///< keys to find, or
    std::optional<probes> batch = {};           ///< points or ranges, or
    const column* from = nullptr;               ///< a column with
    std::optional<key_distance> distance = {};  ///< a distance, or
    std::optional<comparison> how = {};         ///< a comparison
  };
  /// Answers all kinds of `match`.
  virtual std::unique_ptr<joined> do_match(const context& on, const request& wanted) const = 0;
  /// The formats of the key's columns; nothing for strings.
  virtual const std::vector<std::optional<key_format>>& formats() const = 0;

  join_info info_;  ///< what `info` returns

 private:
  std::unique_ptr<joined> match_probes(const context& on, const probes& batch,
                                       join_kind kind) const;
  void check_one_column(const column& probe) const;
  std::unique_ptr<joined> checked_match(const context& on, const request& wanted) const;
};

/// Builds the build side of joins over the columns of a key.
RAYDEX_EXPORT std::unique_ptr<join> build_join(backend where, const context& on,
                                               const key_parts& keys,
                                               const join_options& options = {});

/// The same over an index, which is used as it is, with its row ids; it must outlive the join.
/// After an edit of it a match throws `invalid_argument`. Right and full joins are `unsupported`:
/// an index does not hold the rows whose key is missing. Not for `cgrx` with nodes, which is
/// `unsupported`.
RAYDEX_EXPORT std::unique_ptr<join> build_join(const context& on, const index& over);

/// Joins two tables by equal keys, once. Rows, their order, arguments and errors are those of
/// `build_join` and `join::match`, but the tables need not outlive what it returns.
///
/// *Method*, if the structure is `auto` without options. On `cpu` both sides are divided by a hash
/// of the key, until a part's table fits the second-level cache. Left out are build rows that none
/// of few probes asks for, and probes without a match if few have one. Semi and anti joins of at
/// most 2^18 probe rows (hashed: 2^20 if most build rows match, else 2^16), a fourth of the build
/// rows, go along these with a table of the probes. On `cuda` build rows whose keys differ, or of
/// any keys for semi and anti joins, lie in one table, filled by parts if the L2 does not hold it;
/// with twice as many probes it has a filter, for few matches. In `join_order::any` inner and left
/// joins of at most 2^21 probe rows, with 2^18 build rows and twice as many, go by a table of the
/// probe rows. Else both sides are divided until a part's build rows fit shared memory, if keys
/// repeat, and for `any` from 2^22 of them on unless hashed; an index is built if memory is short,
/// or keys repeat for over 2^13 build rows, far more probes or 2^23 in order. *Cost*: on `cpu` two
/// passes over the build keys, three over the probes, two over what either becomes; on `cuda` three
/// over the build side and a random read a probe row, or three over either and one over what they
/// become. Several columns or strings take a pass more and, for a match or repeated key, a look at
/// another row. *Scratch*: on `cpu` of a build row 8 bytes, or 12 if keys have more than 32 bits,
/// of a probe row 4 or 8; 4 more of either if build keys repeat, 8 if keys are packed or hashed; 2
/// of a build row if few probes match; with a table of the probes 72 of a probe row alone, or 104
/// of hashed keys beside their hashes. It holds 4 bytes a probe row, and if build keys repeat 8,
/// and 4 a build row. Twice as much for 4 with 64-bit row ids. On `cuda` one table takes 27 bytes a
/// build row while it is filled, or 47 of over 32 bits, for semi and anti joins not hashed 19 and
/// 31; of at most 2^17 rows 64 and 128, or 32 and 64; 16 more if keys repeat, in no order. One of
/// the probe rows takes that of them, and holds 8 a build row and 8 a probe row. Parts take 8 of a
/// build row and 16 of a probe row, or 12 and 24; in no order they hold 4 more a probe row.
/// *Source*: Sioulas and others (ICDE 2019); Adinets and Merrill, Onesweep.
RAYDEX_EXPORT std::unique_ptr<joined> match_tables(backend where, const context& on,
                                                   const key_parts& build, const key_parts& probe,
                                                   join_kind kind = join_kind::inner,
                                                   const join_options& options = {});

/// Which table of a join is indexed.
enum class join_side : std::uint8_t {
  automatic,  ///< of an inner join whose order does not matter the smaller one, else `build`
  build,      ///< the one that is called so
  probe       ///< the other one; only of inner joins, whose order is that of the build rows then
};

/// All rows of a join.
struct join_rows {
  row_id_type type = row_id_type::uint64;  ///< of a row number
  std::uint64_t size = 0;                  ///< how many
  buffer<std::byte> probe_rows;            ///< their probe rows
  buffer<std::byte> build_rows;            ///< their build rows; empty for semi and anti joins
};

/// Joins two tables by equal keys, once. Row numbers have 32 bits where both tables have fewer than
/// 2^32 - 1 rows. Arguments and errors as of `build_join` and `join::match`.
RAYDEX_EXPORT join_rows join_tables(backend where, const context& on, const key_parts& build,
                                    const key_parts& probe, join_kind kind = join_kind::inner,
                                    join_side side = join_side::automatic,
                                    const join_options& options = {});

/// How an as-of join looks for the build rows of a probe. At most one of the tolerances is set.
struct asof_options {
  asof_direction direction = asof_direction::backward;  ///< on which side
  closeness which = closeness::or_equal;                ///< whether a row of the same time is taken
  std::optional<key_distance> tolerance = {};  ///< the largest distance, as of `match_band`
  /// The largest distance as a share of the probe: |build - probe| <= share * |probe|, 0 or more.
  /// Of integers the product is exact, of floating times share and product are rounded to their
  /// type; of NaN it is 0.
  std::optional<double> relative_tolerance = {};
  /// A largest distance for each probe row: floating numbers for floating times, whose type they
  /// are rounded to, integers for integers. Where it is missing, negative or NaN nothing is near.
  std::optional<column> tolerances = {};
  std::uint64_t neighbours = 1;  ///< how many build rows are taken at most, the closest ones
};

/// The build side of as-of joins: for each probe row the build row with the closest time, or the
/// closest ones, of those with an equal key if there are keys.
///
/// *Method*: a tree over the times, or with keys over a number of 32 or 64 bits that has the key
/// above the time. Both take the bits that the build side's columns span: five days in nanoseconds
/// take 49, 8,192 dense keys 13. If that is too much, and for strings, a hash table numbers the
/// different keys (`info().keys` is `hashed`), and if it is still too much, ranks stand in the
/// place of the times. *Cost* of the build: two passes over the columns and a sort, which takes
/// only the bits of the keys if the times ascend. *Cost* of a probe: a search, or two for
/// `nearest`; with keys in a table a look there, with ranks a search more for each; for each
/// further neighbour a few reads. *Memory*: a `pivot_tree` over the times, or with keys 12 bytes a
/// row (8 where 32 bits suffice) and a thirtieth of it.
///
/// On `cpu`, where times ascend on both sides, cells lie side by side and none of the build side is
/// missing, both are walked along instead: a pass over their columns, without a sort or a search.
/// With keys it takes a table of the last row of each, so there must be sixteen build rows a key or
/// at most 4,096 keys. The order above is then made by the first batch that needs it,
/// whose time and memory it takes: `info` does not count it. That is one whose times do not ascend,
/// that asks for several neighbours, or, with keys, the ninth of less than a sixteenth of the build
/// rows. Missing keys that are equal, and rows that are appended, are not walked along.
///
/// A row whose time or key is missing matches nothing, unless missing keys are equal. Times are
/// numbers; NaN is a time after all others, farther from them than any tolerance. Of build rows of
/// one time `backward` takes the last one and `forward` the first one, also if it is the probe's
/// time, as pandas and Polars do; `nearest` the last one, or the first one if the time is after the
/// probe's, as pandas does. Further neighbours are taken so among the rows that are left.
class RAYDEX_EXPORT asof_join {
 public:
  asof_join(const asof_join&) = delete;
  asof_join& operator=(const asof_join&) = delete;
  virtual ~asof_join();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }

  /// Writes the build rows of each probe row, `neighbours` of them: the closest one first, and
  /// `not_found` where there are no more. `times` and `by` are of the formats of the build side's.
  /// `out`: `neighbours` row ids for each probe row, one after the other, uint32 where the build
  /// side has fewer than 2^32 - 1 rows, else uint64; uint64 in any case, with 4 bytes of scratch
  /// each. Further scratch: up to 48 bytes for each of at most 2^22 probe rows; where columns are
  /// walked along, a byte a row, 4 a probe row whose keys are in a table, and 4 for `nearest`.
  void match(const context& on, const column& times, const key_parts& by, const asof_options& how,
             const row_id_span& out) const;

  /// The same as rows of a join, in the order of the probe rows, then by closeness. `kind` is
  /// inner, left, semi or anti. Synchronises. What it returns holds a row id for each neighbour
  /// that you ask for, and two more for each probe row. Throws `unsupported` from 2^32 - 1 such
  /// neighbours on, if the build side has fewer rows.
  std::unique_ptr<joined> match(const context& on, const column& times, const key_parts& by,
                                const asof_options& how, join_kind kind) const;

  /// Adds rows, whose numbers follow those that there are; `times` and `by` are of the formats of
  /// the build side's. They are copied, so that they need not outlive the call.
  ///
  /// *Method*: the rows of a batch are put in order by themselves, together with all before them
  /// that were put in order by as few or fewer; a probe looks in each such part. *Cost*: as many
  /// batches of one size as make n rows put each row in order log n times at most, and leave log n
  /// parts. Validity, offsets of strings and cells that are not adjacent go by way of the host.
  /// *Memory*: of appended rows, and in the end of all, the columns, besides that of a build;
  /// `match` takes scratch for 4 more row ids for each neighbour of up to 2^22 probe rows. It comes
  /// from the resource of the build, and work goes to `stream`, on which the join is destroyed from
  /// then on; the streams before must still exist. Synchronises. Matches must not run at the same
  /// time. A failed call leaves the join as it was.
  void append(stream_t stream, const column& times, const key_parts& by = {});

 protected:
  /// For implementations.
  asof_join() = default;
  /// Answers `append`, of one row or more.
  virtual void do_append(stream_t stream, const column& times, const key_parts& by) = 0;
  /// Answers `match`.
  virtual void do_match(const context& on, const column& times, const key_parts& by,
                        const asof_options& how, void* out) const = 0;
  /// Answers that as rows of a join.
  virtual std::unique_ptr<joined> do_match(const context& on, const column& times,
                                           const key_parts& by, const asof_options& how,
                                           join_kind kind) const = 0;
  /// What was built over.
  virtual const key_format& time_format() const = 0;
  /// The formats of the key's columns; nothing for strings.
  virtual const std::vector<std::optional<key_format>>& formats() const = 0;
  /// The type of build rows.
  virtual row_id_type row_ids() const = 0;

  join_info info_;  ///< what `info` returns

 private:
  void check(const context& on, const column& times, const key_parts& by,
             const asof_options& how) const;
};

/// Builds the build side of as-of joins over times and the columns of a key, which may be none;
/// both must outlive it. `missing_equal`: whether a missing value of a key equals another one; else
/// it matches nothing.
RAYDEX_EXPORT std::unique_ptr<asof_join> build_asof_join(backend where, const context& on,
                                                         const column& times,
                                                         const key_parts& by = {},
                                                         bool missing_equal = false);

}  // namespace raydex
