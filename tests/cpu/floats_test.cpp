// SPDX-License-Identifier: Apache-2.0
// Answers do not depend on the caller's floating-point environment, which calls leave as it was.
#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "raydex/raydex.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace raydex {
namespace {

constexpr std::size_t n = 5000;  // so that all threads take part

// Numbers that are all 0 where denormals are.
template <class T>
std::vector<T> denormals() {
  std::mt19937_64 random(7);
  std::vector<T> all(n);
  for (T& one : all)
    one = static_cast<T>(random() % 1000) * std::numeric_limits<T>::denorm_min();
  return all;
}

std::vector<std::uint32_t> ends(std::uint32_t beside) {
  std::vector<std::uint32_t> all(n);
  for (std::uint32_t i = 0; i < n; ++i)
    all[i] = std::min<std::uint32_t>(i / 2 * 2 + beside, n - 1);
  return all;
}

// What all structures answer for these values.
template <class T>
std::vector<std::vector<std::uint64_t>> all_answers(const std::vector<T>& values) {
  const session at(backend::cpu);
  const auto lower = ends(0);
  const auto upper = ends(40);
  std::vector<std::vector<std::uint64_t>> all;
  for (const rmq_capability& one : rmq_capabilities()) {
    if (one.where != backend::cpu) continue;
    const auto built = build_rmq(one.structure, backend::cpu, at, column(values));
    built->position(at, ranges(column(lower), column(upper)), all.emplace_back(n));
  }
  for (const capability& one : capabilities()) {
    if (one.where != backend::cpu) continue;
    if (std::ranges::find(one.keys, format_of<T>.type) == one.keys.end()) continue;
    const auto built = build(one.structure, backend::cpu, at, column(values));
    built->count(at, points(column(values)), all.emplace_back(n));
    std::vector<double> sums(n);
    built->sum(at, points(column(values)), column(values), std::span(sums));
    for (const double sum : sums)
      all.back().push_back(std::bit_cast<std::uint64_t>(sum));
  }
  return all;
}

// Runs f in a thread of its own whose environment `enter` changes, and where oneTBB and its workers
// have seen that environment first.
template <class Enter, class F>
void in_environment(const Enter& enter, const F& f) {
  std::thread([&] {
    enter();
    tbb::parallel_for(0, 1000, [](int /*i*/) {});
    f();
  }).join();
}

#if defined(__x86_64__)
TEST(floats, denormals_are_numbers_even_where_the_caller_has_none) {
  constexpr unsigned flush_to_zero_and_denormals_are_zero = 0x8040;
  const auto floats = denormals<float>();
  const auto doubles = denormals<double>();
  const auto expected = all_answers(floats);
  const auto expected_of_doubles = all_answers(doubles);
  in_environment([] { _mm_setcsr(_mm_getcsr() | flush_to_zero_and_denormals_are_zero); },
                 [&] {
                   const unsigned before = _mm_getcsr();
                   EXPECT_EQ(all_answers(floats), expected);
                   EXPECT_EQ(all_answers(doubles), expected_of_doubles);
                   EXPECT_EQ(_mm_getcsr(), before);
                 });
}
#endif

TEST(floats, answers_are_the_same_however_the_caller_rounds) {
  std::vector<double> doubles(n);
  for (std::size_t i = 0; i < n; ++i)
    doubles[i] = static_cast<double>(i % 100) / 10;  // sums of 50 each
  const auto expected = all_answers(doubles);
  in_environment([] { std::fesetround(FE_UPWARD); },
                 [&] {
                   EXPECT_EQ(all_answers(doubles), expected);
                   EXPECT_EQ(std::fegetround(), FE_UPWARD);
                 });
}

// A trap that is sprung would end the test.
TEST(floats, traps_are_not_sprung) {
  const auto doubles = denormals<double>();
  const auto expected = all_answers(doubles);
  constexpr int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  in_environment([] { feenableexcept(traps); },
                 [&] {
                   EXPECT_EQ(all_answers(doubles), expected);
                   EXPECT_EQ(fegetexcept(), traps);
                 });
}

}  // namespace
}  // namespace raydex
