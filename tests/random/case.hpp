// SPDX-License-Identifier: Apache-2.0
// A case: a structure with its options, a column, and steps that query and change it. It is plain
// data, so it can be drawn from a seed, shrunk, compared and printed.
#pragma once

#include <cstdint>
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

struct test_case {
  std::uint64_t seed = 0;
  std::string structure;
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
};

// The whole case, for people to read.
std::string to_text(const test_case& of);
// A cell of a format.
std::string to_text(key_format format, const cell& of);

}  // namespace raydex::test
