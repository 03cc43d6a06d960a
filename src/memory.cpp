// SPDX-License-Identifier: Apache-2.0
#include "raydex/memory.hpp"

#include <unistd.h>

#include <new>

#include "raydex/error.hpp"

namespace raydex {

namespace {
constexpr std::align_val_t alignment{256};
}

memory_resource::~memory_resource() = default;

void* host_memory_resource::allocate(std::size_t bytes, stream_t /*stream*/) {
  void* memory = ::operator new(bytes, alignment, std::nothrow);
  if (memory == nullptr) {
    const auto pages = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
    throw out_of_memory(bytes, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  }
  return memory;
}

void host_memory_resource::deallocate(void* memory, std::size_t /*bytes*/,
                                      stream_t /*stream*/) noexcept {
  ::operator delete(memory, alignment);
}

void* tracking_resource::allocate(std::size_t bytes, stream_t stream) {
  void* memory = upstream_->allocate(bytes, stream);
  const std::size_t now = current_ += bytes;
  std::size_t peak = peak_;
  while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void tracking_resource::deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept {
  upstream_->deallocate(memory, bytes, stream);
  current_ -= bytes;
}

}  // namespace raydex
