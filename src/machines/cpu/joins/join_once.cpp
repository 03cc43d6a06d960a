// SPDX-License-Identifier: Apache-2.0
#include "src/machines/cpu/joins/join_once.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "src/interface/checks.hpp"
#include "src/machines/cpu/executor.hpp"
#include "src/machines/cpu/joins/equal_rows.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex::cpu {

namespace {

// What is found of a join's probe rows.
template <class RowId>
struct found_once {
  found_rows<RowId> rows;
  std::uint64_t entries = 0;  // build rows that can match
};

template <class RowId>
class once {
 public:
  once(const context& on, const key_parts& build, const key_parts& probe,
       const join_options& options)
      : on_(on),
        build_(composite_of(build, options.missing_equal)),
        probe_(composite_of(probe, options.missing_equal)),
        build_size_(size_of(build)),
        probe_size_(size_of(probe)),
        seed_(options.seed ? *options.seed : random_seed()) {
    switch (comparison_of(build_)) {
      case key_comparison::column:
        find(std::get<column>(build.front()), std::get<column>(probe.front()));
        break;
      case key_comparison::packed:
        find(packed<executor>(on, build_, build_size_).view(),
             packed<executor>(on, probe_, probe_size_).view());
        break;
      case key_comparison::hashed:
        find_hashed();
        break;
    }
  }

  found_once<RowId> take() { return std::move(found_); }

 private:
  // Finds rows of equal keys, which have 32 or 64 bits.
  void find(const column& build, const column& probe) {
    if constexpr (sizeof(RowId) == 4) {
      if (build.format.encoded_bits() == 32) return find<std::uint32_t>(build, probe);
    }
    find<std::uint64_t>(build, probe);
  }
  template <class Key>
  void find(const column& build, const column& probe) {
    equal_rows<Key, RowId> equal(on_, build, probe, core::hash_by<Key>(seed_), nullptr,
                                 part_bits(build.size));
    found_ = {equal.take(), equal.entries()};
  }

  void find_hashed() {
    try_hashes(seed_, [&](const core::hash_function<std::uint64_t>& mix) {
      const made_column build = hashed<executor>(on_, build_, mix, build_size_);
      const made_column probe = hashed<executor>(on_, probe_, mix, probe_size_);
      equal_rows<std::uint64_t, RowId> equal(on_, build.view(), probe.view(), mix, &build_,
                                             part_bits(build_size_));
      if (equal.confused()) return false;
      found_ = {equal.take(), equal.entries()};
      return true;
    });
    drop_different();
  }

  // Takes back what was found of other keys with the same hash.
  void drop_different() {
    RowId* const begins = found_.rows.begins.data();
    RowId* const counts = found_.rows.counts.data();
    const auto* const list = static_cast<const RowId*>(found_.rows.list);
    const auto row_of = [&](std::uint64_t i) -> std::optional<std::uint64_t> {
      const RowId begin = begins[i];
      if (counts != nullptr ? counts[i] == 0 : begin == not_found<RowId>) return std::nullopt;
      return counts == nullptr || counts[i] == 1 ? begin : list[begin];  // they have one key
    };
    for_blocks(probe_size_, 1 << 10, [&](std::uint64_t begin, std::uint64_t end) {
      for_each_fetched(build_, begin, end, row_of, [&](std::uint64_t i, std::uint64_t row) {
        if (probe_.equal(i, build_, row)) return;
        begins[i] = not_found<RowId>;
        if (counts != nullptr) counts[i] = 0;
      });
    });
  }

  context on_;
  core::composite_cells build_;
  core::composite_cells probe_;
  std::uint64_t build_size_;
  std::uint64_t probe_size_;
  std::uint64_t seed_;
  found_once<RowId> found_;
};

}  // namespace

std::unique_ptr<joined> join_once(const context& on, const key_parts& build, const key_parts& probe,
                                  join_kind kind, const join_options& options) {
  const std::uint64_t rows = size_of(build);
  return with_row_id(row_ids_of(rows), [&](auto zero) -> std::unique_ptr<joined> {
    using row_id = decltype(zero);
    found_once<row_id> found = once<row_id>(on, build, probe, options).take();
    index_info of_build{};
    of_build.where = backend::cpu;
    of_build.entries = found.entries;
    of_build.max_row_id = rows == 0 ? 0 : rows - 1;
    return std::make_unique<built_joined<row_id, executor>>(
        on, of_build, kind, std::move(found.rows), wants_unmatched(kind) ? rows : 0);
  });
}

}  // namespace raydex::cpu
