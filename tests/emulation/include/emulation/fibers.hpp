// SPDX-License-Identifier: Apache-2.0
//
// What kernels need of the engine that runs a block's threads: a thread's indexes, and the points
// at which threads wait for one another. The engine itself is in fibers.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulation/vector_types.hpp"

inline constexpr int warpSize = 32;  // NOLINT(readability-identifier-naming): CUDA's name

namespace emulation {

// The dynamic shared memory of the running block: as many bytes as the launch asked for, 16-byte
// aligned; null if it asked for none.
void* dynamic_shared_memory();

namespace detail {

inline constexpr unsigned int warp_lanes = 32;

struct grid_position {
  uint3 thread{};
  uint3 block{};
  dim3 block_size;
  dim3 grid_size;
};

inline constinit grid_position position{};

// Whether a schedule seed is set. If so, another thread may go on at each atomic.
inline constinit bool shuffled_schedule = false;

// What one lane gives to a warp's operation and gets from it.
struct lane_slot {
  std::uint64_t value = 0;
  std::uint64_t result = 0;
  std::uint32_t argument = 0;
};

using lane_slots = std::span<lane_slot, warp_lanes>;

// Threads meet only at the same operation, compared by address.
struct warp_meeting {
  const char* name;
  // Fills the participants' results when all of them have arrived.
  void (*resolve)(lane_slots lanes, std::uint32_t participants);
};

struct block_meeting {
  const char* name;
};

struct block_vote {
  unsigned int arrived;
  unsigned int in_favor;
};

// Waits for the lanes in `mask` that have not returned from the kernel, and gives the result.
std::uint64_t meet_warp(const warp_meeting& operation, std::uint32_t mask, std::uint64_t value,
                        std::uint32_t argument);

// Waits for all threads of the block that have not returned from the kernel.
block_vote meet_block(const block_meeting& operation, bool predicate);

// Lets other threads go on first, if they can.
void yield();

// Yields now and then, as drawn from the schedule seed.
void maybe_yield();

// Ends the launch with a std::runtime_error in the launcher. Unlike a throw it also works beneath
// functions that are noexcept.
[[noreturn]] void fail_launch(const char* complaint);

unsigned int current_lane();
// The rank in the block, x running fastest.
unsigned int current_rank();

using kernel_body = void (*)(const void* arguments);

// Runs `body(arguments)` for every thread; throws what a thread threw, and std::runtime_error for
// a deadlock or a misused operation.
void run_grid(dim3 grid_size, dim3 block_size, std::size_t shared_bytes, kernel_body body,
              const void* arguments);

}  // namespace detail
}  // namespace emulation

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's
// References, so that a kernel which assigns to them does not compile.
inline constexpr const uint3& threadIdx = emulation::detail::position.thread;
inline constexpr const uint3& blockIdx = emulation::detail::position.block;
inline constexpr const dim3& blockDim = emulation::detail::position.block_size;
inline constexpr const dim3& gridDim = emulation::detail::position.grid_size;
// NOLINTEND(readability-identifier-naming)
