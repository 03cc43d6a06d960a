// SPDX-License-Identifier: Apache-2.0
// Makes a failing case simpler until nothing simpler fails.
#pragma once

#include <chrono>
#include <functional>

#include "tests/random/case.hpp"

namespace raydex::test {

// Tries less of everything and simpler values, one change at a time, and keeps what still fails.
// Ends when no change does, or when the time is over.
test_case shrink(const test_case& failing, backend where,
                 const std::function<bool(const test_case&)>& fails, std::chrono::seconds limit);

}  // namespace raydex::test
