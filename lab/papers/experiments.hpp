// SPDX-License-Identifier: Apache-2.0
/// @file
/// The papers' experiments as named runs of `raydex bench`.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment.hpp"

namespace raydex::bench {

/// All experiments.
const std::vector<experiment>& experiments();

/// Those of the names; `lightweight/14*` is all that begin so. Throws `invalid_argument`.
std::vector<experiment> find_experiments(const std::vector<std::string>& names);

}  // namespace raydex::bench
