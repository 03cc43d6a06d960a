// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `raydex bench` needs of a family of structures.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/machine/floors.hpp"
#include "bench/machine/machine.hpp"
#include "bench/report.hpp"
#include "bench/workloads/axes.hpp"
#include "files/speed_cache.hpp"

namespace raydex::bench {

/// A workload of a family, ready to be measured on; its static members know all workloads, and what
/// is asked of which structures. `describe` and `to_options` tell of a workload, `to_string` of a
/// result.
template <class Family>
concept family = requires(Family here, const typename Family::workload& what,
                          typename Family::result asked, const io::structure_choice& who,
                          std::string_view structure, const std::vector<std::string>& names,
                          const axes& given, backend on, machine& where, floors& all) {
  { Family::has(structure) } -> std::same_as<bool>;
  { Family::sweep(given) } -> std::same_as<std::vector<typename Family::workload>>;
  { Family::parse_results(names) } -> std::same_as<std::vector<typename Family::result>>;
  { Family::rows_each(what) } -> std::same_as<std::size_t>;
  { Family::build_ratio } -> std::convertible_to<const char*>;
  Family::check_able(who, on, what);
  Family(what, where, all);
  here.measure_floors();
  { here.measure(asked, who, 1) } -> std::same_as<std::vector<report_row>>;
  { describe(what) } -> std::same_as<std::string>;
  { to_options(what) } -> std::same_as<std::string>;
  { to_string(asked) } -> std::convertible_to<std::string_view>;
};

}  // namespace raydex::bench
