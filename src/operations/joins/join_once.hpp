// SPDX-License-Identifier: Apache-2.0
// Joins of two tables by equal keys that are made once, without an index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "raydex/join.hpp"
#include "src/interface/checks.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/equal_rows.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

// What is compared of keys whose hashes are equal: all columns but the widest one of no strings, if
// one is left. A hash is made of one column after the other, and each step can be undone, see
// `core::composite_cells::hash`: the hash and the other columns determine that column. Where
// missing values are equal it is one without any, since they are hashed in another way.
inline void leave_out_one(core::composite_cells& build, core::composite_cells& probe) {
  if (build.count < 2) return;
  const auto may_be_missing = [](const core::composite_cells& keys, unsigned p) {
    return keys.missing_equal && keys.parts[p].fixed.validity != nullptr;
  };
  const auto saved = [&](unsigned p) {
    const core::key_cells& part = build.parts[p];
    const bool stays = part.is_strings || may_be_missing(build, p) || may_be_missing(probe, p);
    return stays ? 0 : part.bits();
  };
  unsigned out = 0;
  for (unsigned p = 1; p < build.count; ++p)
    if (saved(p) > saved(out)) out = p;
  if (saved(out) == 0) return;
  for (core::composite_cells* keys : {&build, &probe}) {
    std::copy(keys->parts + out + 1, keys->parts + keys->count, keys->parts + out);
    --keys->count;
  }
}

template <class RowId, executor Executor>
class equal_keys {
 public:
  // `counted`: whether anyone asks how many rows the join has.
  equal_keys(const context& on, const key_parts& build, const key_parts& probe, join_kind kind,
             const join_options& options, bool counted = true)
      : on_(on),
        build_(composite_of(build, options.missing_equal)),
        probe_(composite_of(probe, options.missing_equal)),
        build_size_(size_of(build)),
        probe_size_(size_of(probe)),
        how_{.seed = options.seed ? *options.seed : random_seed(),
             .order = options.order,
             .joining = joining_of(kind),
             .may_turn = kind == join_kind::inner || kind == join_kind::left,
             .counted = counted} {
    switch (comparison_of(build_)) {
      case key_comparison::column:
        find(std::get<column>(build.front()), std::get<column>(probe.front()));
        break;
      case key_comparison::packed:
        find(packed<Executor>(on, build_, build_size_).view(),
             packed<Executor>(on, probe_, probe_size_).view());
        break;
      case key_comparison::hashed:
        find_hashed();
        break;
    }
  }

  // Nothing if they had better be found by an index.
  std::optional<equal_rows<RowId>> take() { return std::move(found_); }

 private:
  // Finds rows of equal keys, which have 32 or 64 bits.
  void find(const column& build, const column& probe) {
    if constexpr (sizeof(RowId) == 4) {
      if (build.format.encoded_bits() == 32) {
        found_ = Executor::template find_equal_rows<std::uint32_t, RowId>(on_, build, probe, how_);
        return;
      }
    }
    found_ = Executor::template find_equal_rows<std::uint64_t, RowId>(on_, build, probe, how_);
  }

  void find_hashed() {
    core::composite_cells compared = build_;
    core::composite_cells compared_with = probe_;
    leave_out_one(compared, compared_with);
    how_.build_keys = &compared;
    how_.probe_keys = &compared_with;
    try_hashes(how_.seed, [&](const core::hash_function<std::uint64_t>& mix) {
      const made_column build = hashed<Executor>(on_, build_, mix, build_size_);
      const made_column probe = hashed<Executor>(on_, probe_, mix, probe_size_);
      find(build.view(), probe.view());
      return !found_ || !found_->confused;
    });
    how_.build_keys = how_.probe_keys = nullptr;
  }

  context on_;
  core::composite_cells build_;
  core::composite_cells probe_;
  std::uint64_t build_size_;
  std::uint64_t probe_size_;
  equality how_;
  std::optional<equal_rows<RowId>> found_;
};

// Null if an index had better be built. Arguments are checked; the structure in the options is not
// looked at.
template <executor Executor>
std::unique_ptr<joined> joined_once(backend where, const context& on, const key_parts& build,
                                    const key_parts& probe, join_kind kind,
                                    const join_options& options) {
  const std::uint64_t rows = size_of(build);
  return with_row_id(row_ids_of(rows), [&](auto zero) -> std::unique_ptr<joined> {
    using row_id = decltype(zero);
    std::optional<equal_rows<row_id>> found =
        equal_keys<row_id, Executor>(on, build, probe, kind, options).take();
    if (!found) return nullptr;
    index_info of_build{};
    of_build.where = where;
    of_build.entries = found->entries;
    of_build.max_row_id = rows == 0 ? 0 : rows - 1;
    if (found->rows.turned_probes != 0)
      return std::make_unique<turned_joined<row_id, Executor>>(on, of_build, kind,
                                                               std::move(found->rows));
    return std::make_unique<built_joined<row_id, Executor>>(
        on, of_build, kind, std::move(found->rows), wants_unmatched(kind) ? rows : 0);
  });
}

}  // namespace raydex
