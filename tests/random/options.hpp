// SPDX-License-Identifier: Apache-2.0
// The options that are drawn: one table for all structures.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/random/case.hpp"

namespace raydex::test {

struct drawn_option {
  std::string name;
  std::vector<std::string> values;
};
struct drawn_structure {
  std::string name;
  std::vector<drawn_option> options;
};
const std::vector<drawn_structure>& drawn_structures();

// Whether a backend takes these values of options together.
bool is_legal(std::string_view structure, backend where, const option_map& options);

// Legal options; most are left out.
option_map draw_options(const drawn_structure& structure, backend where, std::mt19937_64& random);

// The largest rank of a key that has a place in the scene; nothing where all have one.
std::optional<std::uint64_t> largest_place(std::string_view structure, const option_map& options);

// Whether a structure for keys answers ranges.
bool has_order(std::string_view structure);

// Whether it is an `rx` without a sorted column.
bool is_by_rows(const option_map& options);

// Whether it takes ascending columns alone, whose row ids are their positions, and few edits.
bool stores_no_rows(const option_map& options);

// Whether an index over such keys answers ranges: without a sorted column only where keys are not
// too far apart.
bool answers_ranges(std::string_view structure, key_format key, const option_map& options);

}  // namespace raydex::test
