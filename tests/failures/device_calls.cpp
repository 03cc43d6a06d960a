// SPDX-License-Identifier: Apache-2.0
// Calls of the emulated CUDA runtime that fail at will.
#include <limits>

#include "emulation/control.hpp"
#include "tests/failures/failure.hpp"

namespace raydex::test {

namespace {
constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
}

failure::failure(std::uint64_t successes, shortage kind) {
  emulation::fail_calls_after(successes, kind == shortage::once ? 1 : all);
}

failure::~failure() {
  emulation::clear_failures();
}

bool has_failed() {
  return emulation::has_failed_call();
}

std::uint64_t calls_so_far() {
  return emulation::calls();
}

}  // namespace raydex::test
