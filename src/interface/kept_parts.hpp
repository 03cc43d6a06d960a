// SPDX-License-Identifier: Apache-2.0
// What a file keeps beside the memory of an index: structures for minima that something has in
// itself, and columns that something reads.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "raydex/core/keys/key.hpp"
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

// What reads columns for as long as it lives, and has them in its file.
class RAYDEX_INTERNAL keeps_columns {
 public:
  keeps_columns(const keeps_columns&) = delete;
  keeps_columns& operator=(const keeps_columns&) = delete;

  // Names all of its columns to a file that is saved, by copies in the memory of `on`. Returns the
  // format of the first one, and the number of rows.
  virtual std::pair<key_format, std::uint64_t> keep_columns(const context& on,
                                                            kept_memory& file) const = 0;

 protected:
  keeps_columns() = default;
  ~keeps_columns() = default;
};

}  // namespace raydex
