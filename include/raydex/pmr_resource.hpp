// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the `cpu` backend from a polymorphic memory resource of the C++ library.
#pragma once

#include <cstddef>
#include <memory_resource>

#include "raydex/memory.hpp"

namespace raydex {

/// Passes requests on to a `std::pmr::memory_resource`, which must be safe to call from several
/// threads, as `memory_resource` asks: `std::pmr::synchronized_pool_resource` is.
class pmr_resource final : public memory_resource {
 public:
  /// `upstream` must outlive this resource.
  explicit pmr_resource(
      std::pmr::memory_resource* upstream = std::pmr::get_default_resource()) noexcept
      : upstream_(upstream) {}

  void* allocate(std::size_t bytes, stream_t /*stream*/) override {
    return upstream_->allocate(bytes, alignment);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t /*stream*/) noexcept override {
    upstream_->deallocate(memory, bytes, alignment);
  }
  memory_space space() const noexcept override { return memory_space::host; }

 private:
  std::pmr::memory_resource* upstream_;
};

}  // namespace raydex
