// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the toolkit's <cuda_runtime.h> where kernels are compiled as plain C++ and run by
// fibers. Only includes belong here; each part of the language has its own small header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda_runtime_api.h"
#include "emulation/atomics.hpp"
#include "emulation/control.hpp"
#include "emulation/fibers.hpp"
#include "emulation/intrinsics.hpp"
#include "emulation/launch.hpp"
#include "emulation/qualifiers.hpp"
#include "emulation/synchronization.hpp"
#include "emulation/vector_types.hpp"
