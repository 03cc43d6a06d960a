// SPDX-License-Identifier: Apache-2.0
// A heap that fails at will: replaces `operator new` in all its forms, for the libraries, too.
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

#include "tests/failures/failure.hpp"

namespace raydex::test {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

std::atomic<std::uint64_t> calls = 0;
std::atomic<std::uint64_t> first_to_fail = never;
std::atomic<std::uint64_t> last_to_fail = never;
std::atomic<bool> one_failed = false;

// Where the code of oneTBB and Embree lies. Failures of their own allocations leave them in a bad
// state: Embree 3.13 reads freed memory in the build after one that failed. So those allocations do
// not fail.
class foreign_code {
 public:
  foreign_code() {
    dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t /*bytes*/, void* self) {
          const std::string_view name = library->dlpi_name;
          if (name.find("libembree") == name.npos && name.find("libtbb") == name.npos) return 0;
          for (unsigned i = 0; i < library->dlpi_phnum; ++i) {
            const auto& segment = library->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
            auto& all = *static_cast<foreign_code*>(self);
            const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
            all.ranges_.at(all.count_++) = {begin, begin + segment.p_memsz};
          }
          return 0;
        },
        this);
  }
  bool has(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t i = 0; i < count_; ++i)
      if (at >= ranges_[i].begin && at < ranges_[i].end) return true;
    return false;
  }

 private:
  struct range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::array<range, 16> ranges_{};
  std::size_t count_ = 0;
};

bool is_to_fail(const void* caller) {
  static const foreign_code foreign;
  if (foreign.has(caller)) return false;
  const std::uint64_t number = calls++;
  if (number < first_to_fail || number > last_to_fail) return false;
  one_failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (is_to_fail(caller)) return nullptr;
  // No more than asked for, so that a sanitizer sees accesses beyond it.
  void* memory = nullptr;
  const std::size_t least = std::max(alignment, sizeof(void*));
  return posix_memalign(&memory, least, std::max<std::size_t>(bytes, 1)) == 0 ? memory : nullptr;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment, const void* caller) {
  void* const memory = allocate(bytes, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t plain = alignof(std::max_align_t);

}  // namespace

failure::failure(std::uint64_t successes, shortage kind) {
  one_failed = false;
  const std::uint64_t number = calls + successes;
  last_to_fail = kind == shortage::once ? number : never - 1;
  first_to_fail = number;
}

failure::~failure() {
  first_to_fail = never;
}

bool has_failed() {
  return one_failed;
}

std::uint64_t calls_so_far() {
  return calls;
}

}  // namespace raydex::test

void* operator new(std::size_t bytes) {
  return raydex::test::allocate_or_throw(bytes, raydex::test::plain, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
  return raydex::test::allocate_or_throw(bytes, raydex::test::plain, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return raydex::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment),
                                         __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return raydex::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment),
                                         __builtin_return_address(0));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return raydex::test::allocate(bytes, raydex::test::plain, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return raydex::test::allocate(bytes, raydex::test::plain, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return raydex::test::allocate(bytes, static_cast<std::size_t>(alignment),
                                __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
  return raydex::test::allocate(bytes, static_cast<std::size_t>(alignment),
                                __builtin_return_address(0));
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/,
                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/,
                     const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t /*alignment*/,
                       const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
