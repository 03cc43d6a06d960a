// SPDX-License-Identifier: Apache-2.0
//
// What the emulation's tests share: launches in one line, and device memory that frees itself.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace emulation_test {

template <typename... Parameters, typename... Arguments>
cudaError_t launch(dim3 grid, dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                   Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

template <typename Type>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(&data_, size * sizeof(Type)), cudaSuccess);
  }
  explicit device_array(const std::vector<Type>& values) : device_array(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), size_ * sizeof(Type), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~device_array() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  Type* data() const { return data_; }
  std::vector<Type> read() const {
    std::vector<Type> values(size_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, size_ * sizeof(Type), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  Type* data_ = nullptr;
  std::size_t size_;
};

}  // namespace emulation_test
