// SPDX-License-Identifier: Apache-2.0
// The different keys of a column in their order: strings of any length are sorted by words of 8
// bytes, and found by a tree over the first ones.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "raydex/composite_keys.hpp"
#include "raydex/core/lookups/key_dictionary.hpp"
#include "raydex/error.hpp"
#include "raydex/key_dictionary.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/lookups/dictionary_columns.hpp"
#include "src/operations/lookups/search_sorted.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Sorts the rows of a column by key.
template <executor Executor, class RowId>
class key_order {
 public:
  // `keys` has the bytes that all strings begin with left out; the longest one has so many.
  key_order(const context& on, const core::key_words& keys, std::uint64_t size,
            const validity_bitmap& validity, std::uint64_t longest)
      : keys_(keys), longest_(longest) {
    sort_first_words(on, size, validity);
    buffer<std::uint64_t> ranks(on, this->size());
    const std::uint64_t tied = mark_tied(on, ranks.data());
    all_differ_ = tied == 0;
    if (keys.of.is_strings && tied != 0) settle(on, put_tied(on, ranks.data(), tied));
  }

  // The first words, ascending, and the rows.
  sorted_column<std::uint64_t, RowId>& sorted() { return sorted_; }
  std::uint64_t size() const { return sorted_.keys.size(); }

  // How many different keys there are up to each one; empty if all differ. `count` gets how many
  // there are.
  buffer<std::uint64_t> rank(const context& on, std::uint64_t& count) const {
    count = size();
    if (all_differ_) return {};
    buffer<std::uint64_t> ranks(on, size());
    Executor::for_each(on,
                       core::mark_first_of_equal<RowId>{keys_, sorted_.keys.data(),
                                                        sorted_.row_ids.data(), ranks.data()},
                       size());
    count = sum(on, ranks.data(), size());
    if (count == size()) return {};
    return ranks;
  }

 private:
  struct ties {
    buffer<std::uint64_t> places, groups, from;

    ties() = default;
    ties(const context& on, std::uint64_t size)
        : places(on, size), groups(on, size), from(on, size) {}
    core::tied_keys view() { return {places.data(), groups.data(), from.data()}; }
    std::uint64_t size() const { return places.size(); }
  };

  // Adds to each number those before it, and returns the last one.
  static std::uint64_t sum(const context& on, std::uint64_t* numbers, std::uint64_t size) {
    if (size == 0) return 0;
    Executor::inclusive_sum(on, numbers, size);
    return Executor::read(on, numbers + size - 1);
  }

  void sort_first_words(const context& on, std::uint64_t size, const validity_bitmap& validity) {
    buffer<std::uint64_t> words(on, size);
    Executor::for_each(on, core::put_first_words{keys_, words.data()}, size);
    const column first(key_format(key_type::uint64), words.data(), size, validity);
    sorted_ = Executor::template sort_column<std::uint64_t, RowId>(on, first, std::nullopt);
  }

  void settle(const context& on, ties tied) {
    std::uint64_t groups = sum(on, tied.groups.data(), tied.size());
    while (tied.size() != 0) {
      buffer<std::uint64_t> distance(on, groups + 1);
      Executor::clear(on, distance.data(), distance.size());
      Executor::for_each(on,
                         core::find_differences<RowId>{keys_, sorted_.row_ids.data(), tied.view(),
                                                       distance.data()},
                         tied.size());
      buffer<std::uint64_t> sorted_by;
      tied = keep_unsettled(on, tied, distance.data(), groups, sorted_by);
      groups = with_row_id(row_ids_of(tied.size()), [&](auto place) {
        return sort_groups<decltype(place)>(on, tied, column(sorted_by));
      });
    }
  }

  // Writes how many tied keys there are up to each one, and returns how many in all.
  std::uint64_t mark_tied(const context& on, std::uint64_t* ranks) const {
    Executor::for_each(on, core::mark_tied{sorted_.keys.data(), size(), ranks}, size());
    return sum(on, ranks, size());
  }
  ties put_tied(const context& on, const std::uint64_t* ranks, std::uint64_t count) const {
    ties tied(on, count);
    Executor::for_each(on, core::put_tied{sorted_.keys.data(), ranks, tied.view()}, size());
    return tied;
  }

  // Those of groups that differ, and what they are sorted by.
  ties keep_unsettled(const context& on, ties& tied, const std::uint64_t* distance,
                      std::uint64_t groups, buffer<std::uint64_t>& sorted_by) const {
    buffer<std::uint64_t> ranks(on, tied.size());
    Executor::for_each(on, core::mark_unsettled{tied.groups.data(), distance, ranks.data()},
                       tied.size());
    ties kept(on, sum(on, ranks.data(), tied.size()));
    sorted_by = {on, kept.size()};
    if (kept.size() == 0) return kept;
    const auto bits = static_cast<unsigned>(std::bit_width(groups));
    if (static_cast<unsigned>(std::bit_width(longest_)) > 64 - bits)
      throw unsupported("keys: too many strings, and too long ones, to be put in order");
    Executor::for_each(
        on,
        core::put_unsettled<RowId>{keys_, sorted_.row_ids.data(), tied.view(), distance,
                                   ranks.data(), bits, kept.view(), sorted_by.data()},
        tied.size());
    return kept;
  }

  // Sorts each group; returns how many groups there are then.
  template <class Place>
  std::uint64_t sort_groups(const context& on, ties& tied, const column& sorted_by) {
    const std::uint64_t size = tied.size();
    if (size == 0) return 0;
    const auto order =
        Executor::template sort_column<std::uint64_t, Place>(on, sorted_by, std::nullopt);
    buffer<RowId> rows(on, size);
    Executor::for_each(on,
                       core::put_in_order<RowId, Place>{sorted_.row_ids.data(), tied.places.data(),
                                                        order.keys.data(), order.row_ids.data(),
                                                        rows.data(), tied.groups.data()},
                       size);
    Executor::for_each(
        on, core::scatter_rows<RowId>{rows.data(), tied.places.data(), sorted_.row_ids.data()},
        size);
    return sum(on, tied.groups.data(), size);
  }

  core::key_words keys_;
  std::uint64_t longest_;
  sorted_column<std::uint64_t, RowId> sorted_;
  bool all_differ_ = false;  // by their first words
};

template <executor Executor>
class built_dictionary final : public held_dictionary {
 public:
  built_dictionary(const context& on, const key_part& keys, const row_numbers& numbers) {
    const std::uint64_t size = size_of({keys});
    core::key_words words{key_cells_of(keys)};
    if (words.of.is_strings) {
      const core::common_bytes common = find_common_bytes<Executor>(on, words.of, size);
      words.skipped = skipped_ = common.prefix;
      bytes_ = common.longest;
      has_seconds_ = bytes_ > skipped_ + 8;
      are_whole_ = common.shortest == bytes_ && bytes_ <= skipped_ + 16;
      if (common.shortest == bytes_ && validity_of(keys) == nullptr) {
        words.width = bytes_;
        words.begin = common.begin;
      }
    }
    with_row_id(row_ids_of(size),
                [&](auto row_id) { hold<decltype(row_id)>(on, words, keys, numbers); });
    resident_bytes_ = tree_->resident_bytes() + seconds_.bytes() + second_at_.bytes() +
                      strings_.offsets.bytes() + strings_.bytes.bytes();
  }

  packed_keys numbers(const context& on, const key_part& keys) const override {
    packed_keys made = room_for_numbers(on, size_, size_of({keys}));
    put_missing<Executor>(on, keys, made);
    if (size_ == 0) {
      Executor::clear(on, made.narrow.data(), made.narrow.size());
      return made;
    }
    const core::key_words all{key_cells_of(keys), skipped_};
    if (made.format.width == 4 && skipped_ == 0 && (!all.of.is_strings || are_whole_)) {
      tree_->run(on, [&]<class View>(const View& in) {
        return core::number_whole_keys<View>{
            in, {all, made.narrow.size()}, view(all), made.narrow.data()};
      });
      return made;
    }
    for_each_words(keys,
                   [&](const core::key_words& words, std::uint64_t first, std::uint64_t count) {
                     buffer<std::uint64_t> firsts(on, count);
                     buffer<std::uint64_t> places(on, count);
                     rank_first_words(on, words, firsts, places);
                     put_numbers(on, words, places, at(made, first));
                   });
    return made;
  }

  owned_strings keys(const context& on) const override {
    owned_strings made;
    made.offsets = {on, size_ + 1};
    if (!are_whole_) {
      made.bytes = {on, strings_.bytes.size()};
      Executor::copy(on, made.bytes.data(), strings_.bytes.data(), strings_.bytes.size());
      if (size_ == 0) {
        Executor::clear(on, made.offsets.data());
      } else {
        Executor::copy(on, made.offsets.data(), strings_.offsets.data(), strings_.offsets.size());
      }
      return made;
    }
    made.bytes = {on, size_ * bytes_};
    Executor::for_each(
        on,
        core::put_whole_strings{strings_.bytes.data(), skipped_, bytes_, words(), seconds_.data(),
                                made.bytes.data(), made.offsets.data(), size_},
        size_ + 1);
    return made;
  }

  buffer<std::uint64_t> codes(const context& on, unsigned bits) const override {
    buffer<std::uint64_t> made(on, size_);
    Executor::for_each(on, core::put_codes_of_words{words(), bits, made.data()}, size_);
    return made;
  }

  packed_ranges ranges_of_prefixes(const context& on, const string_column& strings) const override {
    packed_ranges made{room_for_numbers(on, size_, strings.size),
                       room_for_numbers(on, size_, strings.size)};
    for_each_words(
        strings, [&](const core::key_words& words, std::uint64_t first, std::uint64_t count) {
          buffer<std::uint64_t> firsts(on, count);
          buffer<std::uint64_t> places(on, count);
          buffer<std::uint64_t> ends(on, count);
          rank_first_words(on, words, firsts, places);
          put_numbers(on, words, places, at(made.lower, first));
          Executor::for_each(on, core::put_greatest_words{words, firsts.data()}, count);
          tree_->rank(on, column(firsts), true, ends.data());
          std::visit(
              [&]<class Number>(Number* out) {
                Executor::for_each(
                    on, core::put_prefix_ends<Number>{view(words), places.data(), ends.data(), out},
                    count);
              },
              at(made.upper, first));
        });
    put_missing<Executor>(on, strings, made.lower);
    put_missing<Executor>(on, strings, made.upper);
    return made;
  }

 private:
  // The first word of each key.
  const std::uint64_t* words() const { return static_cast<const std::uint64_t*>(tree_->codes()); }

  // Calls f(words, first, count) for slices of keys.
  template <class F>
  void for_each_words(const key_part& keys, const F& f) const {
    for_each_slice(size_of({keys}), [&](std::uint64_t first, std::uint64_t count) {
      const key_part some =
          std::visit([&](const auto& cells) { return key_part(slice(cells, first, count)); }, keys);
      f(core::key_words{key_cells_of(some), skipped_}, first, count);
    });
  }

  // Writes the first words of keys, and how many of the dictionary's are less.
  void rank_first_words(const context& on, const core::key_words& words,
                        buffer<std::uint64_t>& firsts, buffer<std::uint64_t>& places) const {
    Executor::for_each(on, core::put_first_words{words, firsts.data()}, firsts.size());
    tree_->rank(on, column(firsts), false, places.data());
  }

  void put_numbers(const context& on, const core::key_words& words,
                   const buffer<std::uint64_t>& places, const numbers_at& to) const {
    std::visit(
        [&]<class Number>(Number* out) {
          Executor::for_each(on, core::put_key_numbers<Number>{view(words), places.data(), out},
                             places.size());
        },
        to);
  }

  core::dictionary_view view(const core::key_words& probes) const {
    core::key_words all{{}, skipped_};
    all.of.bytes = strings_.bytes.data();
    all.of.offsets = strings_.offsets.data();
    all.of.wide_offsets = true;
    all.of.is_strings = true;
    all.of.size = strings_.offsets.size() == 0 ? 0 : strings_.offsets.size() - 1;
    return {probes, all, are_whole_, bytes_, words(), seconds_.data(), second_at_.data(), size_};
  }

  template <class RowId>
  void hold(const context& on, const core::key_words& keys, const key_part& column_of_keys,
            const row_numbers& numbers) {
    const std::uint64_t size = size_of({column_of_keys});
    key_order<Executor, RowId> order(on, keys, size, validity_of(column_of_keys), bytes_);
    const std::uint64_t* const words = order.sorted().keys.data();
    const RowId* const row_ids = order.sorted().row_ids.data();
    const buffer<std::uint64_t> ranks = order.rank(on, size_);
    const bool all_differ = size_ == order.size();

    buffer<std::uint64_t> firsts;
    buffer<RowId> key_rows;
    if (!all_differ) {
      firsts = {on, size_};
      key_rows = {on, keys.of.is_strings ? size_ : 0};
      Executor::for_each(on,
                         core::put_distinct_keys<RowId>{words, row_ids, ranks.data(), firsts.data(),
                                                        key_rows.data()},
                         order.size());
    }
    const std::uint64_t* const first_words = all_differ ? words : firsts.data();
    if (keys.of.is_strings)
      hold_strings(on, keys, first_words, all_differ ? row_ids : key_rows.data());
    tree_ = std::make_unique<tree>(on, column(std::span(first_words, size_)));
    put_rows(on, size, order, ranks, numbers);
    if (numbers.of_rows != nullptr && numbers.rows == nullptr)
      put_missing<Executor>(on, column_of_keys, *numbers.of_rows);
    Executor::synchronise(on);
  }

  // What is behind the first words of strings.
  template <class RowId>
  void hold_strings(const context& on, const core::key_words& keys, const std::uint64_t* firsts,
                    const RowId* rows) {
    if (has_seconds_) put_second_words(on, keys, firsts, rows);
    // Of whole ones, the first one says what they begin with.
    const std::uint64_t copies = are_whole_ ? std::min<std::uint64_t>(size_, 1) : size_;
    strings_ = copy_strings<Executor>(on, keys.of, rows, copies);
  }

  template <class RowId>
  void put_rows(const context& on, std::uint64_t size, key_order<Executor, RowId>& order,
                const buffer<std::uint64_t>& ranks, const row_numbers& numbers) const {
    if (numbers.of_rows == nullptr) return;
    const bool in_order = numbers.rows != nullptr;
    packed_keys made = room_for_numbers(on, size_, in_order ? order.size() : size);
    std::visit(
        [&]<class Number>(Number* out) {
          if (!in_order) Executor::clear(on, out, size);
          Executor::for_each(
              on,
              core::put_row_numbers<RowId, Number>{
                  in_order ? nullptr : order.sorted().row_ids.data(), ranks.data(), out},
              order.size());
        },
        at(made, 0));
    *numbers.of_rows = std::move(made);
    if (!in_order) return;
    if constexpr (sizeof(RowId) == 4) {
      numbers.rows->narrow = std::move(order.sorted().row_ids);
    } else {
      numbers.rows->format = key_format(key_type::uint64);
      numbers.rows->wide = std::move(order.sorted().row_ids);
    }
  }

  template <class RowId>
  void put_second_words(const context& on, const core::key_words& keys, const std::uint64_t* firsts,
                        const RowId* rows) {
    if (!are_whole_) put_second_begins(on, keys, firsts, rows);
    seconds_ = {on, size_};
    Executor::for_each(
        on, core::put_second_words<RowId>{keys, firsts, rows, second_at_.data(), seconds_.data()},
        size_);
  }
  // For strings that are copied.
  template <class RowId>
  void put_second_begins(const context& on, const core::key_words& keys,
                         const std::uint64_t* firsts, const RowId* rows) {
    second_at_ = {on, size_};
    buffer<std::uint64_t> any(on, 1);
    Executor::clear(on, any.data());
    Executor::for_each(
        on,
        core::put_second_begins<RowId>{keys, firsts, rows, size_, second_at_.data(), any.data()},
        size_);
    if (Executor::read(on, any.data()) == 0) second_at_ = {};
  }

  using tree = built_ascending_keys<std::uint64_t, Executor>;

  std::uint64_t skipped_ = 0;  // bytes that all strings begin with
  std::uint64_t bytes_ = 0;    // of the longest string
  bool has_seconds_ = false;   // whether a string goes beyond the first word
  bool are_whole_ = false;     // see `dictionary_view`
  std::unique_ptr<tree> tree_;
  buffer<std::uint64_t> seconds_;
  buffer<std::uint32_t> second_at_;  // none where all of them are 8
  copied_strings strings_;
};

template <executor Executor>
std::unique_ptr<held_dictionary> order_keys(const context& on, const key_part& keys,
                                            const row_numbers& numbers) {
  return std::make_unique<built_dictionary<Executor>>(on, keys, numbers);
}

}  // namespace raydex
