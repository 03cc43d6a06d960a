// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `raydex bench` needs of a family of structures.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/speed_cache.hpp"
#include "lab/machine/floors.hpp"
#include "lab/machine/machine.hpp"
#include "lab/report.hpp"
#include "lab/workloads/axes.hpp"

namespace raydex::bench {

/// A workload of a family, ready to be measured on. Its static members know all workloads and
/// structures. `describe` and `to_options` tell of a workload, `to_string` of a result.
template <class Family>
concept family = requires(Family one, const typename Family::workload& spec,
                          typename Family::result kind, const io::structure_choice& who,
                          std::string_view structure, const std::vector<std::string>& names,
                          const axes& swept, backend where, machine& target, floors& all) {
  // Whether a structure belongs to it.
  { Family::has(structure) } -> std::same_as<bool>;
  // All combinations, each checked. Throws `invalid_argument` naming the option, also where an axis
  // is of others.
  { Family::sweep(swept) } -> std::same_as<std::vector<typename Family::workload>>;
  // The results by name; without any, the usual one.
  { Family::parse_results(names) } -> std::same_as<std::vector<typename Family::result>>;
  // Refuses what a structure cannot do. Unknown names are left to its build, which knows what to
  // say about them.
  Family::check_able(who, where, spec);
  // How many rows a measurement makes.
  { Family::rows_each(spec) } -> std::same_as<std::size_t>;
  // The title of builds beside their floor, and what the floor is.
  { Family::build_ratio } -> std::convertible_to<const char*>;
  { Family::build_floor } -> std::convertible_to<const char*>;
  // Generates the data.
  Family(spec, target, all);
  // Measures what all structures are compared with.
  one.measure_floors();
  { one.measure(kind, who, 1) } -> std::same_as<std::vector<report_row>>;
  { describe(spec) } -> std::same_as<std::string>;
  { to_options(spec) } -> std::same_as<std::string>;
  { to_string(kind) } -> std::convertible_to<std::string_view>;
};

}  // namespace raydex::bench
