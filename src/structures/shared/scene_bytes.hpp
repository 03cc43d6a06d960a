// SPDX-License-Identifier: Apache-2.0
// Bytes of scenes and of batches that are traced.
#pragma once

#include <algorithm>
#include <cstdint>

#include "raydex/error.hpp"
#include "raydex/estimate.hpp"
#include "raydex/rx.hpp"
#include "src/structures/shared/bytes.hpp"

namespace raydex {

struct scene_bytes {
  std::uint64_t resident;
  std::uint64_t peak;  // while Embree builds it
};

// Embree says of no scene how large it will be: what it took at most for a primitive, of scenes of
// 10^4 to 10^6 random, dense, clustered and skewed keys. Boxes take less than triangles. `optix` is
// refused: its driver decides.
inline scene_bytes bytes_of_scene(backend where, std::uint64_t primitives, bool are_spheres) {
  if (where == backend::optix)
    throw unsupported(
        "estimate: on optix the driver decides how large a scene is; build the index, and see its "
        "resident_bytes");
  const scene_bytes each = are_spheres ? scene_bytes{80, 112} : scene_bytes{144, 200};
  return {each.resident * primitives, each.peak * primitives};
}

// What calls take that trace a batch: where each ray led, and in another order than the batch's the
// sort of its probes. Entries of nodes have places of 64 bits, and are looked at after all rays.
inline probe_bytes bytes_of_rays(const column_facts& keys, rx_order order, bool counts_hits,
                                 bool has_nodes) {
  const bool sorted = order != rx_order::automatic && order != rx_order::batch;
  const std::uint64_t sort = sorted ? 2 * (key_bytes(keys) + row_bytes) : 0;
  const std::uint64_t located = sort + row_bytes + (counts_hits ? row_bytes : 0);
  probe_bytes each;
  each.first = order == rx_order::sorted || has_nodes ? sort + row_bytes : sort;
  each.contains += each.first;
  each.count = located;
  const std::uint64_t place = has_nodes ? sizeof(std::uint64_t) : row_bytes;
  each.sum = located + place + row_bytes;
  each.rows += located + place;
  return each;
}

}  // namespace raydex
