// SPDX-License-Identifier: Apache-2.0
// A case: a structure with its options, a column, and steps that query and change it; or a join,
// its build side, and batches of probes. It is plain data, so it can be drawn from a seed, shrunk,
// compared and printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex::test {

// The backend under test.
struct subject {
  backend where;
  bool emulated;  // its kernels run as fibers
};

// A key with its row id, a value, or an end of a range.
struct cell {
  std::uint64_t bits = 0;  // of the key, starting with the first byte
  std::uint64_t row = 0;   // if row ids are explicit; for a changed value, its position
  bool missing = false;
  bool operator==(const cell&) const = default;
};

struct range {
  cell lower;
  cell upper;
  bool operator==(const range&) const = default;
};

// Where the cells of a column lie, in cells.
struct placing {
  unsigned stride = 1;
  unsigned skew = 0;  // before the first one
  bool operator==(const placing&) const = default;
};

// What fails in a call.
struct fault {
  enum class source : std::uint8_t {
    none,
    resource,  // an allocation of the memory resource that it is given
    call,      // operator new, or a call of the CUDA runtime where that is emulated
    calls      // the same, and all that follow
  };
  source of = source::none;
  unsigned at = 1;  // the first, second, .. of them
  bool operator==(const fault&) const = default;
};

enum class answer : std::uint8_t {
  first,
  count,
  sum,
  sum_of_values,
  rows,
  offsets,  // and the rows there
  ranks,    // of points: both, and the closest keys on both sides
  // of minima
  minimum,
  position,
  check
};

enum class action : std::uint8_t {
  ask,
  edit,
  update,   // of rx
  rebuild,  // of cgrx
  refresh   // of minima
};

// One operation on the structure.
struct step {
  action what = action::ask;
  fault fails;

  // To ask.
  bool points = true;  // the lower ends alone
  std::vector<range> ranges;
  std::vector<answer> answers;
  key_type summed = key_type::uint32;  // what sums of values add up
  unsigned threads = 1;                // that query at once

  // To change.
  std::vector<cell> put;    // insertions, the column of an update, or changed values
  std::vector<cell> erase;  // deletions
  bool erase_pairs = false;

  bool operator==(const step&) const = default;
};

enum class row_kind : std::uint8_t { implicit, narrow, wide };

// The joins that are drawn, by the names of their classes; `equi_join` is `raydex::join`.
const std::vector<std::string>& drawn_joins();

// A row of a table that is joined.
struct table_row {
  cell first;            // a value, a time, or where an interval begins
  cell second;           // another value, what windows aggregate, or where an interval ends
  std::vector<cell> by;  // the columns of a key
  bool operator==(const table_row&) const = default;
};

// How build rows match a probe row.
enum class matching : std::uint8_t {
  equal,       // by keys
  points,      // or by the first column
  ranges,      // from the first to the second column
  band,        // within a distance
  compared,    // as a comparison says
  relation,    // of intervals, see `interval_relation`
  both,        // two comparisons
  asof,        // the closest one
  nearest,     // the nearest intervals
  ties,        // and all others that are as far away
  covered,     // by the length that is shared
  window,      // those of a window
  own_windows  // the same of the build rows themselves, by that call
};

enum class aggregated : std::uint8_t {
  count,
  first_row,
  last_row,
  sum,
  mean,
  minimum,
  argmin,
  first,
  last,
  maximum,
  argmax
};

// A distance of values: of integers a whole number, unless it has no end.
struct drawn_distance {
  std::uint64_t whole = 0;
  double real = 0;
  bool is_real = false;
  key_distance value() const { return is_real ? key_distance(real) : key_distance(whole); }
  bool operator==(const drawn_distance&) const = default;
};

// A batch of probe rows and what is asked of it.
struct join_question {
  matching how = matching::equal;
  std::vector<table_row> probes;
  join_kind kind = join_kind::inner;
  comparison compared = comparison::less;
  interval_relation relation = interval_relation::overlaps;
  asof_direction direction = asof_direction::backward;
  closeness which = closeness::or_equal;
  std::uint64_t count = 1;  // of nearest intervals
  bool overlaps = true;     // whether those at a distance of 0 are among them
  bool first = false;       // whether of each probe row only its first match is asked for
  std::optional<drawn_distance> before;  // of bands, tolerances, and windows
  std::optional<drawn_distance> after;   // of windows
  closed_ends closed = closed_ends::both;
  std::vector<aggregated> aggregates;
  std::uint64_t part = 0;  // which rows are asked for beside all of them
  bool wide = false;       // as numbers of 64 bits
  unsigned threads = 1;    // that ask at once
  fault fails;
  bool operator==(const join_question&) const = default;
};

struct join_case {
  key_format second;                          // of the second column; `test_case::key` is the first
  std::vector<std::optional<key_format>> by;  // without a format: strings
  std::string structure;                      // of an equi join
  bool missing_equal = false;
  std::optional<std::uint32_t> hash_seed;
  closed_ends closed = closed_ends::both;
  comparison first = comparison::less;  // of two inequalities
  comparison other = comparison::less;
  bool values = false;  // whether windows have any, and which parts are built
  bool sums = false;
  bool minima = false;
  bool maxima = false;
  std::vector<table_row> build;
  std::vector<join_question> questions;
  bool operator==(const join_case&) const = default;
};

struct test_case {
  std::uint64_t seed = 0;
  std::string structure;
  std::optional<join_case> joins;  // a join; of what is below only formats, places and faults count
  option_map options;
  bool minima = false;  // a structure for minima; the keys are the array's values
  key_format key;
  key_format position;  // of the ranges of minima
  row_kind rows = row_kind::implicit;
  std::uint64_t schedule = 0;  // seed of an emulation's order of blocks and threads; 0: ascending
  bool masked = false;         // validity masks exist even if nothing is missing
  placing key_cells;
  placing row_cells;
  placing probe_cells;
  placing value_cells;
  std::vector<cell> keys;
  fault build_fails;
  std::vector<step> steps;
  bool operator==(const test_case&) const = default;

  // The format of the ends of its ranges.
  key_format probe() const { return minima ? position : key; }
  // That of the second column of a join; the probes of windows may be ranges of times.
  key_format second(bool of_probes) const {
    return of_probes && structure == "window_join" ? key : joins->second;
  }
};

// The whole case, for people to read.
std::string to_text(const test_case& of);
// A cell of a format.
std::string to_text(key_format format, const cell& of);

}  // namespace raydex::test
