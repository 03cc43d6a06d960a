// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rx`: keys as primitives of a scene, lookups as rays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/rx.hpp"
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

/// In which order primitives stand, and what the index keeps beside them.
enum class rx_primitives : std::uint8_t {
  sorted,  ///< that of a sorted column, which the index keeps
  rows     ///< that of the rows: the number of a primitive is its row, and no column is kept (RX
           ///< paper, sections 2.1 and 2.2); in libraydex_papers
};

/// In which order a batch is traced.
enum class rx_order : std::uint8_t {
  automatic,  ///< on `optix` `sorted` from 2^17 probes on, else `batch`; by name `auto`
  batch,      ///< as the probes come
  tiles,      ///< as many at a time as 64 MB of scratch allow, sorted by key
  sorted      ///< all of them (up to 2^28 at a time), sorted by key: about 28 bytes of scratch
              ///< each, 36 for 64-bit keys (thesis, section 3.4: spatially close queries)
};

/// Over what a scene is built (thesis, sections 3.5 and 4.3: inverse mapping).
enum class rx_inverse : std::uint8_t {
  off,       ///< over the keys, once, at the build
  on,        ///< over the points of each batch, while rays are cast from the keys
  automatic  ///< over the smaller of the two, for each batch; by name `auto`
};

/// Steps of a grid along y and z: 2 to these powers (cgRX paper, section 5.2). Builders divide a
/// scene along its longest side first, and by long steps that is first into planes, then into rows:
/// the order of keys, in which sorted lookups come.
struct rx_scale {
  static constexpr unsigned most = 39;  ///< for the bits of a coordinate and its scale together

  unsigned y = 0;  ///< at most `most` - `bits.y`
  unsigned z = 0;  ///< at most `most` - `bits.z`
};

/// What an engine that builds a scene prefers.
enum class rx_build : std::uint8_t {
  fast,  ///< a fast build
  trace  ///< fast tracing
};

/// Where rays of ranges start (RX paper, section 3.3).
enum class rx_ranges : std::uint8_t {
  offset,  ///< before the lower end
  zero     ///< before the row
};

/// What stands for equal keys (thesis, section 4.2).
enum class rx_duplicates : std::uint8_t {
  compress,  ///< one primitive
  keep       ///< one for each
};

/// Bits of a key for each coordinate, from the lowest ones on; at most 23 each.
struct rx_bits {
  unsigned x = 23;  ///< the lowest ones
  unsigned y = 23;  ///< those above them
  unsigned z = 18;  ///< those above these
};

/// Options of `rx`; by name as `options_of` and `raydex structures rx` list them.
struct rx_options {
  rx_mode mode = rx_mode::grid;        ///< how keys become coordinates
  rx_bits bits = {};                   ///< for `grid` (RX, section 3.4)
  std::optional<rx_scale> scale = {};  ///< long steps, which spheres do not take; by default if
                                       ///< rays are traversed in software on `optix`
  rx_primitive primitive = rx_primitive::automatic;  ///< what stands for a key
  rx_primitives primitives = rx_primitives::sorted;  ///< in which order; with `rows`, hits are
                                                     ///< `any`, equal keys are kept, and
                                                     ///< `order`, `inverse` and `ranges` do
                                                     ///< not apply
  rx_ranges ranges = rx_ranges::offset;              ///< rays of ranges
  core::ray_hits hits = core::ray_hits::closest;  ///< what of a ray's hits is looked at: `closest`,
                                                  ///< then a scan (thesis, 4.1), or `any` (RX)
  rx_duplicates duplicates = rx_duplicates::compress;  ///< what stands for equal keys
  std::optional<bool> compact = {};  ///< whether the driver compacts what it built (RX, section
                                     ///< 3.5), on `optix`; by default if tracing shall be fast,
                                     ///< as fast builds are as small already
  rx_build build = rx_build::fast;   ///< what the engine prefers
  unsigned parts = 0;  ///< structures that the scene is divided into (thesis, 4.2); 0: as many as
                       ///< serve the engine best. More where the device's limit asks for it
  rx_order order = rx_order::automatic;  ///< in which order lookups are traced
  rx_inverse inverse = rx_inverse::off;  ///< over what the scene is built
};

/// Keys as primitives in a scene, found by rays ("RTIndeX: Exploiting Hardware-Accelerated GPU
/// Raytracing for Database Indexing", and the thesis that goes on from it). Rays are traced by
/// OptiX on `optix`, by its RT cores or in software, and by Embree on `cpu`.
///
/// Primitives stand in the order of the sorted column, which the index keeps: so the first hit of a
/// range leads to all of its matches, and every hit is checked against the keys before it counts.
/// Lookups whose rays met what they should not are searched for, and counted in `repairs`. So are
/// ranges whose rays met nothing where something is, and points with `mode=extended`; otherwise a
/// point that its ray does not meet is taken for missing.
///
/// *Cost*: build: the sort of `sorted_array`, a primitive a key, and the engine's build. A point: a
/// ray. A range: a ray a row of 2^`bits.x` keys, or for 2^20 keys of one, until one hits or, with
/// `hits=any`, all of them; 16 at most, beyond which it is searched; then the scan of its matches.
/// *Memory*: resident: key bytes + row-id bytes per entry, a row id per distinct key where keys
/// repeat, and what the engine builds: per primitive about 112 bytes for triangles and 76 for boxes
/// on `optix` without RT cores; with them the driver decides, which was not measured. *Stream*: the
/// build synchronises, since the sizes of compacted structures and of the distinct keys are known
/// on the device first. With `inverse` on or `auto` the index keeps no scene: each batch builds
/// one, of the size above, out of its context, and synchronises; it pays where an index serves few
/// batches, as in a join. Ranges have no inverse: their scene is built over the keys.
///
/// With `primitives=rows` it is the index of the RX paper: a primitive stands for a row, the index
/// keeps no keys but in its scene, and `first`, `contains`, `count` and `sum` are gathered from all
/// that a ray meets, which nothing can check. It answers batches in their order. The rest takes a
/// sorted column and is refused: `rows`, places among the keys, joins, aggregates, and `edit`;
/// `update` replaces the column. So are boxes and `mode=extended`, whose hits must be checked, and
/// ranges of more than 2^16 rays (2^20 keys each); where keys lie that far apart, a batch of ranges
/// synchronises. *Cost*: a build: no sort. A point: a ray per part. A range: all of its rays, and a
/// visit for each match. *Memory*: resident: what the engine builds, per row, and row ids where
/// they are explicit or rows have no key.
///
/// *Edits*: the sort of the batch, one pass that merges it with the entries into a new copy of
/// them, one before that if it erases any, and then a build of the scene; it fails as `update`
/// does.
class RAYDEX_EXPORT rx : public index {
 public:
  ~rx() override;

  /// Replaces what the index holds by another column; `keys` and `row_ids` as for the build, of the
  /// same formats. Queued on `stream`, on which the index is destroyed from then on; the stream
  /// before must still exist. Synchronises as the build does. Queries must not run at the same
  /// time.
  ///
  /// *Cost*: that of a build. *Memory*: from the resource of the build: the new column and scene
  /// beside the old ones.
  ///
  /// Errors as for the build, and `invalid_argument` where formats differ. A failed update leaves
  /// the index as it was.
  void update(stream_t stream, const column& keys,
              const std::optional<column>& row_ids = std::nullopt);

 protected:
  /// For implementations.
  explicit rx(memory_resource& upstream);

  /// Does `update`, with checked arguments.
  virtual void do_update(stream_t stream, const column& keys,
                         const std::optional<column>& row_ids) = 0;
};

/// Builds an `rx` on `cpu` or `optix`; arguments and errors as for `build`. Throws `unsupported`
/// where the mode has no place for a key, and `optix_error` if the driver fails.
RAYDEX_EXPORT std::unique_ptr<rx> build_rx(backend where, const context& on, const column& keys,
                                           const std::optional<column>& row_ids = std::nullopt,
                                           const rx_options& options = {});

}  // namespace raydex
