// SPDX-License-Identifier: Apache-2.0
// The backend that a test program was built for (`BACKEND` of raydex_test); its tests skip
// themselves where it is not usable.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "raydex/session.hpp"

namespace raydex::test {

backend tested_backend();

// Whether its kernels run as fibers.
bool tested_by_emulation();

// A fixture with an open session.
class backend_test : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_unavailable(tested_backend()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    session_.emplace(tested_backend());
  }
  const session& at() const { return *session_; }

 private:
  std::optional<session> session_;
};

}  // namespace raydex::test
