// SPDX-License-Identifier: Apache-2.0
//
// What tests may set and ask of the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_runtime_api.h"

namespace emulation {

// The device's memory in bytes, 1 GiB at first. Existing allocations stay.
void set_device_memory(std::size_t bytes);
std::size_t device_memory_in_use();

// The most shared memory that a block may have; at first as much as on Hopper. One such block fits
// a multiprocessor.
inline constexpr std::size_t usual_shared_bytes = std::size_t{227} << 10;
void set_shared_memory(std::size_t bytes);

// Allocations of device and of pinned host memory that have not been freed.
std::size_t live_allocations();
// Streams, events and memory pools that have not been destroyed.
std::size_t live_handles();

// The next valid launch does not run and returns `error`.
void fail_next_launch(cudaError_t error = cudaErrorLaunchFailure);
// After `successes` further allocations, one returns cudaErrorMemoryAllocation, once.
void fail_allocation_after(std::size_t successes);
// After `successes` further calls of the runtime, `count` return cudaErrorUnknown and do nothing;
// calls that free or destroy something do not count.
void fail_calls_after(std::size_t successes, std::size_t count = 1);
// Whether one of these has failed.
bool has_failed_call();
// Resets all of the above.
void clear_failures();

// Calls of the runtime, except those that free or destroy something.
std::size_t calls();

// Launches that have run.
std::size_t launches();

// Zero, as at first: blocks and threads run in ascending order. Otherwise blocks, threads, and
// threads that resume run in an order drawn from the seed, and another thread may go on at each
// atomic. Each call of this function restarts the draws.
void set_schedule_seed(std::uint64_t seed);

}  // namespace emulation
