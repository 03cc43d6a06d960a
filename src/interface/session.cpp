// SPDX-License-Identifier: Apache-2.0
#include "raydex/session.hpp"

#include <utility>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {
std::unique_ptr<platform> open(backend where) {
  check_available(where);
  return find_backend(where)->open_platform();
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
