// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/search_sorted.hpp"

#include <limits>

#include "src/cuda/lookups/run.cuh"

namespace raydex::cuda {

namespace {

// A thread a search: with few registers for each, more reads are under way than with several
// searches a thread.
template <class Key, class Rank>
struct rank_any {
  core::sorted_keys_view<Key, Rank> in;
  core::encoded_column<Key> wanted;
  bool past;
  std::uint64_t* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto from = static_cast<Key>(wanted[i] + (past ? 1 : 0));
    std::uint64_t rank = in.locate(from).rank;
    if (past && from == 0) rank = in.size();  // nothing is above the last key
    out[i] = wanted.valid(i) ? rank : std::numeric_limits<std::uint64_t>::max();
  }
};

// The same for numbers side by side, none missing: their type and distance are not looked at in
// each step.
template <class Number, class Rank>
struct rank_number {
  const Number* sorted;
  Rank size;
  const Number* wanted;
  bool past;
  std::uint64_t* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto code = encode(core::load_once(wanted + i));
    using key = std::remove_const_t<decltype(code)>;
    const key from[1] = {static_cast<key>(code + (past ? 1 : 0))};
    Rank rank[1];
    core::lower_bounds([this](Rank at) { return encode(core::load(sorted + at)); }, size, from,
                       rank);
    out[i] = past && from[0] == 0 ? size : rank[0];
  }
};

template <class Rank>
void search(const context& on, const column& sorted, const column& wanted, bool past,
            std::uint64_t* out) {
  const auto size = static_cast<Rank>(sorted.size);
  const auto as_any = [&]<class Key>(Key /*of*/) {
    const core::sorted_keys_view<Key, Rank> in(cells_of(sorted), size);
    executor::for_each_alone(on, rank_any<Key, Rank>{in, {cells_of(wanted)}, past, out},
                             wanted.size);
  };
  const auto as = [&]<class Number>(Number /*of*/) {
    executor::for_each_alone(
        on,
        rank_number<Number, Rank>{static_cast<const Number*>(sorted.data), size,
                                  static_cast<const Number*>(wanted.data), past, out},
        wanted.size);
  };
  const key_format format = sorted.format;
  if (format.type == key_type::bytes || wanted.validity != nullptr ||
      sorted.step() != format.width || wanted.step() != format.width) {
    return format.encoded_bits() == 32 ? as_any(std::uint32_t{}) : as_any(std::uint64_t{});
  }
  switch (format.type) {
    case key_type::uint32:
      return as(std::uint32_t{});
    case key_type::int32:
      return as(std::int32_t{});
    case key_type::float32:
      return as(float{});
    case key_type::uint64:
      return as(std::uint64_t{});
    case key_type::int64:
      return as(std::int64_t{});
    default:
      return as(double{});
  }
}

}  // namespace

void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  if (sorted.size < not_found<std::uint32_t>) {
    search<std::uint32_t>(on, sorted, wanted, past, out);
  } else {
    search<std::uint64_t>(on, sorted, wanted, past, out);
  }
}

void search_by_tree(const context& on, const column& sorted, const column& wanted, bool past,
                    std::uint64_t* out) {
  raydex::search_by_tree<executor>(on, sorted, wanted, past, out);
}

}  // namespace raydex::cuda
