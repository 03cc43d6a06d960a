// SPDX-License-Identifier: Apache-2.0
// Files that are damaged by chance, of whatever they keep: all are refused.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
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

// Has `ask` load and ask files with right checksums and wrong contents, which are made of a whole
// one to do harm: no read or write is out of bounds, which the sanitizers see. Numbers are at times
// below `few`.
template <class Ask>
void expect_no_harm(const bytes& file, int files, std::uint64_t few, std::mt19937_64& random,
                    const Ask& ask) {
  constexpr std::uint64_t odd[] = {
      0, 1, 2, 7, 0x7fff'ffff, 0xffff'ffff, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  const file_parts whole(file);  // says where things are, whatever was changed
  const std::uint64_t directory = whole.number(24);
  for (int i = 0; i < files; ++i) {
    file_parts parts(file);
    for (std::uint64_t changes = 1 + below(random, 3); changes > 0; --changes) {
      const std::uint64_t value = below(random, 2) == 0 ? odd[below(random, 8)] : random();
      const std::uint64_t section = parts.sections()[below(random, parts.sections().size())];
      switch (below(random, 4)) {
        case 0:  // numbers, as types and what there is
          parts.put(parts.numbers()[below(random, parts.numbers().size())],
                    below(random, 2) == 0 ? value : value % few);
          break;
        case 1:  // where a section is
          parts.put(section + 8 * below(random, 2), value);
          break;
        case 2:  // what it holds
          if (whole.number(section + 8) >= 8)
            parts.put(whole.number(section) + below(random, whole.number(section + 8) / 4 - 1) * 4,
                      value);
          break;
        default:  // words, and how many rows there are
          parts.put(directory + below(random, file.size() - directory - 8), value);
      }
    }
    try {
      ask(parts.summed());
    } catch (const error&) {  // refused
    }
  }
}

}  // namespace raydex::test
