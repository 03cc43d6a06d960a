// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace raydex::test {

// Expects an error of type Error whose message holds all of `words`.
template <class Error>
void expect_error(const std::function<void()>& call, const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with '" << words.front() << "'";
  } catch (const Error& e) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
}

// A word as messages quote it.
inline std::string quoted(const char* word) {
  return std::string("'").append(word).append("'");
}

}  // namespace raydex::test
