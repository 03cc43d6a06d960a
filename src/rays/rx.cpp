// SPDX-License-Identifier: Apache-2.0
#include "src/rays/rx.hpp"

#include <fmt/format.h>

#include <array>

#include "raydex/error.hpp"
#include "src/interface/checks.hpp"
#include "src/options/ray_options.hpp"

namespace raydex {

rx::rx(memory_resource& upstream) : index(upstream) {}
rx::~rx() = default;

void rx::update(stream_t stream, const column& keys, const std::optional<column>& row_ids) try {
  check_build("rx", info().where, {memory(), stream}, keys, row_ids);
  if (keys.format != info().key) {
    throw invalid_argument(fmt::format("keys: they are {}, but the keys of the index are {}",
                                       to_string(keys.format), to_string(info().key)));
  }
  const row_id_type type = raydex::describe("rx", info().where, keys, row_ids).row_ids;
  if (type != info().row_ids) {
    throw invalid_argument(fmt::format("row ids: they are {}, but those of the index are {}",
                                       name(type), name(info().row_ids)));
  }
  do_update(stream, keys, row_ids);
} catch (...) {
  rethrow_as_error();
}

namespace {

void check_options(const rx_options& options) {
  const rx_scale scale = options.scale.value_or(rx_scale{});
  check_bits(options.x_bits, options.y_bits, options.z_bits, scale);
  check_parts(options.parts);
  if ((scale.y != 0 || scale.z != 0) && options.primitive == rx_primitive::sphere) {
    throw unsupported("option primitive: spheres take no scale; take triangle or box");
  }
  if (options.mode == rx_mode::extended && options.primitive == rx_primitive::sphere) {
    throw unsupported(
        "option primitive: mode=extended has no room for spheres; take triangle or box");
  }
}

std::string describe(const rx_options& options) {
  using words = std::array<const char*, 3>;
  std::string text =
      fmt::format("mode={}", choice_name("mode", options.mode, words{"3d", "naive", "extended"}));
  if (options.mode == rx_mode::grid) {
    text += fmt::format(
        " bits={}/{}/{} scale={}", options.x_bits, options.y_bits, options.z_bits,
        options.scale ? fmt::format("{}/{}", options.scale->y, options.scale->z) : "auto");
  }
  return text +
         fmt::format(
             " primitive={} points={} ranges={} hits={} duplicates={} {} top={} {} inverse={} "
             "update={}",
             choice_name("primitive", options.primitive,
                         std::array{"auto", "triangle", "sphere", "box"}),
             choice_name("points", options.points, words{"perpendicular", "offset", "zero"}),
             options.ranges_from_zero ? "zero" : "offset",
             choice_name("hits", options.hits, std::array{"closest", "any"}),
             options.compress ? "compress" : "keep",
             describe_build(options.compact, options.fast_build, options.parts),
             options.instances ? "instances" : "table", raydex::describe(options.order),
             choice_name("inverse", options.inverse, std::array{"off", "on", "auto"}),
             choice_name("update", options.on_update, std::array{"rebuild", "refit"}));
}

}  // namespace

std::unique_ptr<rx> build_rx(backend where, const context& where_to, const column& keys,
                             const std::optional<column>& row_ids, const rx_options& options) try {
  check_build("rx", where, where_to, keys, row_ids);
  check_options(options);
  index_info info = raydex::describe("rx", where, keys, row_ids);
  info.options = describe(options);
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::build(info, where_to, keys, row_ids, options);
#endif
  return cpu::build(info, where_to, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
