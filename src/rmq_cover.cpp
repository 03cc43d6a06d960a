// SPDX-License-Identifier: Apache-2.0
#include "rmq_cover.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "rmq_checks.hpp"

namespace raydex {

rmq_cover::rmq_cover(memory_resource& upstream) : rmq(upstream) {}
rmq_cover::~rmq_cover() = default;

void rmq_cover::check_view(bool is_floating, std::size_t value_bytes,
                           std::size_t place_bytes) const {
  const key_type type = info_.value.type;
  const bool floats = type == key_type::float32 || type == key_type::float64;
  const std::size_t places = has_narrow_places(info_.n) ? 4 : 8;
  if (is_floating != floats || value_bytes != info_.value.width || place_bytes != places) {
    throw invalid_argument(fmt::format("view: this structure has {} of {} bytes and places of {}",
                                       floats ? "floating values" : "integers", info_.value.width,
                                       places));
  }
}

std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& where_to,
                                           const column& values, const rmq_cover_options& options) {
  check_rmq_build("rmq_cover", where, where_to, values);
  rmq_info info = describe_rmq("rmq_cover", where, values);
  info.options = fmt::format("memory={} {}", options.memory == rmq_memory::fast ? "fast" : "small",
                             describe(options.ties));
#if defined(RAYDEX_WITH_CUDA)
  if (where == backend::cuda) return cuda::build(info, where_to, values, options);
#endif
  return cpu::build(info, where_to, values, options);
}

}  // namespace raydex
