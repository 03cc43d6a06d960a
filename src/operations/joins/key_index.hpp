// SPDX-License-Identifier: Apache-2.0
// An index over a key of any columns, and probes of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raydex/core/joins/key_cells.hpp"
#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/lookups/spread_counts.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Rows of different keys had equal hashes, whichever was tried.
[[noreturn]] inline void refuse_hashes(unsigned tried) {
  throw unsupported("keys: rows of different keys have equal hashes of 64 bits, by each of " +
                    std::to_string(tried) + " hashes; give each key a number of its own");
}

// A column that was made of others.
struct made_column {
  buffer<std::uint32_t> narrow;
  buffer<std::uint64_t> wide;
  buffer<std::uint8_t> validity;

  column view() const {
    return wide.size() != 0 ? column(wide, validity.data()) : column(narrow, validity.data());
  }
};

// Which keys have all their values; nothing where all have.
template <executor Executor>
buffer<std::uint8_t> validity_of(const context& on, const core::composite_cells& keys,
                                 std::uint64_t size) {
  const auto some_missing = [](const core::key_cells& part) {
    return part.fixed.validity != nullptr;
  };
  if (keys.missing_equal || std::none_of(keys.parts, keys.parts + keys.count, some_missing))
    return {};
  buffer<std::uint8_t> bits(on, (size + 7) / 8);
  Executor::for_each(on, core::put_validity{keys, size, bits.data()}, bits.size());
  return bits;
}

// The columns of a key side by side, which have at most 64 bits.
template <executor Executor>
made_column packed(const context& on, const core::composite_cells& keys, std::uint64_t size) {
  made_column made;
  if (keys.bits() <= 32) {
    made.narrow = {on, size};
    Executor::for_each(on, core::put_packed_keys<std::uint32_t>{keys, made.narrow.data()}, size);
  } else {
    made.wide = {on, size};
    Executor::for_each(on, core::put_packed_keys<std::uint64_t>{keys, made.wide.data()}, size);
  }
  made.validity = validity_of<Executor>(on, keys, size);
  return made;
}

// How keys of these columns are compared.
inline key_comparison comparison_of(const core::composite_cells& keys) {
  if (keys.bits() > 64) return key_comparison::hashed;
  return keys.count == 1 && !keys.missing_equal ? key_comparison::column : key_comparison::packed;
}

// Hashes of the columns of a key.
template <executor Executor>
made_column hashed(const context& on, const core::composite_cells& keys,
                   const core::hash_function<std::uint64_t>& mix, std::uint64_t size) {
  made_column made;
  made.wide = {on, size};
  Executor::for_each(on, core::put_key_hashes{keys, mix, made.wide.data()}, size);
  made.validity = validity_of<Executor>(on, keys, size);
  return made;
}

// Calls f(hash) with one hash after the other, until it says that this one tells all keys apart.
template <class F>
void try_hashes(std::uint64_t seed, const F& f) {
  constexpr unsigned most = 8;
  for (unsigned tried = 0; tried < most; ++tried) {
    const auto mix = core::hash_by<std::uint64_t>(seed);
    seed = mix(seed + 1);
    if (f(mix)) return;
  }
  refuse_hashes(most);
}

template <executor Executor>
class key_index {
 public:
  // Over the columns of a key, which outlive it where they are hashed.
  key_index(const context& on, const key_parts& keys, const join_options& options,
            const index_maker& make)
      : keys_(composite_of(keys, options.missing_equal)), comparison_(comparison_of(keys_)) {
    const std::uint64_t size = size_of(keys);
    switch (comparison_) {
      case key_comparison::column:
        own_ = make(on, std::get<column>(keys.front()));
        break;
      case key_comparison::packed:
        own_ = make(on, packed<Executor>(on, keys_, size).view());
        break;
      case key_comparison::hashed:
        build_hashed(on, size, options.seed ? *options.seed : random_seed(), make);
        break;
    }
    index_ = own_.get();
  }
  // Over a column that is indexed already.
  explicit key_index(const index& over) : index_(&over) { keys_.count = 1; }

  const index& get() const { return *index_; }
  located_index located() const { return located_index(*index_); }
  key_comparison how() const { return comparison_; }
  // Whether keys are not found as they are.
  bool turns_keys() const { return comparison_ != key_comparison::column; }

  // The probes for keys, which lie in `made` where they are turned into others.
  probes points_of(const context& on, const key_parts& keys, made_column& made) const {
    if (!turns_keys()) return points(std::get<column>(keys.front()));
    const core::composite_cells cells = composite_of(keys, keys_.missing_equal);
    const std::uint64_t size = size_of(keys);
    made = comparison_ == key_comparison::packed ? packed<Executor>(on, cells, size)
                                                 : hashed<Executor>(on, cells, mix_, size);
    return points(made.view());
  }

  // Takes back what was found of other keys with the same hash. `counts`, `list` as of
  // `core::located_probes`.
  template <class RowId>
  void drop_different(const context& on, const key_parts& keys, RowId* begins, RowId* counts,
                      const void* list) const {
    if (comparison_ != key_comparison::hashed) return;
    Executor::for_each(
        on,
        core::drop_different_keys<RowId>{composite_of(keys, keys_.missing_equal), keys_, begins,
                                         counts, static_cast<const RowId*>(list)},
        size_of(keys));
  }

 private:
  // Builds with the first hash that tells all keys apart.
  void build_hashed(const context& on, std::uint64_t size, std::uint64_t seed,
                    const index_maker& make) {
    try_hashes(seed, [&](const core::hash_function<std::uint64_t>& mix) {
      mix_ = mix;
      const made_column made = hashed<Executor>(on, keys_, mix, size);
      own_ = make(on, made.view());
      return !confuses_keys(on, made);
    });
  }

  bool confuses_keys(const context& on, const made_column& made) const {
    const std::uint64_t size = made.wide.size();
    return with_row_id(own_->info().row_ids, [&](auto zero) {
      using row_id = decltype(zero);
      buffer<row_id> firsts(on, size);
      located_index(*own_).first(on, points(made.view()), firsts.data());
      spread_counts<1, Executor> different(on);
      Executor::for_each(on, core::count_different_keys<row_id>{keys_, firsts.data(), different[0]},
                         size);
      return different.sums(on)[0] != 0;
    });
  }

  core::composite_cells keys_;
  key_comparison comparison_ = key_comparison::column;
  core::hash_function<std::uint64_t> mix_;
  std::unique_ptr<index> own_;  // null: somebody else's
  const index* index_ = nullptr;
};

}  // namespace raydex
