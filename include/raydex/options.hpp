// SPDX-License-Identifier: Apache-2.0
/// @file
/// What several structures let you choose.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "raydex/core/keys/entries.hpp"

namespace raydex {

/// How keys and row ids lie in memory.
enum class layout : std::uint8_t {
  column,  ///< an array of keys and an array of row ids (structure of arrays)
  row,     ///< one array of (key, row id) entries, packed (array of structures)
  keys     ///< an array of keys alone: they come in order, so that a row id is a rank
};

/// Where the entries of a structure are: two arrays, or one of entries or of keys in `keys`.
struct entry_storage {
  const void* keys = nullptr;       ///< keys, or packed entries
  const void* row_ids = nullptr;    ///< row ids, or null
  layout entries = layout::column;  ///< which of these
};

/// @cond
template <class Key, class RowId, layout Layout>
using entries_of =
    std::conditional_t<Layout == layout::column, core::column_entries<Key, RowId>,
                       std::conditional_t<Layout == layout::row, core::row_entries<Key, RowId>,
                                          core::ranked_entries<Key, RowId>>>;
/// @endcond

/// Whether keys may repeat.
enum class repetition : std::uint8_t {
  allowed,  ///< they may; the build finds out whether they do
  refused   ///< a build or an edit that would hold a key twice throws `invalid_argument`
};

/// Which threads of a GPU read the bucket of a point for `first`.
enum class bucket_reading : std::uint8_t {
  shared,  ///< those of neighbouring points together, 16 bytes each
  single   ///< the thread of the point alone
};

/// Who assigns probes to a GPU's multiprocessors (lightweight paper, section 4.1).
enum class scheduling : std::uint8_t {
  dynamic,  ///< a block for each part of the batch, started by the GPU as others end
  fixed,    ///< as many blocks as run at once, each with an equal share of the parts; by name
            ///< `static`
  one       ///< a block for each multiprocessor, likewise: what the paper calls static
};

/// What of the search is kept in shared memory (lightweight paper, section 4.2).
enum class pinning : std::uint8_t {
  none,   ///< nothing
  steps,  ///< what the first steps of every search read, as many whole steps as fit
  full    ///< as much of what the first steps read as fits
};

/// Whether the probes of a block are answered in ascending order (lightweight paper, section 4.3).
enum class reordering : std::uint8_t {
  none,    ///< in the order of the batch
  single,  ///< sorted by key in the block; results are written where they belong, scattered
  twice    ///< sorted, and the results brought back into order before they are written; by name
           ///< `double`
};

/// How many threads share a lookup in structures with nodes of K - 1 keys.
enum class grouping : std::uint8_t {
  exact,  ///< K - 1
  power   ///< the next power of two
};

/// Whether threads share the matches of a range.
enum class scanning : std::uint8_t {
  multi,  ///< they do, as many of them as its length deserves
  single  ///< one thread visits all of them
};

/// How batches run on `cuda`; what is not set, the structure chooses. On `cpu` it changes nothing.
struct batch_schedule {
  std::optional<scheduling> schedule = {};  ///< who assigns probes to multiprocessors
  std::optional<unsigned> threads = {};     ///< of a block: 128, 256, 512 or 1024; fewer for small
                                            ///< batches
  std::optional<unsigned> lookups = {};     ///< one after the other in a thread or group: 1 to 16,
                                            ///< fewer in a small batch; groups answer four in
                                            ///< step, so they round up to a multiple of that
  std::optional<pinning> pin = {};          ///< what shared memory holds
  std::optional<reordering> reorder = {};   ///< in which order a block answers; not for `rows`, nor
                                            ///< of `btree`, `direct` and `pivot_tree` by lines
  std::optional<grouping> group = {};       ///< how many threads share a lookup; likewise
  std::optional<scanning> scan = {};        ///< whether threads share the matches of a range

  /// Equal in every choice.
  friend bool operator==(const batch_schedule&, const batch_schedule&) = default;
};

}  // namespace raydex
