// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rx`: keys as primitives of a scene, lookups as rays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/key_scene.hpp"
#include "raydex/core/rx.hpp"
#include "raydex/index.hpp"

namespace raydex {

/// How keys become coordinates (RX paper, section 3.2).
enum class rx_mode : std::uint8_t {
  grid,     ///< bits of the key for x, y and z; by name `3d`
  naive,    ///< the key as x: keys below 2^23
  extended  ///< the key as the bit pattern of x: keys below 2^29
};

/// What stands for a key (RX paper, section 3.5).
enum class rx_primitive : std::uint8_t {
  automatic,  ///< triangles where a device has cores that meet them, else boxes; by name `auto`
  triangle,
  sphere,
  box
};

/// In which order a batch is traced.
enum class rx_order : std::uint8_t {
  automatic,  ///< `sorted` on `optix`, `batch` on `cpu`; by name `auto`
  batch,      ///< as the probes come
  tiles,      ///< 2^21 probes at a time, sorted by key: about 28 bytes of scratch each, 40 for
              ///< 64-bit keys, so 56 or 80 MiB
  sorted      ///< all of them (up to 2^28 at a time), sorted by key: about 36 bytes of scratch
              ///< each, 44 for 64-bit keys (thesis, section 3.4: spatially close queries)
};

/// Options of `rx`; by name: `mode=3d|naive|extended bits=X/Y/Z primitive=auto|triangle|sphere|box
/// points=perpendicular|offset|zero ranges=offset|zero hits=closest|any duplicates=compress|keep
/// compact=auto|on|off build=fast|trace parts=auto|1..4096 order=auto|batch|tiles|sorted`.
struct rx_options {
  rx_mode mode = rx_mode::grid;  ///< how keys become coordinates
  unsigned x_bits = 23;  ///< lowest bits of a key, at most 23; `bits=23/23/18` (RX, section 3.4)
  unsigned y_bits = 23;  ///< the bits above them, at most 23
  unsigned z_bits = 18;  ///< the bits above those, at most 23
  rx_primitive primitive = rx_primitive::automatic;         ///< what stands for a key
  core::point_ray points = core::point_ray::perpendicular;  ///< rays of points (RX, section 3.3)
  bool ranges_from_zero = false;  ///< rays of ranges start before the row (`ranges=zero`), not the
                                  ///< lower end (`ranges=offset`; RX, section 3.3)
  core::ray_hits hits = core::ray_hits::closest;  ///< what of a ray's hits is looked at: `closest`,
                                                  ///< then a scan (thesis, 4.1), or `any` (RX)
  bool compress = true;  ///< one primitive for equal keys (thesis, 4.2): `duplicates=compress|keep`
  std::optional<bool> compact = {};  ///< whether the driver compacts what it built (RX, section
                                     ///< 3.5), on `optix`; by name `on`, `off`, or else `auto`:
                                     ///< for `build=trace`, as fast builds are as small already
  bool fast_build = true;            ///< prefer a fast build to fast tracing; `build=fast|trace`
  unsigned parts = 0;  ///< structures that the scene is divided into (thesis, 4.2), 1 to 4096;
                       ///< 0, by name `auto`: as many as serve the engine best. More where
                       ///< the device's limit for one of them asks for it
  rx_order order = rx_order::automatic;  ///< in which order lookups are traced
};

/// Keys as primitives in a scene, found by rays ("RTIndeX: Exploiting Hardware-Accelerated GPU
/// Raytracing for Database Indexing", and the thesis that goes on from it). Rays are traced by
/// OptiX on `optix`, by its RT cores or in software, and by Embree on `cpu`.
///
/// Primitives stand in the order of the sorted column, which the index keeps: so the first hit of a
/// range leads to all of its matches, and every hit is checked against the keys before it counts.
///
/// *Cost*: build: the sort of `sorted_array`, a primitive a key, and the engine's build. A point: a
/// ray. A range: a ray a row of 2^x_bits keys, 16 at most, beyond which it is searched; then the
/// scan of its matches. *Memory*: resident: key bytes + row-id bytes per entry, a row id per
/// distinct key where keys repeat, and what the engine builds: per primitive about 112 bytes for
/// triangles and 76 for boxes on `optix`. *Stream*: the build synchronises, since the sizes of
/// compacted structures and of the distinct keys are known on the device first.
class RAYDEX_EXPORT rx : public index {
 public:
  ~rx() override;

 protected:
  /// For implementations.
  explicit rx(memory_resource& upstream);
};

/// Builds an `rx` on `cpu` or `optix`; arguments and errors as for `build`. Throws `unsupported`
/// where the mode has no place for a key, and `optix_error` if the driver fails.
RAYDEX_EXPORT std::unique_ptr<rx> build_rx(backend where, const context& where_to,
                                           const column& keys,
                                           const std::optional<column>& row_ids = std::nullopt,
                                           const rx_options& options = {});

}  // namespace raydex
