// SPDX-License-Identifier: Apache-2.0
/// @file
/// The error hierarchy. A call that throws leaks nothing and leaves its index as it was, unless its
/// comment says otherwise; its outputs may be written in part. Nothing in raydex ends the process
/// or asserts on input.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "raydex/export.hpp"

namespace raydex {

/// The root of all errors that raydex throws. What the C++ library or a memory resource throws on
/// the way through a call of raydex arrives as one of them, too.
class RAYDEX_EXPORT error : public std::runtime_error {
 public:
  /// What a message names may have NUL bytes, which would end it: they are written as \\0.
  explicit error(const std::string& message);
  ~error() override;
};

/// An argument is not legal; the message names it, its value and what would be legal.
class RAYDEX_EXPORT invalid_argument : public error {
 public:
  using error::error;
  ~invalid_argument() override;
};

/// This structure cannot do that; the message names one that can.
class RAYDEX_EXPORT unsupported : public error {
 public:
  using error::error;
  ~unsupported() override;
};

/// This backend is not on this machine; the message says what is missing and how to get it.
class RAYDEX_EXPORT unavailable : public error {
 public:
  using error::error;
  ~unavailable() override;
};

/// Memory could not be had.
class RAYDEX_EXPORT out_of_memory : public error {
 public:
  /// An allocation of `asked` bytes failed while about `free` bytes were free; 0 where either is
  /// not known.
  out_of_memory(std::size_t asked, std::size_t free);
  ~out_of_memory() override;
  /// The bytes that the call needed; 0 if it is not known.
  std::size_t asked() const noexcept { return asked_; }
  /// Bytes that were free then, as far as the system tells; 0 where it does not.
  std::size_t free() const noexcept { return free_; }

 private:
  std::size_t asked_;
  std::size_t free_;
};

/// The CUDA runtime reported an error.
class RAYDEX_EXPORT cuda_error : public error {
 public:
  /// `call` failed with `code`, which CUDA describes as `text`.
  cuda_error(const std::string& call, int code, const std::string& text);
  ~cuda_error() override;
  /// The `cudaError_t` value.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// The driver's OptiX reported an error.
class RAYDEX_EXPORT optix_error : public error {
 public:
  /// `call` failed with `code`, which the driver describes as `text`.
  optix_error(const std::string& call, int code, const std::string& text);
  ~optix_error() override;
  /// The driver's number of the error.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// For handlers: throws the exception that is being handled as one of this hierarchy. Those that
/// are of it stay as they are, `std::bad_alloc` and `std::length_error` become `out_of_memory`, and
/// other standard ones an `error` of the same text.
[[noreturn]] RAYDEX_EXPORT void rethrow_as_error();

}  // namespace raydex
