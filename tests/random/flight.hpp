// SPDX-License-Identifier: Apache-2.0
// Names the case in flight if the program crashes or a case does not end.
#pragma once

#include <cstdint>
#include <string>

namespace raydex::test {

// From now on a crash says which case it was: `command` and its seed.
void watch_flight(const std::string& command);

// A case begins that must end within so many seconds.
void begin_case(std::uint64_t seed, unsigned seconds);
// No case is in flight any more.
void end_flight();

}  // namespace raydex::test
