// SPDX-License-Identifier: Apache-2.0
// Hash tables of the backend under test, compared with a sorted array.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {

class hash_table_test : public backend_test {
 protected:
  std::unique_ptr<index> build(std::string_view structure, const std::vector<std::uint32_t>& keys,
                               const option_map& options = {}) const {
    const auto cells = at().upload(keys);
    return raydex::build(structure, at().where(), at(), column(cells), {}, options);
  }

  // Asks a table and a sorted array of `keys` for the same.
  void expect_answers_of(const std::vector<std::uint32_t>& keys, const index& tested,
                         const std::vector<std::uint32_t>& asked) const {
    const auto other = build("sorted_array", keys);
    const auto cells = at().upload(asked);
    const probes batch = points(column(cells));
    EXPECT_EQ(ask(at(), tested, batch), ask(at(), *other, batch));
  }

  static std::vector<std::uint32_t> numbers(std::uint32_t begin, std::uint32_t end,
                                            std::uint32_t step = 1) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = begin; i < end; i += step)
      all.push_back(i);
    return all;
  }

  // So many keys whose hashes by a function are the largest numbers, and so lie side by side. That
  // of MurmurHash3 is what hashes were before tables had seeds.
  static std::vector<std::uint32_t> of_one_home(std::uint32_t count,
                                                const core::hash_function<std::uint32_t>& by = {}) {
    std::vector<std::uint32_t> keys;
    for (std::uint32_t i = 0; i < count; ++i)
      keys.push_back(core::key_of(by, ~i));
    return keys;
  }
  static std::vector<std::uint32_t> of_one_home(std::uint32_t count, std::uint32_t seed) {
    return of_one_home(count, core::hash_by<std::uint32_t>(seed));
  }
};

}  // namespace raydex::test
