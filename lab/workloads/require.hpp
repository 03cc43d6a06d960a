// SPDX-License-Identifier: Apache-2.0
// How a workload refuses settings that it cannot have.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "raydex/error.hpp"

namespace raydex::bench {

// Refuses what does not hold.
template <class... Values>
void require(bool holds, fmt::format_string<Values...> text, Values&&... values) {
  if (!holds) throw invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace raydex::bench
