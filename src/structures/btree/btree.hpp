// SPDX-License-Identifier: Apache-2.0
// What the backends' B+-trees have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "raydex/btree.hpp"
#include "raydex/core/lookups/btree_edits.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/row_id_checks.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/lookups/fill_root.hpp"
#include "src/operations/lookups/kept_entries.hpp"
#include "src/operations/lookups/line_tree.hpp"

namespace raydex {

// Throws `unsupported` where row ids cannot number the places of so many pages.
void check_pages(std::uint64_t pages, std::uint64_t capacity, std::uint64_t not_found);

// Copies row ids.
template <class RowId>
struct copy_row_ids {
  const RowId* from;
  RowId* to;
  RAYDEX_HD void operator()(std::uint64_t i) const { to[i] = from[i]; }
};

// Clears what no search reads, so that a file has nothing of what was in memory before: the ends of
// pages, and pages that are free.
template <class Key, class RowId>
struct clear_unread {
  core::btree_pages<Key, RowId> pages;
  std::uint32_t* words;
  const RowId* free_list;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    constexpr std::uint64_t page_words =
        core::page_capacity<Key> * core::row_entries<Key, RowId>::words_per_entry;
    constexpr std::uint64_t leaf_words =
        core::line_entries * core::row_entries<Key, RowId>::words_per_entry;
    const bool in_use = i < pages.count;
    const auto page = static_cast<RowId>(i);
    const std::uint64_t place = in_use ? pages.place(page) : free_list[i - pages.count];
    const std::uint64_t leaves =
        in_use ? (pages.size(page) + core::line_entries - 1) / core::line_entries : 0;
    for (std::uint64_t word = leaves * leaf_words; word < page_words; ++word) {
      std::uint32_t& unread = words[place * page_words + word];
      if (unread != 0) unread = 0;  // pages of a file are copied where they are written
    }
  }
};

// Counts pages of a file that do not lie within its memory, or do not hold all entries one after
// the other.
template <class Key, class RowId>
struct count_wrong_pages {
  core::btree_pages<Key, RowId> pages;
  std::uint64_t room;  // pages in memory
  std::uint64_t entries;
  core::spread_count wrong;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto page = static_cast<RowId>(i);
    const RowId begin = pages.first_rank(page);
    const RowId end = pages.first_rank(page + 1);
    const bool right = pages.place(page) < room && begin < end &&
                       end - begin <= core::page_capacity<Key> && (page != 0 || begin == 0) &&
                       (page + 1 != pages.count || end == entries);
    wrong.add(i, right ? 0 : 1);
  }
};

template <class Key, class RowId, executor Executor>
class built_btree final : public built_index<btree, core::btree_view<Key, RowId>, Executor> {
  using view_type = core::btree_view<Key, RowId>;
  using pages_type = core::btree_pages<Key, RowId>;
  using root = core::root_node<Key>;
  using sorted = sorted_column<Key, RowId>;
  static constexpr std::uint64_t capacity = core::page_capacity<Key>;

 public:
  built_btree(const index_info& info, const context& on, const column& keys,
              const std::optional<column>& row_ids, const btree_options& options)
      : built_btree::built_index(on.memory, plan_of(options.batch, {.schedule = scheduling::fixed,
                                                                    .threads = 1024,
                                                                    .lookups = 4,
                                                                    .pin = pinning::full})),
        comfortable_(std::max<std::uint64_t>(capacity * options.fill / 100, 1)) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    const sizes now =
        load(own, Executor::template sort_column<Key, RowId>(own, keys, row_ids), false);
    describe(now, this->info_.n);
  }

 private:
  // Where pages lie.
  struct page_memory {
    page_memory() = default;
    page_memory(const context& on, std::uint64_t pages)
        : room(pages),
          pivots(on, pages * core::line_pivots<Key>),
          words(on, pages * capacity * core::row_entries<Key, RowId>::words_per_entry) {}
    core::page_writer<Key, RowId> writer() { return {pivots.data(), words.data()}; }

    std::uint64_t room = 0;  // pages
    buffer<Key> pivots;
    buffer<std::uint32_t> words;
  };
  // Which of them are in use, in the order of keys, and what is above them.
  struct directory {
    std::uint64_t pages = 0;
    buffer<RowId> order;  // empty: as they lie in memory
    buffer<RowId> first_ranks;
    std::uint64_t unused = 0;  // from this page on, none has been used yet
    buffer<RowId> free_list;   // those that are free before it
    std::uint64_t free_count = 0;
    core::pivot_levels levels;
    buffer<Key> pivots;
    std::uint32_t root_pivots = 0;
    buffer<std::byte> root;
  };
  struct sizes {
    std::uint64_t entries;
    std::uint64_t max_row_id;
  };

  // Holds these entries in place of those that it had. An edit waits for what it has queued.
  sizes load(const context& on, const sorted& entries, bool is_edit) {
    const std::uint64_t size = entries.keys.size();
    page_memory memory;
    directory made;
    if (size != 0) {
      made.pages = pages_of_build(size);
      check_pages(made.pages, capacity, not_found<RowId>);
      memory = {on, made.pages};
      made.unused = made.pages;
      made.first_ranks = {on, made.pages + 1};
      Executor::for_each_in_groups(
          on,
          core::fill_page<Key, RowId>{list_of(entries), (size + made.pages - 1) / made.pages,
                                      memory.writer(), made.first_ranks.data()},
          made.pages);
      grow(on, memory, made);
    }
    if (is_edit) Executor::synchronise(on);
    hold(std::move(memory), std::move(made));
    return {size, entries.max_row_id};
  }

  void do_keep(const context& own, kept_memory& file) override {
    constexpr std::uint64_t most_pages = not_found<RowId> / capacity;
    const std::uint64_t size = this->info_.entries;
    directory& in = directory_;
    std::uint64_t most_roots = most_roots_of<Key, Executor>();
    bool is_in_order = in.order.size() == 0;
    file.number("roots", most_roots);
    file.number("pages in memory", in.unused, most_pages);
    file.number("pages", in.pages, in.unused);
    file.number("pages listed free", in.free_count, in.unused - in.pages);
    file.number("pages lie in order", is_in_order);
    if (file.loads()) file.check("order", (in.pages == 0) == (size == 0));
    if (file.loads()) {
      memory_.room = in.unused;
    } else {
      clear_what_is_unread(own);
    }
    file.array<Executor>("page pivots", own, memory_.pivots, in.unused * core::line_pivots<Key>);
    file.array<Executor>("entries", own, memory_.words,
                         in.unused * capacity * core::row_entries<Key, RowId>::words_per_entry);
    file.array<Executor>("order", own, in.order, is_in_order ? 0 : in.pages);
    file.array<Executor>("first ranks", own, in.first_ranks, in.pages == 0 ? 0 : in.pages + 1);
    file.array<Executor>("free pages", own, in.free_list, in.free_count);
    if (file.verifies()) return load_again(own, file);
    if (in.pages != 0 && file.loads() && most_roots != most_roots_of<Key, Executor>()) {
      grow(own, memory_, in);
    } else if (in.pages != 0) {
      if (file.loads()) plan(in);
      file.array<Executor>("pivots", own, in.pivots, in.levels.size());
      file.array<Executor>("root", own, in.root, root::bytes(in.root_pivots));
    }
    if (file.loads()) look_at_held();
  }
  // Before pages are saved, by the first of those who save at the same time.
  void clear_what_is_unread(const context& own) {
    const std::lock_guard only(clearing_);
    if (is_clear_) return;
    const directory& in = directory_;
    Executor::for_each(
        own,
        clear_unread<Key, RowId>{pages_of(memory_, in), memory_.words.data(), in.free_list.data()},
        in.pages + in.free_count);
    Executor::synchronise(own);
    is_clear_ = true;
  }
  // Writes all pages anew, with the entries of a file's.
  void load_again(const context& own, const kept_memory& file) {
    const std::uint64_t size = this->info_.entries;
    const std::uint64_t most = this->info_.max_row_id;
    sorted all{{own, size}, {own, size}};
    if (size != 0) {
      const pages_type pages = pages_of(memory_, directory_);
      spread_counts<1, Executor> wrong(own);
      Executor::for_each(own,
                         count_wrong_pages<Key, RowId>{pages, directory_.unused, size, wrong[0]},
                         pages.count);
      file.check("first ranks", wrong.sums(own)[0] == 0);
      look_at_held();
      Executor::for_each(
          own, copy_ranked_entries<view_type>{queried(), all.keys.data(), all.row_ids.data()},
          size);
    }
    load(own, checked_entries<Executor>(file, "entries", own, all.keys, all.row_ids, most), false);
  }

  static pages_type pages_of(const page_memory& memory, const directory& from) {
    return {memory.pivots.data(),
            {memory.words.data()},
            from.order.data(),
            from.first_ranks.data(),
            static_cast<RowId>(from.pages)};
  }

  // Decides which pivots there are above the pages.
  static void plan(directory& to) {
    to.levels = {to.pages, 1, view_type::fan_out, most_roots_of<Key, Executor>()};
    to.root_pivots = static_cast<std::uint32_t>(to.levels.roots() - 1);
  }

  // Builds what is above the pages.
  static void grow(const context& on, const page_memory& memory, directory& to) {
    const pages_type pages = pages_of(memory, to);
    plan(to);
    to.pivots = {on, to.levels.size()};
    Executor::for_each(on,
                       core::place_pivots<pages_type>{to.levels, pages, to.pages, to.pivots.data()},
                       to.levels.size());
    if (to.root_pivots == 0) return;
    to.root = {on, root::bytes(to.root_pivots)};
    Executor::for_each(
        on, typename root::template fill_scale<pages_type>{pages, to.pages, to.root.data()}, 1);
    const typename root::template fill<pages_type> fill{
        pages, to.pages, to.levels.entries_per_root(), to.root_pivots, to.root.data()};
    fill_root<Executor>(on, fill);
  }

  void hold(page_memory&& memory, directory&& from) {
    memory_ = std::move(memory);
    hold(std::move(from));
  }
  void hold(directory&& from) {
    directory_ = std::move(from);
    look_at_held();
  }
  void look_at_held() {
    this->tree_ = {.root = directory_.root.data(),
                   .root_pivots = directory_.root_pivots,
                   .levels = directory_.levels,
                   .pivots = directory_.pivots.data(),
                   .page_pivots = memory_.pivots.data(),
                   .entries = memory_.words.data(),
                   .order = directory_.order.data(),
                   .first_ranks = directory_.first_ranks.data(),
                   .pages = directory_.pages};
  }

  void do_edit(stream_t stream, const edits& batch) override {
    is_clear_ = false;
    const std::uint64_t absent = this->info_.n - this->info_.entries;
    const sizes now = apply({this->memory(), stream}, batch);
    describe(now, absent + now.entries);
  }

  // Once all scratch is freed.
  void describe(const sizes& now, std::uint64_t rows) {
    this->info_.n = rows;
    this->info_.entries = now.entries;
    this->info_.max_row_id = now.max_row_id;
    this->measure();
  }

  // Numbers of each pair of pages.
  struct pair_numbers {
    pair_numbers(const context& on, std::uint64_t pairs) : size(pairs), all(on, 7 * pairs) {}
    std::uint64_t* array(unsigned number) { return all.data() + number * size; }

    std::uint64_t size;
    buffer<std::uint64_t> all;
  };

  sizes apply(const context& on, const edits& batch) {
    const auto changes = Executor::template sort_edits<Key, RowId>(on, batch);
    const std::uint64_t inserted = changes.insert.keys.size();
    const sizes before{this->info_.entries, this->info_.max_row_id};
    const std::uint64_t max_row_id = std::max(before.max_row_id, changes.insert.max_row_id);
    if (inserted == 0 && (before.entries == 0 || changes.erase.keys.size() == 0)) return before;
    if (before.entries == 0) {
      check_room(inserted, not_found<RowId>);
      return {load(on, changes.insert, true).entries, max_row_id};
    }

    core::page_edits<Key, RowId> edits{};
    edits.pages = pages_of(memory_, directory_);
    edits.insert = list_of(changes.insert);
    edits.erase = names_of(changes);
    edits.comfortable = static_cast<unsigned>(comfortable_);
    const std::uint64_t pairs = edits.pairs();
    pair_numbers numbers(on, pairs);
    edits.insert_ends = numbers.array(0);
    edits.erase_begins = numbers.array(1);
    edits.erase_ends = numbers.array(2);
    edits.entries = numbers.array(3);
    edits.made = numbers.array(4);
    edits.written = numbers.array(5);
    edits.freed = numbers.array(6);
    Executor::for_each(on, core::find_pair_parts<Key, RowId>{edits}, pairs);
    Executor::for_each_in_groups(on, core::plan_pair<Key, RowId>{edits}, pairs);
    const auto sum_of = [&](std::uint64_t* all) {
      Executor::inclusive_sum(on, all, pairs);
      return Executor::read(on, all + (pairs - 1));
    };
    const std::uint64_t entries = sum_of(edits.entries);
    const std::uint64_t made = sum_of(edits.made);
    const std::uint64_t written = sum_of(edits.written);
    const std::uint64_t freed = sum_of(edits.freed);
    if (freed == 0) return before;
    check_room(entries, not_found<RowId>);
    const std::uint64_t most_pages = 2 * pages_of_build(entries);
    if (made == 0) {
      hold({}, {});
    } else if (written <= directory_.free_count + (memory_.room - directory_.unused) &&
               memory_.room <= most_pages) {
      write_some(on, edits, made, written, freed);
    } else if (made + spare_of(made, written) <= most_pages) {
      write_all(on, edits, made, written);
    } else {
      load(on, collect(on, edits, made, entries), true);
    }
    return {entries, max_row_id};
  }

  std::uint64_t pages_of_build(std::uint64_t entries) const {
    return (entries + comfortable_ - 1) / comfortable_;
  }
  // Where few pages change, more such batches may follow: a quarter more is set aside.
  static std::uint64_t spare_of(std::uint64_t made, std::uint64_t written) {
    const std::uint64_t most = not_found<RowId> / capacity;
    return std::min(written <= made / 4 ? made / 4 : 0, most - std::min(most, made));
  }

  // All entries after a batch.
  sorted collect(const context& on, const core::page_edits<Key, RowId>& edits, std::uint64_t made,
                 std::uint64_t entries) const {
    sorted all{{on, entries}, {on, entries}};
    buffer<RowId> first_ranks(on, made + 1);
    const core::page_writer<Key, RowId> to{
        all.keys.data(), reinterpret_cast<std::uint32_t*>(all.row_ids.data()), true};
    Executor::for_each_in_groups(
        on, core::write_page<Key, RowId>{edits, made, to, {}, nullptr, first_ranks.data()}, made);
    return all;
  }

  // Writes what changes to free pages.
  void write_some(const context& on, const core::page_edits<Key, RowId>& edits, std::uint64_t made,
                  std::uint64_t written, std::uint64_t freed) {
    const std::uint64_t listed = std::min(written, directory_.free_count);
    directory next;
    next.pages = made;
    next.order = {on, made};
    next.first_ranks = {on, made + 1};
    next.unused = directory_.unused + (written - listed);
    next.free_count = directory_.free_count - listed + freed;
    next.free_list = {on, next.free_count};
    Executor::for_each(on, copy_row_ids<RowId>{directory_.free_list.data(), next.free_list.data()},
                       directory_.free_count - listed);
    Executor::for_each(on,
                       core::list_freed<Key, RowId>{
                           edits, next.free_list.data() + (directory_.free_count - listed)},
                       edits.pairs());
    const core::write_page<Key, RowId> write{
        edits,
        made,
        memory_.writer(),
        {directory_.free_list.data(), directory_.free_count, directory_.unused},
        next.order.data(),
        next.first_ranks.data()};
    Executor::for_each_in_groups(on, write, made);
    grow(on, memory_, next);
    Executor::synchronise(on);
    hold(std::move(next));
  }

  // Writes all pages to new memory, in their order.
  void write_all(const context& on, const core::page_edits<Key, RowId>& edits, std::uint64_t made,
                 std::uint64_t written) {
    check_pages(made, capacity, not_found<RowId>);
    page_memory memory(on, made + spare_of(made, written));
    directory next;
    next.pages = next.unused = made;
    next.first_ranks = {on, made + 1};
    Executor::for_each_in_groups(
        on,
        core::write_page<Key, RowId>{
            edits, made, memory.writer(), {}, nullptr, next.first_ranks.data()},
        made);
    grow(on, memory, next);
    Executor::synchronise(on);
    hold(std::move(memory), std::move(next));
  }

  view_type queried() const override { return this->template view<Key, RowId>(); }

  std::uint64_t comfortable_;  // entries of a page that a build fills, or a split
  page_memory memory_;
  directory directory_;
  std::mutex clearing_;
  bool is_clear_ = false;  // what is unread
};

template <class Executor>
std::unique_ptr<btree> make_btree(const index_info& info, const context& on, const column& keys,
                                  const std::optional<column>& row_ids,
                                  const btree_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<btree> {
    return std::make_unique<built_btree<Key, RowId, Executor>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
