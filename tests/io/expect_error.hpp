// SPDX-License-Identifier: Apache-2.0
// Errors as the command line shows them: one line that says what is wrong.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "raydex/error.hpp"

namespace raydex::test {

// Expects `call` to throw an `error` with a message of one line that holds all of `parts`.
template <class Call, class... Parts>
void expect_error(Call&& call, const Parts&... parts) {
  try {
    call();
  } catch (const error& failure) {
    const std::string message = failure.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string_view part : {std::string_view(parts)...})
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

}  // namespace raydex::test
