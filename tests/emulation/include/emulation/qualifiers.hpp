// SPDX-License-Identifier: Apache-2.0
//
// The keywords that CUDA adds to declarations.
#pragma once

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the names are CUDA's
#define __global__
#define __device__
#define __noinline__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))

// One block runs at a time, so a static is as good as shared memory. The tag ends up in the
// variable's symbol; static_shared.cpp finds it there, and fills the variable with rubbish before
// each block. `used` tells the optimiser that others write it; constinit refuses initial values
// that would be computed only once. `extern __shared__` does not compile: dynamic shared memory
// comes from emulation::dynamic_shared_memory().
#define __shared__ static constinit __attribute__((abi_tag("emulated_shared"), used))
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
