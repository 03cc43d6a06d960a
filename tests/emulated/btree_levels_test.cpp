// SPDX-License-Identifier: Apache-2.0
// A `btree` with levels of nodes between its root and its pages: in little shared memory, where the
// root is small.
#include <gtest/gtest.h>

#include "emulation/control.hpp"
#include "tests/lookups/btree/edited_btree.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

class btree_levels : public testing::Test {
 protected:
  btree_levels() { emulation::set_shared_memory(std::size_t{64} << 10); }
  ~btree_levels() override { emulation::set_shared_memory(emulation::usual_shared_bytes); }
};

TEST_F(btree_levels, lead_to_pages_before_and_after_edits) {
  const session at(backend::cuda);
  auto random = test::generator();
  std::uint32_t row = 0;
  using tree_type = test::edited_btree<std::uint64_t, std::uint32_t>;
  tree_type::entries all;
  // More pages, of 36 entries, than the root has children.
  while (all.size() < 220'000)
    all.emplace_back(test::below(random, 1'000'000), row++);
  tree_type tree(at, all, 50);
  tree.check(random, 300);
  for (int wave = 0; wave < 2; ++wave) {
    tree_type::entries added;
    for (int i = 0; i < 100; ++i)
      added.emplace_back(test::below(random, 1'000'000), row++);
    tree.edit(added, {tree.held()[1000]}, true);
    tree.check(random, 300);
  }
}

}  // namespace
}  // namespace raydex
