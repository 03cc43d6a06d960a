// SPDX-License-Identifier: Apache-2.0
//
// Copies to shared memory that a thread starts and waits for later. Here they are made when it
// waits, so that who reads too early reads what was there before.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "emulation/fibers.hpp"

namespace emulation::detail {

struct started_copy {
  unsigned int rank;  // of the thread
  void* to;
  const void* from;
  std::size_t bytes;
};
inline thread_local std::vector<started_copy> started_copies;

}  // namespace emulation::detail

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
  emulation::detail::started_copies.push_back({emulation::detail::current_rank(), to, from, bytes});
}

inline void __pipeline_commit() {}

inline void __pipeline_wait_prior(std::size_t /*later*/) {
  std::erase_if(emulation::detail::started_copies, [](const auto& copy) {
    if (copy.rank != emulation::detail::current_rank()) return false;
    std::memcpy(copy.to, copy.from, copy.bytes);
    return true;
  });
}
