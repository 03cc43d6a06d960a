// SPDX-License-Identifier: Apache-2.0
/// @file
/// A backend made ready for use without writing CUDA: memory, a stream, copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

class opened_platform;  // a backend's memory, stream and copies; internal

/// The device behind a backend.
struct device_info {
  std::string name;    ///< the device's name; for `cpu` the processor's
  std::string driver;  ///< the driver's version; empty for `cpu`
  int rt_core_version =
      0;  ///< OptiX's number for its RT cores; 0 where rays are not traced by them
  std::size_t free_bytes = 0;   ///< memory that is free now
  std::size_t total_bytes = 0;  ///< memory that there is
};

/// Memory, a stream and copies of one backend, for programs that have no CUDA of their own: the
/// command line, tests, examples. Buffers and indexes made with it keep memory and stream when the
/// session is gone.
class RAYDEX_EXPORT session {
 public:
  /// Opens the backend on the current device: a memory pool and a stream. Throws `unavailable`.
  explicit session(backend where);
  /// The same of `parse_backend("auto")`: a GPU where one is usable, else the CPU.
  session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session();

  /// The backend.
  backend where() const noexcept { return where_; }
  /// Memory and stream, as calls take them.
  operator context() const noexcept;  // NOLINT(google-explicit-constructor)
  /// The device, and what memory it has free now.
  device_info device() const;

  /// Copies bytes from the host to the backend's memory. Synchronises.
  void copy_in(void* to, const void* from, std::size_t bytes) const;
  /// Copies bytes from the backend's memory to the host. Synchronises.
  void copy_out(void* to, const void* from, std::size_t bytes) const;
  /// Waits for all work on the stream. Throws `cuda_error` if any of it failed.
  void synchronize() const;

  /// A copy of a `std::vector`, `std::span` or the like in the backend's memory.
  template <std::ranges::contiguous_range Host>
  auto upload(const Host& host) const -> buffer<std::ranges::range_value_t<Host>> {
    buffer<std::ranges::range_value_t<Host>> copy(*this, std::ranges::size(host));
    copy_in(copy.data(), std::ranges::data(host), copy.bytes());
    return copy;
  }
  /// A copy of `device` on the host.
  template <class T>
  std::vector<T> download(const buffer<T>& device) const try {
    std::vector<T> copy(device.size());
    copy_out(copy.data(), device.data(), device.bytes());
    return copy;
  } catch (...) {
    rethrow_as_error();
  }

 private:
  backend where_;
  std::shared_ptr<opened_platform> platform_;
};

}  // namespace raydex
