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

  double_buffer(const context& where, std::uint64_t size)
      : current(where, size), other(where, size) {}
};

}  // namespace raydex
