// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the `cuda` and `optix` backends from a stream-ordered resource of CCCL (`cuda::mr`) or
/// RMM. Nothing of either is included here.
#pragma once

#include <cstddef>

#include "raydex/memory.hpp"

namespace raydex {

/// Passes requests on to a resource of device memory, which must be safe to call from several
/// threads: `rmm::mr::cuda_async_memory_resource`, `rmm::device_async_resource_ref`,
/// `cuda::device_memory_pool`, and what else has one of these:
/// - `allocate(stream, bytes, alignment)`, as `cuda::mr` of CCCL 3.1 and RMM from 25.12 on;
/// - `allocate_async(bytes, alignment, stream)`, as `cuda::mr` before;
/// - `allocate(bytes, stream)`, as `rmm::mr::device_memory_resource` before.
template <class Upstream>
class stream_ordered_resource final : public memory_resource {
 public:
  /// `upstream` must outlive this resource.
  explicit stream_ordered_resource(Upstream& upstream) noexcept : upstream_(&upstream) {}

  void* allocate(std::size_t bytes, stream_t stream) override {
    if constexpr (takes_stream_first) {
      return upstream_->allocate(stream, bytes, alignment);
    } else if constexpr (takes_stream_last) {
      return upstream_->allocate_async(bytes, alignment, stream);
    } else {
      return upstream_->allocate(bytes, stream);
    }
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    if constexpr (takes_stream_first) {
      upstream_->deallocate(stream, memory, bytes, alignment);
    } else if constexpr (takes_stream_last) {
      upstream_->deallocate_async(memory, bytes, alignment, stream);
    } else {
      upstream_->deallocate(memory, bytes, stream);
    }
  }
  memory_space space() const noexcept override { return memory_space::device; }

 private:
  static constexpr bool takes_stream_first = requires(Upstream & upstream, stream_t stream) {
    upstream.allocate(stream, alignment, alignment);
  };
  static constexpr bool takes_stream_last = requires(Upstream & upstream, stream_t stream) {
    upstream.allocate_async(alignment, alignment, stream);
  };

  Upstream* upstream_;
};

}  // namespace raydex
