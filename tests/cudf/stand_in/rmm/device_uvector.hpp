// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of RMM, as far as raydex/cudf.hpp uses it.
#pragma once

#include <cstddef>

#include "rmm/resource_ref.hpp"

namespace rmm {

template <class T>
class device_uvector {
 public:
  device_uvector(std::size_t size, cuda::stream_ref stream, device_async_resource_ref memory)
      : size_(size), stream_(stream), memory_(memory) {
    if (size != 0) data_ = static_cast<T*>(memory_.allocate(stream, size * sizeof(T), alignof(T)));
  }
  device_uvector(const device_uvector&) = delete;
  device_uvector& operator=(const device_uvector&) = delete;
  ~device_uvector() {
    if (size_ != 0) memory_.deallocate(stream_, data_, size_ * sizeof(T), alignof(T));
  }

  T* data() { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
  cuda::stream_ref stream_;
  device_async_resource_ref memory_;
};

}  // namespace rmm
