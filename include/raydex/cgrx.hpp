// SPDX-License-Identifier: Apache-2.0
/// @file
/// `cgrx`: buckets of keys, found by rays that meet their representatives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/rays/cgrx.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"
#include "raydex/rx.hpp"

namespace raydex {

/// How the representatives of a part become places of its scene.
enum class cgrx_mapping : std::uint8_t {
  fit,  ///< the range from the smallest to the largest one, divided into a row of places, up to 64
        ///< for each; their keys tell those at the same place apart
  bits  ///< the bits of the key for x, y and z (cgRX paper, section 5.2)
};

/// How the keys and row ids of a sorted column lie in memory (cgRX paper, section 3.4).
enum class cgrx_layout : std::uint8_t {
  column,   ///< an array of keys and an array of row ids
  aligned,  ///< entries of a key and its row id, of 16 bytes if either has 64 bits, else of 8:
            ///< either is read by one load
  packed    ///< entries without padding; in those of 12 bytes 64-bit numbers are read in halves
};

/// Options of `cgrx`; by name as `options_of` and `raydex structures cgrx` list them.
struct cgrx_options {
  unsigned bucket = 16;  ///< entries of a bucket at the build
  unsigned node = 0;  ///< buckets are lists of nodes with room for so many entries (section 4), an
                      ///< even number, `bucket` at least; 0: a sorted column
  cgrx_layout layout = cgrx_layout::column;      ///< without nodes; where it is not `column`, edits
                                                 ///< copy all to columns and back
  std::optional<core::bucket_scene> scene = {};  ///< what stands for a bucket; by default spans,
                                                 ///< with `fit`
  cgrx_mapping mapping = cgrx_mapping::fit;      ///< how representatives become places
  rx_bits bits = {};                             ///< for `mapping=bits`
  std::optional<rx_scale> scale = {};            ///< for `mapping=bits`: long steps; by default
                                                 ///< 15/21, as far as `bits` leave room; the
                                                 ///< paper's are 15/25
  std::optional<core::bucket_search> search = {};  ///< how a bucket is searched (3.4), nodes by
                                                   ///< halves or linearly; by default from 64
                                                   ///< entries on `interpolated`
  scanning scan = scanning::multi;       ///< as for `sorted_array`; on `cpu` it changes nothing
  std::optional<bool> compact = {};      ///< as for `rx`
  rx_build build = rx_build::fast;       ///< as for `rx`
  unsigned parts = 0;                    ///< as for `rx`; buckets are divided
  rx_order order = rx_order::automatic;  ///< in which order lookups are traced
  unsigned rebuild = 32;  ///< an edit that makes a bucket this many times as large as it was,
                          ///< leaves half of what there is room for, or a third of mostly full
                          ///< nodes split, rebuilds the scene; 0: only `cgrx::rebuild` does
};

/// A sorted column in buckets, whose largest keys stand in a scene ("More Bang For Your Buck(et):
/// Fast and Space-efficient Hardware-accelerated Coarse-granular Indexing on GPUs"): up to five
/// rays find the bucket that a lookup begins in. Traced by OptiX on `optix` and by Embree on `cpu`.
///
/// What rays find is checked: if the key is not within the bucket's limits, the bucket is searched
/// for among the representatives, and counted in `repairs`.
///
/// *Cost*: build: the sort of `sorted_array`, and a triangle a bucket, up to three with
/// `mapping=bits`. A point or range: the rays, one with `mapping=fit`; log2 of the bucket size
/// steps; the scan of its matches. *Memory*: resident: key bytes + row-id bytes per entry, with
/// `layout=aligned` twice the larger of the two; and about 112 bytes per triangle on `optix`
/// without RT cores. With `node`, key bytes + row-id bytes for each entry that nodes have room for,
/// and 16 or 32 bytes a node. Builds, edits and rebuilds with other layouts than `column` hold
/// columns besides. *Stream*: the build synchronises; queries do not.
///
/// *Edits*: the sort of the batch, and then without `node` one pass over all entries, which are
/// merged with it into a column beside the old one; with `node` a pass over the nodes that it is
/// for, and a search of the batch for each bucket. Nodes are split and merged where they are; new
/// ones come a quarter of the first ones at a time, and no memory of nodes is freed before a
/// rebuild. The scene stays until a rebuild, which reads and writes all entries, but does not sort.
/// Copies of one key count as a large bucket only once a sixteenth of the entries was inserted
/// since the last one. Rebuilds included, memory is at most about twice that of a new index.
class RAYDEX_EXPORT cgrx : public index {
 public:
  ~cgrx() override;

  /// Builds the scene anew over what the index holds, so that buckets are of equal size again, as
  /// after a build. Stream, memory and errors as for `edit`; no sort.
  void rebuild(stream_t stream);

 protected:
  /// For implementations.
  explicit cgrx(memory_resource& upstream);

  /// Does `rebuild`.
  virtual void do_rebuild(stream_t stream) = 0;
};

/// Builds a `cgrx` on `cpu` or `optix`; arguments and errors as for `build`. Throws `unsupported`
/// where `mapping=bits` has no place for a key, and for a `layout` of nodes other than `column`,
/// and `optix_error` if the driver fails.
RAYDEX_EXPORT std::unique_ptr<cgrx> build_cgrx(backend where, const context& on, const column& keys,
                                               const std::optional<column>& row_ids = std::nullopt,
                                               const cgrx_options& options = {});

}  // namespace raydex
