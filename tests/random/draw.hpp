// SPDX-License-Identifier: Apache-2.0
// Cases drawn at random.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/random/case.hpp"

namespace raydex::test {

// The structures that raydex lists for a backend, and the joins.
std::vector<std::string> structures_of(backend where);

// The case of a seed. `only`: the structure, if it is not to be drawn.
test_case draw_case(std::uint64_t seed, const subject& tested, std::string_view only = {});

}  // namespace raydex::test
