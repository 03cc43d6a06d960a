// SPDX-License-Identifier: Apache-2.0
// Columns on the way from the interface to core.
#pragma once

#include <cstddef>

#include "raydex/column.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex {

// A column as core reads it.
inline core::cells cells_of(const column& c) {
  return {static_cast<const std::byte*>(c.data), c.step(), c.validity, c.format};
}

}  // namespace raydex
