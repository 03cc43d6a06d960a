// SPDX-License-Identifier: Apache-2.0
#include "raydex/error.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>

namespace raydex {

namespace {

std::string shortage(std::size_t requested, std::size_t free) {
  std::string text = "out of memory";
  if (requested != 0) text += fmt::format(": {} bytes asked", requested);
  if (free != 0) text += fmt::format("{} {} bytes free", requested != 0 ? "," : ":", free);
  return text;
}

// The text with NUL bytes as two characters each.
std::string printable(std::string text) {
  for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\\0");
  return text;
}

// Made while there is memory: its text needs some.
const out_of_memory exhausted(0, 0);

}  // namespace

error::error(const std::string& message) : std::runtime_error(printable(message)) {}

// Out of line, so that each type has one home for its type information.
error::~error() = default;
invalid_argument::~invalid_argument() = default;
unsupported::~unsupported() = default;
unavailable::~unavailable() = default;
out_of_memory::~out_of_memory() = default;
cuda_error::~cuda_error() = default;
optix_error::~optix_error() = default;

out_of_memory::out_of_memory(std::size_t requested, std::size_t free)
    : error(shortage(requested, free)), asked_(requested), free_(free) {}

cuda_error::cuda_error(const std::string& call, int code, const std::string& text)
    : error(fmt::format("CUDA error {} in {}: {}", code, call, text)), code_(code) {}

optix_error::optix_error(const std::string& call, int code, const std::string& text)
    : error(fmt::format("OptiX error {} in {}: {}", code, call, text)), code_(code) {}

void rethrow_as_error() {
  try {
    throw;
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw out_of_memory(exhausted);
  } catch (const std::length_error&) {
    throw out_of_memory(exhausted);
  } catch (const std::exception& other) {
    throw error(other.what());
  }
}

}  // namespace raydex
