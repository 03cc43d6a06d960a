// SPDX-License-Identifier: Apache-2.0
// What the backends' joins have in common: all but the executor.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/key_ranges.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

[[noreturn]] inline void refuse_edited() {
  throw invalid_argument("join: its index was edited after it was built; build another one");
}
// An index alone does not know the rows that no probe matches.
[[noreturn]] inline void refuse_unmatched(join_kind kind) {
  throw unsupported("kind: " + std::string(to_string(kind)) +
                    " joins are not over an index, which does not hold the rows whose key is "
                    "missing; build the join over its column");
}

// What a batch found in somebody else's index. It may read that index, so it refuses to answer once
// there was an edit.
class joined_over_index final : public joined {
 public:
  joined_over_index(std::unique_ptr<joined> found, const located_index& over)
      : joined(over.info().where, found->kind(), found->probes(), 0),  // the other knows the rows
        found_(std::move(found)),
        over_(over),
        changes_(over.changes()) {
    size_ = found_->size();
  }

 private:
  const joined& found() const {
    if (over_.changes() != changes_) refuse_edited();
    return *found_;
  }
  void do_counts(const context& on, std::uint64_t* out) const override {
    found().counts(on, std::span(out, probes()));
  }
  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    found().rows(on, first, out);
  }

  std::unique_ptr<joined> found_;
  located_index over_;
  std::uint64_t changes_;
};

template <executor Executor>
class built_join final : public join {
 public:
  built_join(const context& on, const key_parts& keys, const join_options& options,
             const index_maker& make)
      : memory_(on.memory),
        keys_(context{memory_, on.stream}, keys, options, make),
        formats_(formats_of(keys)),
        rows_(size_of(keys)) {
    complete(on.stream);
  }
  built_join(const context& on, const index& over)
      : memory_(on.memory), keys_(over), formats_{over.info().key} {
    complete(on.stream);
  }

 private:
  void complete(stream_t stream) {
    changes_ = keys_.located().changes();
    const context own{memory_, stream};
    const located_index found = keys_.located();
    repeats_ = found.repeats(own);
    if (repeats_) list_ = found.row_list(own, own_list_);
    Executor::synchronise(own);
    const index_info& indexed = found.info();
    info_ = {.structure = indexed.structure,
             .options = indexed.options,
             .where = indexed.where,
             .keys = keys_.how(),
             .keys_differ = !repeats_,
             .entries = indexed.entries,
             .resident_bytes = memory_.current()};
  }

  const std::vector<std::optional<key_format>>& formats() const override { return formats_; }

  std::unique_ptr<joined> do_match(const context& on, const request& wanted) const override {
    if (keys_.located().changes() != changes_) refuse_edited();
    const bool unmatched = wants_unmatched(wanted.kind);
    if (unmatched && !rows_) refuse_unmatched(wanted.kind);
    auto found = with_row_id(keys_.get().info().row_ids, [&](auto zero) {
      return std::unique_ptr<joined>(std::make_unique<built_joined<decltype(zero), Executor>>(
          on, keys_.get().info(), wanted.kind, find<decltype(zero)>(on, wanted),
          unmatched ? *rows_ : 0));
    });
    if (rows_) return found;
    return std::make_unique<joined_over_index>(std::move(found), keys_.located());
  }

  template <class RowId>
  found_rows<RowId> find(const context& on, const request& wanted) const {
    if (wanted.parts != nullptr) return find_keys<RowId>(on, *wanted.parts);
    // Hash tables refuse ranges.
    keys_.located().check_kind(wanted.batch ? *wanted.batch : ranges(*wanted.from, *wanted.from));
    if (wanted.batch) {
      found_rows<RowId> found = room_for<RowId>(on, wanted.batch->size(), wanted.batch->is_points);
      look_up(on, *wanted.batch, found, 0);
      return found;
    }
    return keys_.get().info().key.encoded_bits() == 32
               ? find_about<RowId, std::uint32_t>(on, wanted)
               : find_about<RowId, std::uint64_t>(on, wanted);
  }

  // Memory for what is found of probes.
  template <class RowId>
  found_rows<RowId> room_for(const context& on, std::uint64_t size, bool are_points) const {
    found_rows<RowId> found;
    found.begins = {on, size};
    if (are_points && !repeats_) return found;
    found.counts = {on, size};
    found.list = repeats_ ? list_ : keys_.located().row_list(on, found.own_list);
    return found;
  }

  // Looks up the probes from number `first` on.
  template <class RowId>
  void look_up(const context& on, const probes& batch, found_rows<RowId>& found,
               std::uint64_t first) const {
    RowId* const begins = found.begins.data() + first;
    if (found.counts.size() == 0) {
      keys_.located().first(on, batch, begins);
    } else {
      keys_.located().locate(on, batch, begins, found.counts.data() + first);
    }
  }

  template <class RowId>
  found_rows<RowId> find_keys(const context& on, const key_parts& keys) const {
    const std::uint64_t all = size_of(keys);
    found_rows<RowId> found = room_for<RowId>(on, all, true);
    if (!keys_.turns_keys()) {
      look_up(on, points(std::get<column>(keys.front())), found, 0);
      return found;
    }
    for_each_slice(all, [&](std::uint64_t first, std::uint64_t size) {
      const key_parts sliced = slice(keys, first, size);
      made_column made;
      look_up(on, keys_.points_of(on, sliced, made), found, first);
      RowId* const counts = found.counts.size() == 0 ? nullptr : found.counts.data() + first;
      keys_.template drop_different<RowId>(on, sliced, found.begins.data() + first, counts,
                                           found.list);
    });
    return found;
  }

  // Looks up the keys about each probe.
  template <class RowId, class Key>
  found_rows<RowId> find_about(const context& on, const request& wanted) const {
    const column& all = *wanted.from;
    found_rows<RowId> found = room_for<RowId>(on, all.size, false);
    for_each_slice(all.size, [&](std::uint64_t first, std::uint64_t size) {
      const column sliced = slice(all, first, size);
      buffer<Key> lower(on, size);
      buffer<Key> upper(on, size);
      if (wanted.how) {
        put_ranges<Executor>(on, sliced, core::side_range<Key>{side_of(*wanted.how)}, lower, upper);
      } else {
        put_ranges<Executor>(
            on, sliced, band_of<Key>(sliced.format.type, {*wanted.distance}, {*wanted.distance}),
            lower, upper);
      }
      // Codes are their own codes.
      look_up(on, ranges(column(lower, sliced.validity), column(upper, sliced.validity)), found,
              first);
    });
    return found;
  }

  static core::side_of_probe side_of(comparison how) {
    switch (how) {
      case comparison::less:
        return core::side_of_probe::below;
      case comparison::less_equal:
        return core::side_of_probe::not_above;
      case comparison::greater:
        return core::side_of_probe::above;
      case comparison::greater_equal:
        break;
    }
    return core::side_of_probe::not_below;
  }

  tracking_resource memory_;  // the first to come, the last to go
  key_index<Executor> keys_;
  std::vector<std::optional<key_format>> formats_;
  std::optional<std::uint64_t> rows_;  // of the build side, which an index does not know
  std::uint64_t changes_ = 0;
  bool repeats_ = false;
  buffer<std::byte> own_list_;
  const void* list_ = nullptr;  // rows by position, where keys repeat
};

}  // namespace raydex
