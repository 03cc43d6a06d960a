// SPDX-License-Identifier: Apache-2.0
#include "raydex/session.hpp"

#include <utility>

#include "raydex/error.hpp"
#include "src/interface/platform.hpp"

namespace raydex {

namespace {
std::unique_ptr<platform> open(backend where) {
  if (std::string reason = why_unavailable(where); !reason.empty()) {
    throw unavailable(std::string("backend ") + std::string(to_string(where)) +
                      " is not available: " + reason);
  }
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::open_platform();
#endif
#if defined(RAYDEX_WITH_CUDA)
  if (where != backend::cpu) return cuda::open_platform();
#endif
  return cpu::open_platform();
}
}  // namespace

session::session(backend where) try : where_(where), platform_(open(where)) {
} catch (...) {
  rethrow_as_error();
}
session::~session() = default;

session::operator context() const noexcept {
  return {platform_->memory(), platform_->stream()};
}
device_info session::device() const try { return platform_->device(); } catch (...) {
  rethrow_as_error();
}
void session::copy_in(void* to, const void* from, std::size_t bytes) const try {
  if (bytes != 0) platform_->copy_in(to, from, bytes);
} catch (...) {
  rethrow_as_error();
}
void session::copy_out(void* to, const void* from, std::size_t bytes) const try {
  if (bytes != 0) platform_->copy_out(to, from, bytes);
} catch (...) {
  rethrow_as_error();
}
void session::synchronize() const try { platform_->synchronize(); } catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
