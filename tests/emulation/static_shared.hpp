// SPDX-License-Identifier: Apache-2.0
//
// Finding the __shared__ variables of all kernels.
#pragma once

namespace emulation::detail {

// Fills every __shared__ variable of the program with rubbish.
void spoil_static_shared();

}  // namespace emulation::detail
