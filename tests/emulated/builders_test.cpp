// SPDX-License-Identifier: Apache-2.0
// What the tables of builders say of a structure that a backend has not, and of a backend that is
// not built: here, optix.
#include "src/interface/builders.hpp"

#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

TEST(builders, that_are_not_there_are_unavailable) {
  EXPECT_NO_THROW(builder_on(backend::cpu, &backend_table::build_rx));
  EXPECT_NO_THROW(builder_on(backend::cuda, &backend_table::build_eytzinger));
  test::expect_error<unavailable>([] { builder_on(backend::cuda, &backend_table::build_rx); },
                                  {"cuda"});
  test::expect_error<unavailable>([] { builder_on(backend::optix, &backend_table::build_rx); },
                                  {"optix"});
}

}  // namespace
}  // namespace raydex
