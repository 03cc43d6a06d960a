// SPDX-License-Identifier: Apache-2.0
// The names of things, as the command line, reports and messages show them.
#include <fmt/format.h>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"

namespace raydex {

std::string to_string(key_format format) {
  switch (format.type) {
    case key_type::uint32:
      return "uint32";
    case key_type::uint64:
      return "uint64";
    case key_type::int32:
      return "int32";
    case key_type::int64:
      return "int64";
    case key_type::float32:
      return "float";
    case key_type::float64:
      return "double";
    case key_type::bytes:
      return fmt::format("bytes{}", format.width);
  }
  return fmt::format("type {}", static_cast<int>(format.type));
}

std::string_view to_string(backend where) {
  switch (where) {
    case backend::cpu:
      return "cpu";
    case backend::cuda:
      return "cuda";
    case backend::optix:
      return "optix";
  }
  throw invalid_argument(fmt::format("backend: {} is none", static_cast<int>(where)));
}

}  // namespace raydex
