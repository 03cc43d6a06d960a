// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/support/random.hpp"

namespace raydex::test {

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* given = std::getenv("RAYDEX_TEST_SEED");
    return given != nullptr ? std::stoull(given) : std::random_device{}();
  }();
  return value;
}

bool small_scale() {
  const char* scale = std::getenv("RAYDEX_TEST_SCALE");
  return scale != nullptr && std::string(scale) == "small";
}

namespace {

class seed_printer : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (test.result()->Failed()) std::cout << "RAYDEX_TEST_SEED=" << seed() << '\n';
  }
};

}  // namespace
}  // namespace raydex::test

// Defined by programs that register tests at run time.
[[gnu::weak]] void register_tests();
void register_tests() {}

int main(int argc, char** argv) {
  register_tests();
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new raydex::test::seed_printer);
  const int failed = RUN_ALL_TESTS();
  // Tells a part of the tests that could not run from one that passed.
  constexpr int all_skipped = 77;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const bool none_ran = tests.skipped_test_count() == tests.test_to_run_count();
  return failed == 0 && none_ran && tests.test_to_run_count() != 0 ? all_skipped : failed;
}
