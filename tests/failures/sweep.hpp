// SPDX-License-Identifier: Apache-2.0
// Makes each call of an operation fail in turn.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "raydex/error.hpp"
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
}

}  // namespace raydex::test
