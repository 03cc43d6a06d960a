// SPDX-License-Identifier: Apache-2.0
#include "raydex/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <new>

#include "raydex/error.hpp"

namespace raydex {

namespace {
// Arrays that span several huge pages begin at one, so that random reads of them miss the page
// tables less often.
constexpr std::size_t huge_page = std::size_t{2} << 20;
std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes < 2 * huge_page ? memory_resource::alignment : huge_page};
}

// The C++ library rounds sizes up, and to nothing if that takes more than 64 bits.
constexpr std::uint64_t largest_object = std::numeric_limits<std::ptrdiff_t>::max();
}  // namespace

memory_resource::~memory_resource() = default;

void memory_resource::adopt(std::ptrdiff_t /*bytes*/) noexcept {}

std::shared_ptr<const void> memory_resource::owner() const noexcept {
  return nullptr;
}

void* allocate(const context& on, std::uint64_t bytes) try {
  if (bytes > largest_object) throw out_of_memory(bytes, 0);
  return on.memory.allocate(bytes, on.stream);
} catch (...) {
  rethrow_as_error();
}

void* host_memory_resource::allocate(std::size_t bytes, stream_t /*stream*/) {
  void* memory =
      bytes > largest_object ? nullptr : ::operator new(bytes, alignment_of(bytes), std::nothrow);
  if (memory == nullptr) {
    const auto pages = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
    throw out_of_memory(bytes, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  }
#ifdef MADV_HUGEPAGE
  // A wish: where the system grants none, ordinary pages serve as well.
  if (alignment_of(bytes) == std::align_val_t{huge_page}) {
    madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
  }
#endif
  return memory;
}

void host_memory_resource::deallocate(void* memory, std::size_t bytes,
                                      stream_t /*stream*/) noexcept {
  ::operator delete(memory, alignment_of(bytes));
}

void* tracking_resource::allocate(std::size_t bytes, stream_t stream) {
  void* memory = upstream_->allocate(bytes, stream);
  count(static_cast<std::ptrdiff_t>(bytes));
  return memory;
}

void tracking_resource::deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept {
  upstream_->deallocate(memory, bytes, stream);
  count(-static_cast<std::ptrdiff_t>(bytes));
}

void tracking_resource::adopt(std::ptrdiff_t bytes) noexcept {
  count(bytes);
  upstream_->adopt(bytes);
}

void tracking_resource::count(std::ptrdiff_t bytes) noexcept {
  const std::size_t now = current_ += static_cast<std::size_t>(bytes);  // below 0: modulo
  std::size_t peak = peak_;
  while (bytes > 0 && peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
}

}  // namespace raydex
