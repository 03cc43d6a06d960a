// SPDX-License-Identifier: Apache-2.0
// What the tables of builders say of a structure that a backend has not, and of a backend that is
// not built: here, optix.
#include "src/structures/structure_builders.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

TEST(builders, that_are_not_there_are_unavailable) {
  EXPECT_NO_THROW(builder_on(backend::cpu, &structure_builders::build_rx));
  EXPECT_NO_THROW(builder_on(backend::cuda, &structure_builders::build_btree));
  test::expect_error<unavailable>([] { builder_on(backend::cuda, &structure_builders::build_rx); },
                                  {"cuda"});
  test::expect_error<unavailable>([] { builder_on(backend::optix, &structure_builders::build_rx); },
                                  {"optix"});
}

TEST(builders, of_papers_that_are_not_there_are_unavailable) {
  constexpr const char* what = "rx with primitives=rows";
  EXPECT_NO_THROW(builder_on(backend::cpu, &paper_builders::build_rx_rows, what));
  EXPECT_NO_THROW(builder_on(backend::cuda, &paper_builders::build_eytzinger, "eytzinger"));
  for (const auto& [where, named] : {std::pair(backend::cuda, "cuda"), {backend::optix, "optix"}}) {
    test::expect_error<unavailable>(
        [&] { builder_on(where, &paper_builders::build_rx_rows, what); }, {named});
  }
}

}  // namespace
}  // namespace raydex
