// SPDX-License-Identifier: Apache-2.0
// What each backend exports: the way to its device, and what builds each structure there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/partition.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/internal.hpp"
#include "src/interface/located_index.hpp"
#include "src/interface/platform.hpp"

namespace raydex {

class sorted_array;
class eytzinger;
class pivot_tree;
class btree;
class direct;
class hash_open;
class hash_bucket;
class rx;
class cgrx;
class rmq_cover;
class rmq_hierarchy;
struct sorted_array_options;
struct eytzinger_options;
struct pivot_tree_options;
struct btree_options;
struct direct_options;
struct hash_open_options;
struct hash_bucket_options;
struct rx_options;
struct cgrx_options;
struct rmq_cover_options;
struct rmq_hierarchy_options;
struct rmq_lca_options;
struct rmq_rx_options;
struct rmq_scan_options;

// Builds from checked arguments; `info` says what follows from them.
template <class Structure, class Options>
using keys_builder = std::unique_ptr<Structure>(const index_info& info, const context& on,
                                                const column& keys,
                                                const std::optional<column>& row_ids,
                                                const Options& options);
template <class Structure, class Options>
using minima_builder = std::unique_ptr<Structure>(const rmq_info& info, const context& on,
                                                  const column& values, const Options& options);

using join_builder = std::unique_ptr<join>(const context& on, const key_parts& keys,
                                           const join_options& options, const index_maker& make);
using index_join_builder = std::unique_ptr<join>(const context& on, const index& over);
using interval_join_builder = std::unique_ptr<interval_join>(backend where, const context& on,
                                                             const column& lower,
                                                             const column& upper);
using asof_join_builder = std::unique_ptr<asof_join>(backend where, const context& on,
                                                     const column& times, const key_parts& by,
                                                     const index_maker& make);

using aggregate_builder = std::unique_ptr<aggregate>(const context& on, const index& over,
                                                     const std::optional<column>& values,
                                                     const aggregate_options& options);

using divider = std::unique_ptr<partition>(const context& on, backend where, const probes& batch,
                                           const column& splitters, std::uint64_t unit);
using splitter_chooser = void(const context& on, const column& sample, const value_span& out);

using sorted_searcher = void(const context& on, const column& sorted, const column& wanted,
                             bool past, std::uint64_t* out);

// Writes narrow row ids as wide ones: `count` of them, which is in the backend's memory, or all.
using row_id_widener = void(const context& on, const std::uint32_t* narrow, std::uint64_t size,
                            const std::uint64_t* count, std::uint64_t* wide);
// Writes which of them are rows.
using found_marker = void(const context& on, const row_id_span& rows, bool* out);

// An index of 64-bit row ids, made of structures that `make` builds over slices of so many keys.
using wide_builder = std::unique_ptr<index>(const index_info& info, bool updates, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const index_maker& make, std::uint64_t of_slice);

// Null for what the backend does not offer.
struct backend_table {
  backend where;
  std::string (*why_unavailable)();
  std::unique_ptr<platform> (*open_platform)();

  aggregate_builder* build_aggregate = nullptr;
  join_builder* build_join = nullptr;
  index_join_builder* build_index_join = nullptr;
  interval_join_builder* build_interval_join = nullptr;
  asof_join_builder* build_asof_join = nullptr;
  divider* divide = nullptr;
  splitter_chooser* choose_splitters = nullptr;
  sorted_searcher* search_sorted = nullptr;
  sorted_searcher* search_by_tree = nullptr;
  row_id_widener* widen_row_ids = nullptr;
  found_marker* mark_found = nullptr;
  wide_builder* build_wide = nullptr;
  keys_builder<sorted_array, sorted_array_options>* build_sorted_array = nullptr;
  keys_builder<pivot_tree, pivot_tree_options>* build_line_tree = nullptr;
  keys_builder<btree, btree_options>* build_btree = nullptr;
  keys_builder<direct, direct_options>* build_direct = nullptr;
  keys_builder<hash_open, hash_open_options>* build_hash_open = nullptr;
  keys_builder<hash_bucket, hash_bucket_options>* build_hash_bucket = nullptr;
  keys_builder<rx, rx_options>* build_rx = nullptr;
  keys_builder<cgrx, cgrx_options>* build_cgrx = nullptr;
  minima_builder<rmq_cover, rmq_cover_options>* build_rmq_cover = nullptr;
  minima_builder<rmq, rmq_scan_options>* build_rmq_scan = nullptr;
};

// The same of libraydex_papers.
struct paper_table {
  backend where;
  keys_builder<eytzinger, eytzinger_options>* build_eytzinger = nullptr;
  keys_builder<sorted_array, sorted_array_options>* build_row_array = nullptr;
  keys_builder<hash_open, hash_open_options>* build_two_line_hash = nullptr;
  keys_builder<pivot_tree, pivot_tree_options>* build_group_tree = nullptr;
  keys_builder<rx, rx_options>* build_row_rx = nullptr;
  minima_builder<rmq_hierarchy, rmq_hierarchy_options>* build_rmq_hierarchy = nullptr;
  minima_builder<rmq, rmq_lca_options>* build_rmq_lca = nullptr;
  minima_builder<rmq, rmq_rx_options>* build_rmq_rx = nullptr;
};

namespace cpu {
extern const backend_table table;
extern const paper_table papers;
}  // namespace cpu
namespace cuda {
extern const backend_table table;
extern const paper_table papers;
}  // namespace cuda
namespace optix {
extern const backend_table table;
extern const paper_table papers;
}  // namespace optix

// The table of a backend; null where it is not built.
const backend_table* find_backend(backend where) noexcept;
// The same in libraydex_papers, for itself;
const paper_table* find_own_paper_table(backend where) noexcept;
// and for everybody, who asks for `what` of it. Throws `unavailable` where it is not installed.
RAYDEX_INTERNAL const paper_table* find_paper_table(backend where, std::string_view what);

// What builds a structure on a backend. A structure whose facts name a backend that has no builder
// of it is unavailable there.
template <class Table, class Builder>
Builder& builder_in(const Table* table, backend where, Builder* Table::*builder) {
  Builder* const found = table == nullptr ? nullptr : table->*builder;
  if (found == nullptr)
    throw unavailable("backend: " + std::string(to_string(where)) +
                      " does not build this structure");
  return *found;
}
template <class Builder>
Builder& builder_on(backend where, Builder* backend_table::*builder) {
  return builder_in(find_backend(where), where, builder);
}
template <class Builder>
Builder& builder_on(backend where, Builder* paper_table::*builder, std::string_view what) {
  return builder_in(find_paper_table(where, what), where, builder);
}

}  // namespace raydex
