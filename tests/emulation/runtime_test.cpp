// SPDX-License-Identifier: Apache-2.0
//
// The emulated runtime: memory and its limits, errors that tests ask for, handles, invalid calls,
// and the misuse that AddressSanitizer must find.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/emulation/launch_test.hpp"
#include "tests/emulation/sanitizer.hpp"

namespace {

using emulation_test::device_array;
using emulation_test::launch;

__global__ void do_nothing() {}

__global__ void add_one(unsigned int* values, unsigned int place) {
  values[place] += 1;
}

TEST(memory, is_filled_with_rubbish) {
  const device_array<std::uint32_t> device(3);
  EXPECT_EQ(device.read(), std::vector<std::uint32_t>(3, 0xA5A5'A5A5U));
}

TEST(memory, is_counted) {
  const std::size_t before = emulation::live_allocations();
  const std::size_t used = emulation::device_memory_in_use();
  double* device = nullptr;
  double* host = nullptr;
  ASSERT_EQ(cudaMallocAsync(&device, 100, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 50), cudaSuccess);
  EXPECT_EQ(emulation::live_allocations(), before + 2);
  EXPECT_EQ(emulation::device_memory_in_use(), used + 100);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(device, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(emulation::live_allocations(), before);
  EXPECT_EQ(emulation::device_memory_in_use(), used);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(memory, runs_out) {
  emulation::set_device_memory(1000);
  void* first = nullptr;
  void* second = nullptr;
  EXPECT_EQ(cudaMalloc(&first, 600), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 401), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  EXPECT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(free_bytes, 400U);
  EXPECT_EQ(total_bytes, 1000U);
  EXPECT_EQ(cudaMalloc(&second, 400), cudaSuccess);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  emulation::set_device_memory(std::size_t{1} << 30);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST(memory, fails_when_asked_to) {
  emulation::fail_allocation_after(1);
  void* memory[3] = {};
  EXPECT_EQ(cudaMalloc(&memory[0], 8), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory[1], 8), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&memory[2], 8), cudaSuccess);
  for (void* const piece : memory)
    EXPECT_EQ(cudaFree(piece), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaPeekAtLastError()), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaGetLastError()), "out of memory");
}

TEST(memory, comes_from_pools) {
  const std::size_t handles = emulation::live_handles();
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 100;
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  std::uint64_t threshold = UINT64_MAX;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
            cudaSuccess);
  int* first = nullptr;
  int* second = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&first, 60, pool, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocFromPoolAsync(&second, 60, pool, nullptr), cudaErrorMemoryAllocation);
  std::uint64_t used = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 60U);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  // The pool stays until its last allocation is freed.
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(emulation::live_handles(), handles);
  EXPECT_EQ(cudaMallocFromPoolAsync(&second, 8, pool, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(first, nullptr), cudaSuccess);
  cudaGetLastError();
}

TEST(memory, is_copied_only_where_it_is) {
  const device_array<int> device(std::vector<int>{1, 2, 3, 4});
  const device_array<int> other(4);
  int host[4] = {};
  const auto bytes = sizeof(host);
  EXPECT_EQ(cudaMemcpy(host, device.data(), bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device.data(), bytes + 1, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device.data() + 1, bytes, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(other.data(), device.data(), bytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(other.data() + 1, 0, 5), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(host, other.data(), bytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(host[0], 1);
  EXPECT_EQ(host[1], 0);
  EXPECT_EQ(host[2] & 0xFF, 0);
  EXPECT_EQ(host[3], 4);
  EXPECT_EQ(cudaMemset(other.data() + 1, 0, bytes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, bytes), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(memory, knows_its_pointers) {
  const device_array<int> device(4);
  int local = 0;
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, device.data() + 3), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, device.data() + 4), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, &local), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST(launch, refuses_what_a_device_refuses) {
  EXPECT_EQ(launch(1, 1025, 0, do_nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(64, 32), 0, do_nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, dim3(1, 1, 65), 0, do_nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 0, 0, do_nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(0, 1, 0, do_nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), 1, 0, do_nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 1, 49153, do_nothing), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448),
            cudaSuccess);
  EXPECT_EQ(launch(1, 1, 232448, do_nothing), cudaSuccess);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, do_nothing), cudaErrorNotSupported);
  cudaGetLastError();
}

TEST(launch, fails_when_asked_to) {
  const std::size_t before = emulation::launches();
  emulation::fail_next_launch();
  EXPECT_EQ(launch(1, 1, 0, do_nothing), cudaErrorLaunchFailure);
  EXPECT_EQ(emulation::launches(), before);
  EXPECT_EQ(launch(1, 1, 0, do_nothing), cudaSuccess);
  EXPECT_EQ(emulation::launches(), before + 1);
  emulation::fail_next_launch(cudaErrorIllegalAddress);
  emulation::clear_failures();
  EXPECT_EQ(launch(1, 1, 0, do_nothing), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
}

TEST(launch, works_from_several_host_threads) {
  const device_array<unsigned int> counts(std::vector<unsigned int>(4, 0));
  std::vector<std::thread> threads;
  for (unsigned int i = 0; i < 4; ++i) {
    threads.emplace_back([&counts, i] {
      for (int round = 0; round < 50; ++round) {
        EXPECT_EQ(launch(3, 1, 0, add_one, counts.data(), i), cudaSuccess);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(counts.read(), std::vector<unsigned int>(4, 150));
}

TEST(launch, leaves_barriers_to_kernels) {
  EXPECT_THROW(__syncthreads(), std::logic_error);
}

TEST(handles, are_counted_and_checked) {
  const std::size_t before = emulation::live_handles();
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  EXPECT_EQ(emulation::live_handles(), before + 3);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, start), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0.0F);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(emulation::live_handles(), before);
  cudaGetLastError();
}

TEST(properties, tell_of_the_device) {
  int count = 0;
  int device = -1;
  int value = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, 2);
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "emulated");
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.totalGlobalMem, std::size_t{1} << 30);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing, 256, 0),
            cudaSuccess);
  EXPECT_EQ(blocks, 8);
  cudaGetLastError();
}

#ifdef EMULATION_WITH_ASAN

__global__ void write_dynamic(unsigned int place) {
  static_cast<unsigned char*>(emulation::dynamic_shared_memory())[place] = 1;
}

__global__ void write_fixed(unsigned int place) {
  __shared__ unsigned char bytes[100];
  volatile unsigned char* const begin = bytes;
  begin[place] = 1;
}

TEST(sanitizer_death_test, finds_an_overrun_of_dynamic_shared_memory) {
  EXPECT_EQ(launch(1, 1, 13, write_dynamic, 12U), cudaSuccess);
  EXPECT_DEATH(static_cast<void>(launch(1, 1, 13, write_dynamic, 13U)), "heap-buffer-overflow");
}

TEST(sanitizer_death_test, finds_an_overrun_of_static_shared_memory) {
  EXPECT_EQ(launch(1, 1, 0, write_fixed, 99U), cudaSuccess);
  EXPECT_DEATH(static_cast<void>(launch(1, 1, 0, write_fixed, 100U)),
               "global-buffer-overflow|insufficient space");
}

TEST(sanitizer_death_test, finds_an_overrun_of_device_memory) {
  const device_array<unsigned int> device(3);
  EXPECT_EQ(launch(1, 1, 0, add_one, device.data(), 2U), cudaSuccess);
  EXPECT_DEATH(static_cast<void>(launch(1, 1, 0, add_one, device.data(), 3U)),
               "heap-buffer-overflow");
}

TEST(sanitizer_death_test, finds_host_code_that_follows_a_device_pointer) {
  const device_array<unsigned int> device(3);
  EXPECT_DEATH(*device.data() = 1, "use-after-poison");
  EXPECT_EQ(cudaMemset(device.data() + 1, 0, 4), cudaSuccess);
  EXPECT_DEATH(device.data()[1] = 1, "use-after-poison");
  EXPECT_DEATH(device.data()[0] = 1, "use-after-poison");
  EXPECT_DEATH(device.data()[2] = 1, "use-after-poison");
}

#endif

}  // namespace
