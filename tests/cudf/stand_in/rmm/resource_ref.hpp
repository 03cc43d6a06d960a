// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of RMM and what it includes of CCCL, as far as raydex/cudf.hpp uses
// them. Memory comes from a resource of raydex, so that tests see what is held.
#pragma once

#include <cstddef>

#include "raydex/memory.hpp"

namespace cuda {

class stream_ref {
 public:
  stream_ref(CUstream_st* stream) : stream_(stream) {}  // NOLINT(google-explicit-constructor)
  CUstream_st* get() const { return stream_; }

 private:
  CUstream_st* stream_;
};

}  // namespace cuda

namespace rmm {

class device_async_resource_ref {
 public:
  device_async_resource_ref(raydex::memory_resource& of)  // NOLINT(google-explicit-constructor)
      : of_(&of) {}
  void* allocate(cuda::stream_ref stream, std::size_t bytes, std::size_t /*alignment*/) {
    return of_->allocate(bytes, stream.get());
  }
  void deallocate(cuda::stream_ref stream, void* memory, std::size_t bytes,
                  std::size_t /*alignment*/) noexcept {
    of_->deallocate(memory, bytes, stream.get());
  }

 private:
  raydex::memory_resource* of_;
};

}  // namespace rmm
