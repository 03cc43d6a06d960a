// SPDX-License-Identifier: Apache-2.0
// What the backends' joins have in common: all but the executor.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
    const index_info& of = found.info();
    info_ = {.structure = of.structure,
             .options = of.options,
             .where = of.where,
             .keys = keys_.how(),
             .keys_differ = !repeats_,
             .entries = of.entries,
             .resident_bytes = memory_.current()};
  }

  const std::vector<std::optional<key_format>>& formats() const override { return formats_; }

  std::unique_ptr<joined> do_match(const context& on, const request& what) const override {
    if (keys_.located().changes() != changes_) refuse_edited();
    const bool unmatched = wants_unmatched(what.kind);
    if (unmatched && !rows_) refuse_unmatched(what.kind);
    return with_row_id(keys_.get().info().row_ids, [&](auto zero) {
      return std::unique_ptr<joined>(std::make_unique<built_joined<decltype(zero), Executor>>(
          on, keys_.get().info(), what.kind, find<decltype(zero)>(on, what),
          unmatched ? *rows_ : 0));
    });
  }

  template <class RowId>
  found_rows<RowId> find(const context& on, const request& what) const {
    if (what.parts != nullptr) return find_keys<RowId>(on, *what.parts);
    // Hash tables refuse ranges.
    keys_.located().check_kind(what.batch ? *what.batch : ranges(*what.from, *what.from));
    if (what.batch) {
      found_rows<RowId> found = room_for<RowId>(on, what.batch->size(), what.batch->is_points);
      look_up(on, *what.batch, found, 0);
      return found;
    }
    return keys_.get().info().key.encoded_bits() == 32 ? find_about<RowId, std::uint32_t>(on, what)
                                                       : find_about<RowId, std::uint64_t>(on, what);
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

  // Looks probes up; the first is number `first`.
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
      const key_parts some = slice(keys, first, size);
      made_column made;
      look_up(on, keys_.points_of(on, some, made), found, first);
      RowId* const counts = found.counts.size() == 0 ? nullptr : found.counts.data() + first;
      keys_.template drop_different<RowId>(on, some, found.begins.data() + first, counts,
                                           found.list);
    });
    return found;
  }

  // Looks up the keys about each probe.
  template <class RowId, class Key>
  found_rows<RowId> find_about(const context& on, const request& what) const {
    const column& all = *what.from;
    found_rows<RowId> found = room_for<RowId>(on, all.size, false);
    for_each_slice(all.size, [&](std::uint64_t first, std::uint64_t size) {
      const column some = slice(all, first, size);
      buffer<Key> lower(on, size);
      buffer<Key> upper(on, size);
      if (what.how) {
        put_ranges<Executor>(on, some, core::side_range<Key>{side_of(*what.how)}, lower, upper);
      } else {
        put_ranges<Executor>(on, some,
                             band_of<Key>(some.format.type, {*what.distance}, {*what.distance}),
                             lower, upper);
      }
      // Codes are their own codes.
      look_up(on, ranges(column(lower, some.validity), column(upper, some.validity)), found, first);
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
