// SPDX-License-Identifier: Apache-2.0
// Files that are damaged by chance, of whatever they keep: all are refused.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "raydex/error.hpp"
#include "tests/lookups/index_file/kept_indexes.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

// Changes single bits of a file: in the header, the directory, and so many other places. `answer`
// loads a file, verified, and asks it; it is to refuse it by the name of a part, unless nobody
// reads the bit.
template <class Answer>
void expect_changed_bits_refused(const bytes& file, int other_places, const Answer& answer) {
  auto random = generator(46);
  const file_parts parts(file);
  const auto expected = answer(file);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 64; ++i)
    places.push_back(i);
  for (std::size_t i = parts.number(24); i < file.size(); ++i)
    places.push_back(i);
  for (int i = 0; i < other_places; ++i)
    places.push_back(below(random, file.size()));
  for (const std::size_t place : places) {
    bytes changed = file;
    changed[place] ^= std::byte{1} << below(random, 8);
    try {
      ASSERT_EQ(answer(changed), expected) << place;
      ASSERT_TRUE(parts.is_padding(place)) << place;
    } catch (const invalid_argument& problem) {
      const std::string what = problem.what();
      ASSERT_TRUE(what.find("section '") != std::string::npos ||
                  what.find("header: ") != std::string::npos ||
                  what.find("directory: ") != std::string::npos)
          << what;
    }
  }
}

// Cuts a file off and appends to it; `load(file, verify)` is to refuse it.
template <class Load>
void expect_cut_files_refused(const bytes& file, const Load& load) {
  auto random = generator(3);
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t size = i < 65 ? i : below(random, file.size());
    for (const bool verify : {true, false})
      EXPECT_THROW(load({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}, verify),
                   invalid_argument);
  }
  bytes longer = file;
  longer.push_back({});
  expect_error<invalid_argument>([&] { load(longer, false); }, {"header", "appended"});
}

}  // namespace raydex::test
