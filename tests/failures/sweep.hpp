// SPDX-License-Identifier: Apache-2.0
// Makes each call of an operation fail in turn.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/interruptible.hpp"
#include "tests/failures/failure.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {

// Ends the program if an operation does not end.
class failures : public backend_test {
 protected:
  void SetUp() override {
    alarm(120);
    backend_test::SetUp();
  }
  void TearDown() override { alarm(0); }
};

// Whether an operation in which a call fails throws; the error must be one that raydex documents.
template <class Operation>
bool throws(std::uint64_t point, shortage kind, Operation&& operation) {
  try {
    const failure failing(point, kind);
    operation();
    return false;
  } catch (const out_of_memory&) {
  } catch (const error& other) {
    EXPECT_TRUE(tested_by_emulation()) << other.what();
  }
  return true;
}

// Has an operation be interrupted where it looks whether it is to stop, in turn at some of these
// places. Each time it runs once more without, and then `done()` is called: nothing else is left of
// the one that was interrupted but what it wrote.
template <class Operation, class Done>
void stop_in_turn(std::uint64_t most, Operation&& operation, Done&& done) {
  using std::chrono::milliseconds;
  std::uint64_t looks = 0;
  {
    const interruptible counting([&](const progress&) { return ++looks == 0; }, milliseconds(0));
    operation();
  }
  done();
  const std::uint64_t stride = std::max<std::uint64_t>(1, looks / most);
  auto random = generator(looks);
  for (std::uint64_t point = below(random, stride); point < looks; point += stride) {
    SCOPED_TRACE("stopped at look " + std::to_string(point) + " of " + std::to_string(looks));
    bool stopped = false;
    try {
      const interruptible asked(
          [&, so_far = point](const progress&) mutable { return so_far-- == 0; }, milliseconds(0));
      operation();
    } catch (const interrupted&) {
      stopped = true;
    }
    // Threads share the looks of an operation in other ways each time: it may be through before.
    if (stopped) operation();
    done();
    if (testing::Test::HasFailure()) return;
  }
}

// Makes the calls of an operation fail in turn; if there are many, or a run is to draw a share,
// only some of them, from a random one on. Then calls `failed()` if the operation threw and
// `done()` if not. At the end the operation runs once more without failures.
template <class Operation, class Failed, class Done>
void fail_in_turn(const std::string& name, Operation&& operation, Failed&& failed, Done&& done) {
  SCOPED_TRACE(name);
  const std::uint64_t most = 40 / std::min<std::uint64_t>(share_divisor(), 8);
  const std::uint64_t before = calls_so_far();
  operation();
  const std::uint64_t calls = calls_so_far() - before;
  done();
  const std::uint64_t stride = std::max<std::uint64_t>(1, calls / most);
  auto random = generator(calls);
  for (const shortage kind : {shortage::once, shortage::lasting}) {
    for (std::uint64_t point = below(random, stride);; point += stride) {
      SCOPED_TRACE("call " + std::to_string(point) + " of " + std::to_string(calls) +
                   (kind == shortage::once ? " fails" : " and all that follow fail"));
      const bool threw = throws(point, kind, operation);
      ASSERT_TRUE(has_failed() || !threw) << "an error though nothing failed";
      if (threw) {
        failed();
      } else {
        done();
      }
      if (testing::Test::HasFailure()) return;
      if (!has_failed()) break;
    }
  }
  operation();
  done();
  stop_in_turn(std::max<std::uint64_t>(1, most / 4), operation, done);
}

// Has something go through the bytes of a file and back while calls fail: `save()` returns them,
// `load(file, verify)` what they hold, and `check(it)` compares that. `bytes()`: memory in use.
template <class Kept, class Save, class Load, class Check, class Bytes>
void fail_through_a_file(const Kept& of, const Save& save, const Load& load, const Check& check,
                         const Bytes& bytes) {
  const std::uint64_t before = bytes();
  std::vector<std::byte> file;
  const auto nothing_is_left = [&] { EXPECT_EQ(bytes(), before); };
  fail_in_turn(
      "save", [&] { file = save(); },
      [&] {
        nothing_is_left();
        check(of);
      },
      nothing_is_left);
  for (const bool verify : {true, false}) {
    decltype(load(file, verify)) loaded;
    fail_in_turn(
        verify ? "load verified" : "load", [&] { loaded = load(file, verify); }, nothing_is_left,
        [&] {
          check(*loaded);
          loaded.reset();
        });
  }
}

}  // namespace raydex::test
