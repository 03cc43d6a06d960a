// SPDX-License-Identifier: Apache-2.0
// Keys in order, held with what finds places among them.
#pragma once

#include <cstdint>
#include <memory>

#include "raydex/column.hpp"
#include "raydex/memory.hpp"

namespace raydex {

class ascending_keys {
 public:
  ascending_keys(const ascending_keys&) = delete;
  ascending_keys& operator=(const ascending_keys&) = delete;
  virtual ~ascending_keys() = default;

  // Their codes, in an array.
  const void* codes() const noexcept { return codes_; }
  // Writes how many keys are less than each wanted one, of the same format; or not greater, if
  // `past`. Of a missing one it writes the largest number.
  virtual void rank(const context& on, const column& wanted, bool past,
                    std::uint64_t* out) const = 0;

 protected:
  ascending_keys() = default;
  const void* codes_ = nullptr;
};

// Copies them from a column without missing cells. Waits for the stream if there are many.
using ascending_keys_builder = std::unique_ptr<ascending_keys>(const context& on,
                                                               const column& sorted);

}  // namespace raydex
