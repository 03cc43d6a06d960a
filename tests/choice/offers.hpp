// SPDX-License-Identifier: Apache-2.0
// Structures to choose from, whatever this build has.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "raydex/advise.hpp"
#include "raydex/error.hpp"

namespace raydex::test {

// A structure that can do everything but updates.
inline capability offer(const std::string& structure, backend where) {
  return {.structure = structure,
          .where = where,
          .available = false,  // advice may be for another machine
          .reason = "not here",
          .points = true,
          .ranges = true,
          .duplicates = true,
          .updates = false,
          .keys = {key_type::uint32, key_type::uint64, key_type::int32, key_type::int64,
                   key_type::float32, key_type::float64, key_type::bytes}};
}

// A measurement of points with 32-bit keys on cpu.
inline measured_speed row(const std::string& structure, std::uint64_t n, double lookups_per_s,
                          double bytes_per_key = 8) {
  return {.structure = structure,
          .options = {},
          .where = backend::cpu,
          .device = "test",
          .key_bits = 32,
          .n = n,
          .range_hits = 0,
          .sorted_probes = false,
          .lookups_per_s = lookups_per_s,
          .bytes_per_key = bytes_per_key};
}

inline speed_table table_of(const std::vector<measured_speed>& rows) {
  speed_table table;
  for (const measured_speed& one : rows)
    table.add(one);
  return table;
}

// Expects an error of type Error whose message holds all of `words`.
template <class Error>
void expect_error(const std::function<void()>& call, const std::vector<std::string>& words) {
  try {
    call();
    FAIL() << "no error; expected one with '" << words.front() << "'";
  } catch (const Error& e) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << ": " << e.what();
    }
  }
}

}  // namespace raydex::test
