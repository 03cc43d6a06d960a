// SPDX-License-Identifier: Apache-2.0
// What the engines' cgRX over lists of nodes have in common: all but the sort and the tracing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/cgrx.hpp"
#include "raydex/core/rays/cgrx_node_edits.hpp"
#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "raydex/error.hpp"
#include "src/interface/row_id_checks.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/lookups/kept_entries.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/lookups/spread_counts.hpp"
#include "src/operations/rays/built_ray_index.hpp"
#include "src/operations/rays/traced_batches.hpp"
#include "src/structures/cgrx/cgrx_scene.hpp"

namespace raydex {

// Writes where the parts of each bucket end in a batch.
template <class Key, class RowId>
struct put_part_ends {
  core::node_edits<Key, RowId> edits;
  RAYDEX_HD void operator()(std::uint64_t bucket) const { edits.put_ends(bucket); }
};

// Counts the nodes that buckets need, and the buckets that would have too many. Nodes of one key
// may be left out: who looks for it reads them anyway, and wherever it is put there are as many.
template <class Key, class RowId>
struct count_wanted_nodes {
  core::node_editor<Key, RowId> editor;
  std::uint64_t most;
  bool copies_count;
  std::uint64_t* counts;
  std::uint64_t* too_long;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    std::uint64_t in_all = 0;
    std::uint64_t mixed = 0;
    counts[bucket] = editor.count_new_nodes(bucket, in_all, mixed);
    if ((copies_count ? in_all : mixed) > most) core::add_atomically(too_long, 1);
  }
};

// Keeps the numbers of free nodes.
template <class RowId>
struct copy_row {
  const RowId* from;
  RowId* to;
  RAYDEX_HD void operator()(std::uint64_t i) const { to[i] = from[i]; }
};

// Owns nodes.
template <class Key, class RowId, executor Executor>
class node_store {
  using memory_type = core::node_memory<Key, RowId>;

 public:
  node_store() = default;
  node_store(const context& on, std::uint64_t buckets, unsigned capacity)
      : first_(on, buckets * memory_type::bytes_of(capacity)) {
    nodes_.capacity = capacity;
    nodes_.buckets = static_cast<RowId>(buckets);
    // A quarter of the nodes that there were at first, at a time.
    nodes_.chunk_bits = core::floor_log2(std::max<std::uint64_t>(buckets / 4, 16));
    nodes_.first = first_.data();
  }

  const memory_type& nodes() const { return nodes_; }
  // How many nodes there is memory for.
  std::uint64_t room() const {
    return nodes_.buckets + (std::uint64_t{chunks_.size()} << nodes_.chunk_bits);
  }
  // Nodes that follow another one.
  std::uint64_t linked() const { return used_ - free_count_; }

  // The nodes that an edit may take (it takes `wanted` of them), memory for those that are new, and
  // where it puts others. The store holds what it held until it takes them back.
  class supply {
   public:
    supply(const context& on, node_store& store, const std::uint64_t* tickets, std::uint64_t wanted)
        : taken_(std::min(wanted, store.free_count_)),
          fresh_(wanted - taken_),
          // At most all become free.
          free_(on, store.used_ + fresh_),
          count_(on, 1),
          nodes_(store.nodes_) {
      const std::uint64_t left = store.free_count_ - taken_;
      Executor::for_each(on, copy_row<RowId>{store.free_.data(), free_.data()}, left);
      Executor::set(on, count_.data(), left);
      view_ = {store.free_.data(),
               store.free_count_,
               static_cast<RowId>(store.nodes_.buckets + store.used_),
               tickets,
               free_.data(),
               count_.data()};
      add_chunks(on, store);
    }
    const core::node_supply<RowId>& view() const { return view_; }
    const memory_type& nodes() const { return nodes_; }

   private:
    friend class node_store;

    void add_chunks(const context& on, node_store& store) {
      const std::uint64_t chunk = std::uint64_t{1} << nodes_.chunk_bits;
      const std::uint64_t needed = (store.used_ + fresh_ + chunk - 1) / chunk;
      if (needed <= store.chunks_.size()) return;
      store.chunks_.reserve(needed);
      while (store.chunks_.size() + chunks_.size() < needed)
        chunks_.emplace_back(on, chunk * memory_type::bytes_of(nodes_.capacity));
      table_ = {on, needed};
      std::byte** to = table_.data();
      for (auto* const all : {&store.chunks_, &chunks_})
        for (buffer<std::byte>& one : *all)
          Executor::set(on, to++, one.data());
      nodes_.chunks = table_.data();
    }

    std::uint64_t taken_;
    std::uint64_t fresh_;
    buffer<RowId> free_;
    buffer<std::uint64_t> count_;
    memory_type nodes_;
    std::vector<buffer<std::byte>> chunks_;  // beside those of the store
    buffer<std::byte*> table_;               // of all chunks; empty where none were added
    core::node_supply<RowId> view_;
  };
  // Remembers what an edit has left; allocates nothing.
  void take_back(const context& on, supply&& from) {
    free_count_ = Executor::read(on, from.count_.data());
    used_ += from.fresh_;
    free_ = std::move(from.free_);
    if (from.chunks_.empty()) return;
    std::move(from.chunks_.begin(), from.chunks_.end(), std::back_inserter(chunks_));
    table_ = std::move(from.table_);
    nodes_ = from.nodes_;
  }

 private:
  memory_type nodes_;
  buffer<std::byte> first_;
  std::vector<buffer<std::byte>> chunks_;
  buffer<std::byte*> table_;
  std::uint64_t used_ = 0;  // nodes of the linked region that have been supplied, or are free again
  buffer<RowId> free_;
  std::uint64_t free_count_ = 0;
};

template <class Key, class RowId, engine Engine>
class built_node_cgrx final
    : public built_ray_index<built_node_cgrx<Key, RowId, Engine>, cgrx,
                             core::node_lists_view<Key, RowId>, typename Engine::executor> {
  using view = core::node_lists_view<Key, RowId>;
  using executor = typename Engine::executor;
  using sorted = sorted_column<Key, RowId>;
  using node_entries = core::entries_of_nodes<Key, RowId>;

 public:
  built_node_cgrx(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const cgrx_options& options)
      : built_node_cgrx::built_ray_index(on, {.scan = options.scan}), options_(options) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    describe([&]() -> facts {
      const sorted entries = executor::template sort_column<Key, RowId>(own, keys, row_ids);
      held_ = hold(own, entries);
      return {entries.keys.size(), entries.max_row_id};
    }());
  }

 private:
  friend typename built_node_cgrx::built_index_by;

  // Buckets, their scene, and the last row id of each at the build.
  struct held_buckets {
    bucket_scene<Key, RowId, Engine> scene;
    node_store<Key, RowId, executor> store;
    buffer<RowId> last_rows;
    std::uint64_t inserted = 0;  // since it was made
  };

  held_buckets hold(const context& on, const sorted& entries) {
    held_buckets made;
    made.scene = {on,       this->memory(), entries.keys.data(), entries.keys.size(),
                  options_, this->repairs()};
    const std::uint64_t buckets = made.scene.buckets();
    made.scene.keep_representatives(made.scene.copy_representatives(on));
    // Nothing of the column is looked at any more.
    made.scene.follow({}, buckets, {});
    made.store = {on, buckets, options_.node};
    made.last_rows = {on, buckets};
    executor::for_each_in_groups(
        on,
        core::fill_node<Key, RowId>{made.store.nodes(), list_of(entries), options_.bucket,
                                    made.last_rows.data()},
        buckets);
    executor::synchronise(on);
    return made;
  }

  void do_edit(stream_t stream, const edits& batch) override {
    const std::uint64_t before = this->info_.entries;
    const facts now = apply({this->memory(), stream}, batch);
    this->info_.n += now.entries - before;
    describe(now);
  }

  // What is held, once all scratch is freed.
  struct facts {
    std::uint64_t entries;
    std::uint64_t max_row_id;
  };

  facts apply(const context& on, const edits& batch) {
    const auto changes = executor::template sort_edits<Key, RowId>(on, batch);
    const std::uint64_t inserted = changes.insert.keys.size();
    const facts before{this->info_.entries, this->info_.max_row_id};
    if (inserted == 0 && changes.erase.keys.size() == 0) return before;
    check_room(before.entries + inserted, not_found<RowId>);
    const std::uint64_t buckets = held_.scene.buckets();
    buffer<std::uint64_t> insert_ends(on, buckets);
    buffer<std::uint64_t> erase_ends(on, buckets);
    buffer<std::uint64_t> tickets(on, buckets);
    core::node_editor<Key, RowId> editor{};
    editor.nodes = held_.store.nodes();
    editor.edits = {list_of(changes.insert),
                    names_of(changes),
                    {held_.scene.scene().representatives, held_.last_rows.data(), buckets},
                    insert_ends.data(),
                    erase_ends.data()};
    executor::for_each(on, put_part_ends<Key, RowId>{editor.edits}, buckets);
    std::uint64_t wanted = 0;
    // Copies of a key may pile up until a rebuild costs little beside their insertion.
    const bool copies_count = (held_.inserted + inserted) * 16 >= before.entries;
    if (buckets == 0 || !count_nodes(on, editor, copies_count, tickets, wanted)) {
      return rebuild_with(on, changes);
    }
    typename node_store<Key, RowId, executor>::supply supply(on, held_.store, tickets.data(),
                                                             wanted);
    editor.supply = supply.view();
    editor.nodes = supply.nodes();
    spread_counts<1, executor> erased(on);
    editor.erased = erased[0];
    // There is no way back from here on, and nothing is allocated.
    executor::for_each_in_groups(on, editor, buckets);
    const auto [gone] = erased.sums(on);
    held_.store.take_back(on, std::move(supply));
    held_.inserted += inserted;
    return shrink(on, {before.entries + inserted - gone,
                       std::max(before.max_row_id, changes.insert.max_row_id)});
  }

  // Whether ranges may take more than twice the time of a new index: if a build fills most of its
  // nodes, insertions soon split them, and a linked node takes as long as two or three in order.
  bool is_split(std::uint64_t of_build) const {
    return options_.node < 2 * options_.bucket && held_.store.linked() > of_build / 3 + 16;
  }

  // Rebuilds where there is more memory than for twice the nodes of a build, or nodes are split, if
  // there is room to.
  facts shrink(const context& on, const facts& now) {
    const std::uint64_t of_build = (now.entries + options_.bucket - 1) / options_.bucket;
    if (options_.rebuild == 0) return now;
    if (held_.store.room() <= 2 * of_build + 16 && !is_split(of_build)) return now;
    this->info_.entries = now.entries;
    this->info_.max_row_id = now.max_row_id;
    try {
      return rebuild_with(on, {});
    } catch (const out_of_memory&) {  // the batch is taken, and the next one tries again
      return now;
    }
  }

  // How many nodes are needed, and where the tickets of each bucket end; false if lists would grow
  // too long.
  bool count_nodes(const context& on, const core::node_editor<Key, RowId>& editor,
                   bool copies_count, buffer<std::uint64_t>& tickets, std::uint64_t& wanted) const {
    const std::uint64_t buckets = tickets.size();
    buffer<std::uint64_t> too_long(on, 1);
    executor::clear(on, too_long.data());
    const std::uint64_t most =
        options_.rebuild == 0 ? ~std::uint64_t{0} : std::uint64_t{options_.rebuild};
    executor::for_each(
        on,
        count_wanted_nodes<Key, RowId>{editor, most, copies_count, tickets.data(), too_long.data()},
        buckets);
    executor::inclusive_sum(on, tickets.data(), buckets);
    wanted = executor::read(on, tickets.data() + buckets - 1);
    return executor::read(on, too_long.data()) == 0;
  }

  // The entries as a sorted column.
  sorted collect(const context& on) const {
    const std::uint64_t buckets = held_.scene.buckets();
    sorted all{{on, this->info_.entries}, {on, this->info_.entries}, this->info_.max_row_id};
    if (buckets == 0) return all;
    buffer<std::uint64_t> ends(on, buckets);
    executor::for_each(on, core::count_bucket<Key, RowId>{held_.store.nodes(), ends.data()},
                       buckets);
    executor::inclusive_sum(on, ends.data(), buckets);
    executor::for_each_in_groups(on,
                                 core::copy_bucket<Key, RowId>{held_.store.nodes(), ends.data(),
                                                               all.keys.data(), all.row_ids.data()},
                                 buckets);
    return all;
  }

  void do_entries(const context& on, std::uint64_t* codes, void* rows) const override {
    const sorted all = collect(on);
    executor::for_each(on,
                       put_entry<core::column_entries<Key, RowId>>{
                           {all.keys.data(), all.row_ids.data()}, codes, static_cast<RowId*>(rows)},
                       all.keys.size());
  }

  facts rebuild_with(const context& on, const sorted_edits<Key, RowId>& batch) {
    sorted all = collect(on);
    const std::uint64_t max_row_id = std::max(all.max_row_id, batch.insert.max_row_id);
    if (auto changed = executor::edited(on, strided(list_of(all)), batch))
      all = std::move(*changed);
    held_ = hold(on, all);
    return {all.keys.size(), max_row_id};
  }

  void do_keep(const context& own, kept_memory& file) override {
    if (!file.loads()) return save_sorted<executor>(own, file, collect(own));
    const facts now{this->info_.entries, this->info_.max_row_id};
    held_ = hold(own, load_sorted<executor, Key, RowId>(own, file, now.entries, now.max_row_id));
    describe(now);
  }

  void do_rebuild(stream_t stream) override {
    describe(rebuild_with({this->memory(), stream}, {}));
  }

  void describe(const facts& now) {
    this->info_.entries = now.entries;
    this->info_.max_row_id = now.max_row_id;
    this->measure();
  }

  view queried() const override {
    return {held_.store.nodes(), held_.scene.scene().representatives, this->info_.entries,
            options_.search == core::bucket_search::linear};
  }

  template <class Operation>
  void run(const context& on, const Operation& operation) const {
    const core::cgrx_scene<Key, RowId>& scene = held_.scene.scene();
    trace_probes<Engine>(
        on, held_.scene.rays(),
        traced_index<core::cgrx_scene<Key, RowId>, Key, node_entries>{scene,
                                                                      {scene, operation.view},
                                                                      held_.scene.column(),
                                                                      held_.scene.sorted_bits(),
                                                                      options_.order,
                                                                      this->plan()},
        operation);
  }

  cgrx_options options_;
  held_buckets held_;
};

}  // namespace raydex
