// SPDX-License-Identifier: Apache-2.0
// `--backend auto` is a backend that has the structure.
#include "io/backend_choice.hpp"

#include <gtest/gtest.h>

#include "raydex/error.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::io {
namespace {

// The structures on a machine with these backends.
std::vector<backend_offer> offers(bool cuda, bool optix) {
  std::vector<backend_offer> all = key_offers();
  for (backend_offer& one : all)
    one.available = one.where == backend::cpu || (one.where == backend::cuda ? cuda : optix);
  return all;
}

TEST(backend_choice, takes_the_backend_that_has_the_structure) {
  const auto gpu = offers(true, true);
  EXPECT_EQ(choose_backend("auto", gpu, "auto", false), backend::cuda);
  EXPECT_EQ(choose_backend("auto", gpu, "pivot_tree", false), backend::cuda);
  EXPECT_EQ(choose_backend("auto", gpu, "rx", false), backend::optix);
  EXPECT_EQ(choose_backend("auto", gpu, "cgrx", false), backend::optix);
  const auto without_rays = offers(true, false);
  EXPECT_EQ(choose_backend("auto", without_rays, "pivot_tree", false), backend::cuda);
  EXPECT_EQ(choose_backend("auto", without_rays, "rx", false), backend::cpu);
  const auto cpu = offers(false, false);
  for (const char* structure : {"auto", "pivot_tree", "rx", "cgrx"})
    EXPECT_EQ(choose_backend("auto", cpu, structure, false), backend::cpu);
}

TEST(backend_choice, takes_the_backend_that_takes_updates) {
  EXPECT_EQ(choose_backend("auto", offers(true, true), "auto", true), backend::cuda);
  EXPECT_EQ(choose_backend("auto", offers(true, true), "cgrx", true), backend::optix);
  EXPECT_EQ(choose_backend("auto", offers(true, false), "cgrx", true), backend::cpu);
  EXPECT_EQ(choose_backend("auto", offers(false, false), "auto", true), backend::cpu);
  std::vector<backend_offer> minima = rmq_offers();
  for (backend_offer& one : minima)
    one.available = true;
  EXPECT_EQ(choose_backend("auto", minima, "auto", true), backend::cuda);
  EXPECT_EQ(choose_backend("auto", minima, "rmq_rx", false), backend::optix);
}

TEST(backend_choice, leaves_refusals_to_others) {
  const backend usual = parse_backend("auto");
  EXPECT_EQ(choose_backend("auto", rmq_offers(), "rmq_lca", true), usual);
}

TEST(backend_choice, a_name_is_taken_at_its_word) {
  EXPECT_EQ(choose_backend("cuda", offers(false, false), "rx", true), backend::cuda);
}

TEST(backend_choice, refuses_names_that_are_not_known) {
  const auto all = offers(true, true);
  test::expect_error<invalid_argument>([&] { choose_backend("cpp", all, "auto", false); },
                                       {"backend: 'cpp'", "did you mean 'cpu'?"});
  test::expect_error<invalid_argument>([&] { choose_backend("cpu", all, "pivot_teee", false); },
                                       {"auto, sorted_array", "did you mean 'pivot_tree'?"});
  EXPECT_THROW(choose_backend("auto", all, "rmq_scan", false), invalid_argument);
}

}  // namespace
}  // namespace raydex::io
