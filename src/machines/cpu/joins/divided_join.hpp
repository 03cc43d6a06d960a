// SPDX-License-Identifier: Apache-2.0
// The build rows of equal keys for each probe row, of two columns that are looked at once: both are
// divided by a hash, until the build rows of a part fit the second-level cache.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "raydex/core/joins/key_cells.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cpu/joins/division.hpp"
#include "src/machines/cpu/joins/key_columns.hpp"
#include "src/machines/cpu/joins/part_table.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/joins/found_rows.hpp"

namespace raydex::cpu {

// Into how many parts so many build rows are divided, as a power of two. Measured: a table of 2^13
// rows stays in a second-level cache of 512 KiB, so do lines for 2^10 parts, and more of either
// takes longer; of many rows the parts are larger first.
constexpr unsigned part_bits(std::uint64_t rows) {
  const auto bits_of = [&](unsigned of_part) {
    return static_cast<unsigned>(std::bit_width((rows - 1) >> of_part));
  };
  if (rows <= std::uint64_t{1} << 14) return 0;
  return bits_of(13) <= 10 ? bits_of(13) : std::clamp(bits_of(14), 10U, 11U);
}

template <class Key, class RowId>
class divided_join {
 public:
  // `probed`: of `probed_keys`. `hashed`: what is compared of build rows with equal hashes, if keys
  // are hashes. `joining`: of semi and anti joins it is of no interest which rows are found, but
  // that there are some. `bits`: what divides it into parts, of 0 to 26.
  divided_join(const context& on, const column& build, const column& probe,
               const core::hash_function<Key>& mix, key_filter<Key> probed,
               const core::composite_cells* hashed, core::joining joining, unsigned bits)
      : on_(on),
        build_size_(build.size),
        probe_size_(probe.size),
        probe_(probe, mix),
        probed_(std::move(probed)),
        keys_(hashed),
        has_rows_(hashed != nullptr || !core::is_once(joining)),
        bits_(bits),
        expected_(2 * (build.size >> bits)),
        build_parts_(on, hashed_column<Key>(build, mix).filtered(probed_), bits),
        hashes_(on, entries()) {
    if (has_rows_) found_.own_list = {on, entries() * sizeof(RowId)};
    build_parts_.divide(on, hashes_.data(), rows());
    if (bits_ == 0) {
      look_up_all();
    } else {
      if (few_match()) leave_out_misses();
      look_up_parts();
      passed_ = {};
      if (found_.left_out != 0 && core::rows_of_join(joining, 0) != 0) take_back_misses();
    }
    hashes_ = {};
    compare();
    if (found_.counts.size() != 0) {
      found_.list = rows();
    } else {
      found_.own_list = {};
    }
  }

  // Whether build rows of different keys have equal hashes. Then nothing is found.
  bool confused() const { return confused_; }
  // Build rows that may match.
  std::uint64_t entries() const { return build_parts_.size(); }
  found_rows<RowId> take() { return std::move(found_); }

 private:
  using table = part_table<Key, RowId>;
  static_assert(sizeof(RowId) <= sizeof(Key), "what is found takes the place of hashes");

  // Probes of a part that several threads look up.
  static constexpr std::uint64_t heavy = std::uint64_t{1} << 18;

  // In order, a part is read a few at a time: the next line of it is fetched meanwhile.
  static constexpr std::uint64_t ahead = 64 / sizeof(Key);

  struct answer {
    RowId begin;
    RowId count;
  };

  // Whether few probes have a match, as those of the first part tell: about 128, in stretches that
  // are spread evenly. A filter of more build rows would let most pass, and `RowId` is to number
  // the probes that do.
  bool few_match() const {
    constexpr std::uint64_t stretches = 64;
    constexpr std::uint64_t enough = 8;
    constexpr std::uint64_t most_entries = std::uint64_t{1} << 24;
    const std::uint64_t stretch = std::uint64_t{2} << bits_;
    if (probe_.size() < std::max(stretches * stretch, build_size_ / 2)) return false;
    if (entries() > most_entries || probe_.size() >= table::none) return false;
    const std::uint64_t size = build_parts_.end(0);
    if (size > 2 * expected_) return false;  // one key has many rows
    table part(on_);
    part.fill({hashes_.data(), size}, bits_, expected_, false);
    std::uint64_t asked = 0;
    std::uint64_t matches = 0;
    for (std::uint64_t i = 0; i < stretches; ++i) {
      const std::uint64_t row = probe_.size() / stretches * i;
      probe_.for_each(
          row, row + stretch,
          [&](std::uint64_t, Key hash) {
            if (build_parts_.part_of(hash) != 0) return;
            ++asked;
            matches += part.find(hash) != table::none ? 1U : 0U;
          },
          [](std::uint64_t) {});
    }
    return asked >= enough && 5 * matches <= 2 * asked;
  }

  // Leaves out probes that a filter of the build rows' hashes tells to have no match, before they
  // are divided. None are if too many pass, so that the others take no more memory than all do.
  void leave_out_misses() {
    key_filter<Key> built(on_, entries(), bits_);
    for_blocks(build_parts_.parts(), 1, [&](std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t last = build_parts_.end(end - 1);
      for (std::uint64_t i = build_parts_.begin(begin); i < last; ++i)
        built.add_alone(hashes_[i]);
    });
    // In blocks, since it is not known before how many pass.
    constexpr std::uint64_t of_block = std::uint64_t{1} << 16;
    struct block {
      buffer<Key> hashes;
      buffer<RowId> rows;
      std::uint64_t end;
    };
    std::vector<block> blocks((probe_size_ + of_block - 1) / of_block);
    for_blocks(blocks.size(), 1, [&](std::uint64_t first, std::uint64_t last) {
      buffer<Key> hashes(on_, of_block);
      buffer<RowId> rows(on_, of_block);
      for (std::uint64_t i = first; i < last; ++i) {
        const std::uint64_t size =
            probe_.pass(built, i * of_block, std::min(probe_size_, (i + 1) * of_block),
                        hashes.data(), rows.data());
        blocks[i] = {{on_, size}, {on_, size}, size};
        std::copy_n(hashes.data(), size, blocks[i].hashes.data());
        std::copy_n(rows.data(), size, blocks[i].rows.data());
      }
    });
    std::uint64_t all = 0;
    for (block& some : blocks)
      some.end = all += some.end;
    if (all > probe_size_ / 20 * 9) return;
    passed_ = {on_, all};
    found_.probe_rows = {on_, all};
    for_each_part(blocks.size(), [&](std::uint64_t i) {
      const block& some = blocks[i];
      const std::uint64_t to = some.end - some.hashes.size();
      std::copy(some.hashes.begin(), some.hashes.end(), passed_.data() + to);
      std::copy(some.rows.begin(), some.rows.end(), found_.probe_rows.data() + to);
    });
    found_.left_out = probe_size_ - all;
    probe_ = hashed_column<Key>(std::span<const Key>(passed_.data(), all));
  }

  // Has them in what was found, without a match.
  void take_back_misses() {
    found_rows<RowId> some = std::exchange(found_, {});
    found_.own_list = std::move(some.own_list);
    found_.begins = {on_, probe_size_};
    if (some.counts.size() != 0) found_.counts = {on_, probe_size_};
    for_blocks(probe_size_, 1 << 14, [&](std::uint64_t begin, std::uint64_t end) {
      std::fill(found_.begins.data() + begin, found_.begins.data() + end, table::none);
      if (found_.counts.size() != 0)
        std::fill(found_.counts.data() + begin, found_.counts.data() + end, RowId{0});
      const buffer<RowId>& left = some.probe_rows;
      auto i = static_cast<std::uint64_t>(std::lower_bound(left.begin(), left.end(), begin) -
                                          left.begin());
      for (; i < left.size() && left[i] < end; ++i) {
        found_.begins[left[i]] = some.begins[i];
        if (found_.counts.size() != 0) found_.counts[left[i]] = some.counts[i];
      }
    });
  }

  // Null if nobody asks for them.
  RowId* rows() { return reinterpret_cast<RowId*>(found_.own_list.data()); }

  // Fills a table with a part, whose rows it puts in order.
  void fill(table& part, std::size_t number) {
    const std::uint64_t begin = build_parts_.begin(number);
    const std::uint64_t size = build_parts_.end(number) - begin;
    part.fill({hashes_.data() + begin, size}, bits_, expected_, has_rows_);
    if (!part.repeats()) return;
    const std::span<RowId> own(rows() + begin, size);
    part.order(own);
    if (keys_ == nullptr) return;
    std::call_once(firsts_once_, [&] {
      firsts_ = {on_, build_parts_.size()};
      std::fill(firsts_.begin(), firsts_.end(), table::none);
    });
    for (std::size_t i = 0; i < size; ++i) {
      const auto& group = part.rows_of(part.firsts()[i]);
      firsts_[begin + i] = own[group.end - group.count];
    }
  }

  // Compares build rows of equal hashes, in their order, with the first one.
  void compare() {
    if (firsts_.size() == 0) return;
    buffer<RowId> firsts(on_, build_size_);
    build_parts_.for_each_in_order(
        on_, [&](std::uint64_t i, std::size_t, std::uint64_t place) { firsts[i] = firsts_[place]; },
        [&](std::uint64_t i) { firsts[i] = table::none; });
    firsts_ = {};
    const auto row_of = [&](std::uint64_t i) {
      const bool has_other = firsts[i] != table::none && firsts[i] != i;
      return has_other ? std::optional<std::uint64_t>(firsts[i]) : std::nullopt;
    };
    for_blocks(build_size_, 1 << 10, [&](std::uint64_t begin, std::uint64_t end) {
      for_each_fetched(*keys_, begin, end, row_of, [&](std::uint64_t i, std::uint64_t first) {
        if (!keys_->equal(i, *keys_, first)) confused_ = true;
      });
    });
  }

  // What a probe finds in a part whose rows begin there.
  static answer find(const table& part, Key hash, const RowId* list, std::uint64_t begin) {
    const RowId first = part.find(hash);
    if (first == table::none) return {table::none, 0};
    if (list == nullptr) return {first, 1};
    if (!part.repeats()) return {list[begin + first], 1};
    const auto& group = part.rows_of(first);
    if (group.count == 1) return {list[begin + group.end - 1], 1};
    return {static_cast<RowId>(begin + group.end - group.count), group.count};
  }

  // There is one part, and probes find their rows in it as they come.
  void look_up_all() {
    table part(on_);
    fill(part, 0);
    found_.begins = {on_, probe_.size()};
    if (part.repeats()) found_.counts = {on_, probe_.size()};
    RowId* const begins = found_.begins.data();
    RowId* const counts = found_.counts.data();
    const auto put = [&](std::uint64_t i, const answer& what) {
      begins[i] = what.begin;
      if (counts != nullptr) counts[i] = what.count;
    };
    for_blocks(probe_.size(), 1 << 12, [&](std::uint64_t begin, std::uint64_t end) {
      probe_.for_each(
          begin, end, [&](std::uint64_t i, Key hash) { put(i, find(part, hash, rows(), 0)); },
          [&](std::uint64_t i) {
            put(i, {table::none, 0});
          });
    });
  }

  // What probes find takes the place of their hashes, and is then put in their order.
  void look_up_parts() {
    const division<Key> parts(on_, probe_, bits_);
    buffer<Key> places(on_, parts.size());
    parts.divide(on_, places.data(), static_cast<RowId*>(nullptr));
    buffer<RowId> counts;
    std::once_flag once;
    buffer<std::uint8_t> repeats(on_, parts.parts());
    const auto look_up_part = [&](table& part, std::size_t number) {
      fill(part, number);
      const std::uint64_t own_begin = build_parts_.begin(number);
      repeats[number] = part.repeats() ? 1 : 0;
      if (part.repeats()) std::call_once(once, [&] { counts = {on_, parts.size()}; });
      for_each_slice_of(parts.begin(number), parts.end(number),
                        [&](std::uint64_t begin, std::uint64_t end) {
                          for (std::uint64_t i = begin; i < end; ++i) {
                            const answer what = find(part, places[i], rows(), own_begin);
                            places[i] = what.begin;
                            if (part.repeats()) counts[i] = what.count;
                          }
                        });
    };
    // Some parts at a time, which have one table after the other in the same memory.
    const std::uint64_t grain = std::max<std::uint64_t>(1, parts.parts() / 64);
    for_blocks(parts.parts(), grain, [&](std::uint64_t begin, std::uint64_t end) {
      table part(on_);
      for (std::uint64_t number = begin; number < end; ++number)
        look_up_part(part, number);
    });
    found_.begins = {on_, probe_.size()};
    if (counts.size() != 0) found_.counts = {on_, probe_.size()};
    RowId* const begins = found_.begins.data();
    RowId* const found_counts = found_.counts.data();
    parts.for_each_in_order(
        on_,
        [&](std::uint64_t i, std::size_t part, std::uint64_t place) {
          core::prefetch(places.data() + place + ahead);
          const auto begin = static_cast<RowId>(places[place]);
          begins[i] = begin;
          if (found_counts == nullptr) return;
          const RowId alone = begin == table::none ? 0 : 1;
          found_counts[i] = repeats[part] != 0 ? counts[place] : alone;
        },
        [&](std::uint64_t i) {
          begins[i] = table::none;
          if (found_counts != nullptr) found_counts[i] = 0;
        });
  }

  // Calls f(begin, end), by several threads where there is much to do.
  template <class F>
  static void for_each_slice_of(std::uint64_t begin, std::uint64_t end, const F& f) {
    if (end - begin <= heavy) return f(begin, end);
    // While this thread waits, another part on top of this one would keep it waiting.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(tbb::blocked_range<std::uint64_t>(begin, end, heavy / 4),
                        [&](const auto& slice) { f(slice.begin(), slice.end()); });
    });
  }

  context on_;
  std::uint64_t build_size_;
  std::uint64_t probe_size_;
  hashed_column<Key> probe_;
  key_filter<Key> probed_;
  const core::composite_cells* keys_;
  bool has_rows_;
  unsigned bits_;
  std::uint64_t expected_;  // different keys of a part, at most
  division<Key> build_parts_;
  buffer<Key> hashes_;  // of the build rows, part after part
  buffer<Key> passed_;  // of the probes that are left, if misses are left out
  found_rows<RowId> found_;
  std::once_flag firsts_once_;
  buffer<RowId> firsts_;  // of each place the first row of its hash, if keys are compared
  std::atomic<bool> confused_ = false;
};

}  // namespace raydex::cpu
