// SPDX-License-Identifier: Apache-2.0
/// @file
/// Marks what the algorithms in core need of the compiler.
#pragma once

/// Put before a function that runs on the host and on a CUDA device.
#if defined(__CUDACC__)
#define RAYDEX_HD __host__ __device__
#else
#define RAYDEX_HD
#endif

/// Put before a loop over a small array that a CUDA device is to keep in registers.
#if defined(__CUDA_ARCH__)
#define RAYDEX_UNROLL _Pragma("unroll")
#else
#define RAYDEX_UNROLL
#endif

/// Put before a loop of few rounds, which a CUDA device is to run as it is.
#if defined(__CUDA_ARCH__)
#define RAYDEX_KEEP_LOOP _Pragma("unroll 1")
#else
#define RAYDEX_KEEP_LOOP
#endif
