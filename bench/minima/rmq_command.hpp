// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of `raydex bench` that is about minima.
#pragma once

#include <vector>

#include "bench/machine/floors.hpp"
#include "bench/machine/machine.hpp"
#include "bench/papers/experiments.hpp"
#include "bench/recorder.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {

/// Refuses before any work what a structure cannot do; unknown names are left to `build_rmq`, which
/// knows what to say about them.
void check_able(const std::vector<rmq_scene>& scenes, backend where);

/// Measures all of it.
void measure_all(const std::vector<rmq_scene>& scenes, machine& where, floors& all_floors,
                 const device_info& device, int repetitions, recorder& record);

}  // namespace raydex::bench
