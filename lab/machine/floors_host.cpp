// SPDX-License-Identifier: Apache-2.0
// The raw operations of the CPU's floors, and the standard library's search for comparison.
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstring>
#include <execution>
#include <vector>

#include "lab/machine/host_machine.hpp"
#include "lab/machine/median.hpp"
#include "lab/machine/parallel.hpp"

namespace raydex::bench {
namespace {

template <class Key, class RowId>
struct pair {
  Key key;
  RowId row;
  bool operator<(const pair& other) const { return key < other.key; }
};

}  // namespace

void host_machine::copy(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t block = std::size_t{1} << 20;
  tbb::parallel_for(std::size_t{0}, (bytes + block - 1) / block, [&](std::size_t i) {
    std::memcpy(static_cast<std::byte*>(to) + i * block,
                static_cast<const std::byte*>(from) + i * block,
                std::min(block, bytes - i * block));
  });
}

void host_machine::gather(const std::uint64_t* table, std::uint64_t slots,
                          const std::uint32_t* probes, std::uint32_t* out, std::uint64_t size) {
  parallel_for(size, [=](std::uint64_t i) {
    out[i] = static_cast<std::uint32_t>(table[scale(std::uint64_t{probes[i]} << 32, slots)]);
  });
}

double host_machine::sort_pairs_ms(const key_span& keys, row_id_type row_ids, int repetitions) {
  return with_width(keys.bits, [&](auto key_zero) {
    return with_width(row_ids == row_id_type::uint32 ? 32 : 64, [&](auto row_zero) {
      using key = decltype(key_zero);
      using row_id = decltype(row_zero);
      std::vector<pair<key, row_id>> pairs(keys.size);
      const auto* const from = keys.as<key>();
      return median_of(repetitions, [&] {
        parallel_for(keys.size, [&](std::uint64_t i) {
          pairs[i] = {from[i], static_cast<row_id>(i)};
        });
        return milliseconds([&] { std::sort(std::execution::par, pairs.begin(), pairs.end()); });
      });
    });
  });
}

std::optional<double> host_machine::lower_bound_ms(const key_span& keys, const key_span& probes,
                                                   int repetitions) {
  return with_width(keys.bits, [&](auto zero) {
    using key = decltype(zero);
    std::vector<key> sorted(keys.as<key>(), keys.as<key>() + keys.size);
    tbb::parallel_sort(sorted);
    const key* const first = sorted.data();
    const key* const wanted = probes.as<key>();
    std::vector<std::uint32_t> out(probes.size);
    return median_of(repetitions, [&] {
      return milliseconds([&] {
        std::transform(
            std::execution::par, wanted, wanted + probes.size, out.begin(),
            [first, last = first + keys.size](key probe) {
              return static_cast<std::uint32_t>(std::lower_bound(first, last, probe) - first);
            });
      });
    });
  });
}

}  // namespace raydex::bench
