// SPDX-License-Identifier: Apache-2.0
// The memory of what has structures for minima in itself, in a file.
#pragma once

#include <memory>

#include "raydex/rmq.hpp"
#include "src/interface/kept_memory.hpp"

namespace raydex {

class RAYDEX_INTERNAL kept_parts : public kept_memory {
 public:
  // A structure over an array, which is kept by itself: `over` is saved, or becomes that of the
  // file.
  virtual void minima(const char* name, const context& own, const column& array,
                      std::unique_ptr<rmq>& over) = 0;
};

}  // namespace raydex
