// SPDX-License-Identifier: Apache-2.0
// Generation, checking and the clock on the CPU; its floors are in floors_host.cpp,
// its side of minima in rmq_host.cpp.
#include "lab/machine/host_machine.hpp"

#include <tbb/parallel_sort.h>

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "lab/machine/parallel.hpp"

namespace raydex::bench {

void host_machine::fill_keys(const key_set& keys, const key_span& out) {
  with_width(out.bits, [&](auto zero) {
    using key = decltype(zero);
    auto* const column = out.as<key>();
    parallel_for(keys.n, [&](std::uint64_t slot) {
      column[keys.row(slot)] = static_cast<key>(keys.key_in(slot));
    });
  });
}

void host_machine::fill_positions(const key_set& keys, int key_bits, std::uint64_t* out) {
  with_width(key_bits, [&](auto zero) {
    using key = decltype(zero);
    std::vector<std::pair<key, std::uint64_t>> slots(keys.n);
    parallel_for(keys.n, [&](std::uint64_t slot) {
      slots[slot] = {static_cast<key>(keys.key_in(slot)), slot};
    });
    tbb::parallel_sort(slots);
    parallel_for(keys.n, [&](std::uint64_t row) { out[slots[row].second] = row; });
  });
}

void host_machine::fill_lower(const probe_set& probes, const key_span& out) {
  with_width(out.bits, [&](auto zero) {
    using key = decltype(zero);
    auto* const column = out.as<key>();
    parallel_for(out.size, [&](std::uint64_t j) { column[j] = static_cast<key>(probes.lower(j)); });
  });
}

void host_machine::fill_upper(const probe_set& probes, const key_span& lower, void* out) {
  with_width(lower.bits, [&](auto zero) {
    using key = decltype(zero);
    const auto* const from = lower.as<key>();
    auto* const to = static_cast<key*>(out);
    parallel_for(lower.size,
                 [&](std::uint64_t j) { to[j] = static_cast<key>(from[j] + probes.span(j)); });
  });
}

void host_machine::fill_random(std::uint64_t seed, std::uint32_t* out, std::uint64_t size) {
  parallel_for(size, [&](std::uint64_t j) {
    out[j] = static_cast<std::uint32_t>(random(seed, stream::floor, j) >> 32);
  });
}

void host_machine::sort(const key_span& keys) {
  with_width(keys.bits, [&](auto zero) {
    auto* const first = keys.as<decltype(zero)>();
    tbb::parallel_sort(first, first + keys.size);
  });
}

void host_machine::poison(void* memory, std::size_t bytes) {
  if (bytes != 0) std::memset(memory, 0xa5, bytes);
}

std::uint64_t host_machine::count_matches(const key_set& keys, const key_span& lower,
                                          const key_span& upper) {
  return parallel_sum(lower.size, [&](std::uint64_t i) {
    return keys.expected_count(number_at(lower.data, lower.bits, i),
                               number_at(upper.data, upper.bits, i));
  });
}

std::uint64_t host_machine::count_wrong(const key_set& keys, const answered_batch& batch) {
  return parallel_count(batch.size, [&](std::uint64_t i) { return !is_right(keys, batch, i); });
}

double host_machine::milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace raydex::bench
