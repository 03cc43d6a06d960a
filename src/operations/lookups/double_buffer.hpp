// SPDX-License-Identifier: Apache-2.0
// Two arrays that a sort moves its elements between.
#pragma once

#include <cstdint>

#include "raydex/memory.hpp"

namespace raydex {

template <class T>
struct double_buffer {
  buffer<T> current;  // the elements
  buffer<T> other;    // as large, with arbitrary contents

  double_buffer(const context& on, std::uint64_t size) : current(on, size), other(on, size) {}
};

}  // namespace raydex
