// SPDX-License-Identifier: Apache-2.0
// What a search in a sorted column refuses.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

class search_sorted_arguments : public testing::Test {
 protected:
  void refused(const column& sorted, const column& wanted, const std::vector<std::string>& says) {
    expect_error<invalid_argument>(
        [&] { search_sorted(backend::cpu, at_, sorted, wanted, search_side::left, out_); }, says);
  }

  const session at_{backend::cpu};
  const std::vector<std::uint32_t> cells_{1, 2, 3};
  const std::vector<std::int32_t> signed_{1, 2};
  const std::uint8_t bits_ = 7;
  std::vector<std::uint64_t> out_ = std::vector<std::uint64_t>(3);
};

TEST_F(search_sorted_arguments, missing_cells) {
  refused(column(cells_, &bits_), column(cells_), {"sorted: it has validity bits"});
}

TEST_F(search_sorted_arguments, keys_of_another_type) {
  out_.resize(2);
  refused(column(cells_), column(signed_), {"wanted: its keys are int32", "uint32"});
}

TEST_F(search_sorted_arguments, too_little_room) {
  out_.resize(2);
  refused(column(cells_), column(cells_), {"wanted", "3", "2"});
}

TEST_F(search_sorted_arguments, nothing_to_search_for) {
  const column none{format_of<std::uint32_t>, nullptr, 0};
  EXPECT_NO_THROW(search_sorted(backend::cpu, at_, column(cells_), none, search_side::left, {}));
}

}  // namespace
}  // namespace raydex::test
