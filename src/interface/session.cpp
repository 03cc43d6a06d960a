// SPDX-License-Identifier: Apache-2.0
#include "raydex/session.hpp"

#include <string>
#include <utility>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/host_memory.hpp"

namespace raydex {

// A platform, and its memory, which keeps it.
class opened_platform final : public memory_resource,
                              public std::enable_shared_from_this<opened_platform> {
 public:
  explicit opened_platform(std::unique_ptr<platform> opened) : platform_(std::move(opened)) {}

  platform* operator->() const noexcept { return platform_.get(); }

  void* allocate(std::size_t bytes, stream_t stream) override {
    return platform_->memory().allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    platform_->memory().deallocate(memory, bytes, stream);
  }
  memory_space space() const noexcept override { return platform_->memory().space(); }
  std::shared_ptr<const void> owner() const noexcept override { return weak_from_this().lock(); }

 private:
  std::unique_ptr<platform> platform_;
};

bool is_own_host_memory(const memory_resource& memory) noexcept {
  if (memory.space() != memory_space::host) return false;
  return dynamic_cast<const host_memory_resource*>(&memory) != nullptr ||
         dynamic_cast<const opened_platform*>(&memory) != nullptr;
}

namespace {
std::shared_ptr<opened_platform> open(backend where) {
  check_available(where);
  return std::make_shared<opened_platform>(find_backend(where)->open_platform());
}

void check_copy(const void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || (to != nullptr && from != nullptr)) return;
  throw invalid_argument(std::string(to == nullptr ? "to" : "from") + ": a null pointer, but " +
                         std::to_string(bytes) + " bytes are to be copied");
}
}  // namespace

session::session(backend where) try : where_(where), platform_(open(where)) {
} catch (...) {
  rethrow_as_error();
}
session::session() : session(parse_backend("auto")) {}
session::~session() = default;

session::operator context() const noexcept {
  return {*platform_, (*platform_)->stream()};
}
device_info session::device() const try { return (*platform_)->device(); } catch (...) {
  rethrow_as_error();
}
void session::copy_in(void* to, const void* from, std::size_t bytes) const try {
  check_copy(to, from, bytes);
  if (bytes != 0) (*platform_)->copy_in(to, from, bytes);
} catch (...) {
  rethrow_as_error();
}
void session::copy_out(void* to, const void* from, std::size_t bytes) const try {
  check_copy(to, from, bytes);
  if (bytes != 0) (*platform_)->copy_out(to, from, bytes);
} catch (...) {
  rethrow_as_error();
}
void session::synchronize() const try { (*platform_)->synchronize(); } catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
