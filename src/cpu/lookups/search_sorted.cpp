// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/search_sorted.hpp"

#include "src/cpu/executor.hpp"

namespace raydex::cpu {

void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  raydex::search_sorted<executor>(on, sorted, wanted, past, out);
}

}  // namespace raydex::cpu
