// SPDX-License-Identifier: Apache-2.0
// How each build of a structure by its own function begins: its arguments and options are checked
// and described.
#pragma once

#include <optional>

#include "src/interface/checks.hpp"
#include "src/interface/option_table.hpp"

namespace raydex {

template <class Options, std::size_t N, class... Arguments>
auto checked(const option_table<Options, N>& table, const Options& options, backend where,
             const context& on, const Arguments&... arguments) {
  check_build(table.facts, where, on, arguments...);
  check(table, options);
  auto info = info_of(table.facts, where, arguments...);
  if constexpr (requires { info.row_ids; }) check_narrow(info);
  if constexpr (requires { info.extreme; }) info.extreme = options.extreme;
  info.options = describe(table, options);
  return info;
}

}  // namespace raydex
