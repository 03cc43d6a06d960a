// SPDX-License-Identifier: Apache-2.0
//
// The device's one instance, its handles, and what tests may set and ask of it.
#include "tests/emulation/device.hpp"

#include <algorithm>

#include "emulation/control.hpp"

namespace emulation {

device_state& device() {
  static device_state instance;
  return instance;
}

bool valid(const device_state& owner, cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         owner.streams.contains(stream);
}

bool valid(const device_state& owner, cudaEvent_t event) {
  return owner.events.contains(event);
}

bool valid(const device_state& owner, cudaMemPool_t pool) {
  return pool == &owner.default_pool || (owner.pools.contains(pool) && !pool->destroyed);
}

void set_shared_memory(std::size_t bytes) {
  const std::lock_guard lock(device().mutex);
  device().block_shared_bytes = bytes;
}

void set_device_memory(std::size_t bytes) {
  const std::lock_guard lock(device().mutex);
  device().memory = bytes;
}

std::size_t device_memory_in_use() {
  const std::lock_guard lock(device().mutex);
  return device().used;
}

std::size_t live_allocations() {
  const std::lock_guard lock(device().mutex);
  return device().allocations.size();
}

std::size_t live_handles() {
  const std::lock_guard lock(device().mutex);
  const auto is_live = [](cudaMemPool_t pool) { return !pool->destroyed; };
  const auto pools = std::count_if(device().pools.begin(), device().pools.end(), is_live);
  return device().streams.size() + device().events.size() + static_cast<std::size_t>(pools);
}

void fail_next_launch(cudaError_t error) {
  const std::lock_guard lock(device().mutex);
  device().launch_failure = error;
}

void fail_allocation_after(std::size_t successes) {
  const std::lock_guard lock(device().mutex);
  device().allocations_to_failure = successes;
}

bool is_to_fail(device_state& owner) {
  ++owner.calls;
  if (owner.failing_calls == 0) return false;
  if (owner.calls_to_failure != 0) {
    --owner.calls_to_failure;
    return false;
  }
  --owner.failing_calls;
  owner.has_failed_call = true;
  return true;
}

void fail_calls_after(std::size_t successes, std::size_t count) {
  const std::lock_guard lock(device().mutex);
  device().calls_to_failure = successes;
  device().failing_calls = count;
  device().has_failed_call = false;
}

bool has_failed_call() {
  const std::lock_guard lock(device().mutex);
  return device().has_failed_call;
}

std::size_t calls() {
  const std::lock_guard lock(device().mutex);
  return device().calls;
}

void clear_failures() {
  const std::lock_guard lock(device().mutex);
  device().failing_calls = 0;
  device().launch_failure.reset();
  device().allocations_to_failure.reset();
}

std::size_t launches() {
  const std::lock_guard lock(device().mutex);
  return device().launches;
}

}  // namespace emulation
