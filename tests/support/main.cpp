// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

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

std::uint64_t share_divisor() {
  static const std::uint64_t value = [] {
    const char* share = std::getenv("RAYDEX_TEST_SHARE");
    if (share == nullptr) return std::uint64_t{1};
    if (!std::string_view(share).starts_with("1/") || std::strtoull(share + 2, nullptr, 10) == 0) {
      std::cerr << "RAYDEX_TEST_SHARE=" << share << " is not 1/N\n";
      std::exit(1);
    }
    return std::uint64_t{std::strtoull(share + 2, nullptr, 10)};
  }();
  return value;
}

bool is_drawn(std::string_view name) {
  if (share_divisor() == 1) return true;
  std::uint64_t hash = seed();
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  auto random = generator(hash);
  return below(random, share_divisor()) == 0;
}

namespace {

// Which command repeats a test that failed.
class command_printer : public testing::EmptyTestEventListener {
 public:
  explicit command_printer(std::string program) : program_(std::move(program)) {}

  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    std::cout << "to repeat it: ";
    for (const char* name : {"RAYDEX_TEST_SCALE", "RAYDEX_TEST_SHARE"})
      if (const char* value = std::getenv(name)) std::cout << name << '=' << value << ' ';
    std::cout << "RAYDEX_TEST_SEED=" << seed() << ' ' << program_
              << " --gtest_filter=" << test.test_suite_name() << '.' << test.name() << '\n';
  }

 private:
  std::string program_;
};

}  // namespace
}  // namespace raydex::test

// Defined by programs that register tests at run time.
[[gnu::weak]] void register_tests();
void register_tests() {}

int main(int argc, char** argv) {
  register_tests();
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new raydex::test::command_printer(argv[0]));
  const int failed = RUN_ALL_TESTS();
  // Tells a part of the tests that could not run from one that passed.
  constexpr int all_skipped = 77;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const bool none_ran = tests.skipped_test_count() == tests.test_to_run_count();
  return failed == 0 && none_ran && tests.test_to_run_count() != 0 ? all_skipped : failed;
}
