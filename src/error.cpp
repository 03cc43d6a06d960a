// SPDX-License-Identifier: Apache-2.0
#include "raydex/error.hpp"

#include <fmt/format.h>

namespace raydex {

// Out of line, so that each type has one home for its type information.
error::~error() = default;
invalid_argument::~invalid_argument() = default;
unsupported::~unsupported() = default;
unavailable::~unavailable() = default;
out_of_memory::~out_of_memory() = default;
cuda_error::~cuda_error() = default;
optix_error::~optix_error() = default;

out_of_memory::out_of_memory(std::size_t asked, std::size_t free)
    : error(fmt::format("out of memory: {} bytes asked, {} bytes free", asked, free)),
      asked_(asked),
      free_(free) {}

cuda_error::cuda_error(const std::string& call, int code, const std::string& text)
    : error(fmt::format("CUDA error {} in {}: {}", code, call, text)), code_(code) {}

optix_error::optix_error(const std::string& call, int code, const std::string& text)
    : error(fmt::format("OptiX error {} in {}: {}", code, call, text)), code_(code) {}

}  // namespace raydex
