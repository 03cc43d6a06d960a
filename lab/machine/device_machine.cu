// SPDX-License-Identifier: Apache-2.0
// Generation, checking and the clock on a CUDA device; its floors are in floors_device.cu, its
// side of minima in rmq_device.cu.
#include "lab/machine/device_machine.hpp"

#include "lab/machine/for_each.cuh"
#include "lab/machine/sort_device.hpp"
#include "src/machines/cuda/check.hpp"

namespace raydex::bench {
namespace {

template <class Key>
struct write_key {
  key_set keys;
  Key* out;
  RAYDEX_HD void operator()(std::uint64_t slot) const {
    out[keys.row(slot)] = static_cast<Key>(keys.key_in(slot));
  }
};

template <class Key>
struct write_slot {
  key_set keys;
  Key* out;
  std::uint64_t* slots;
  RAYDEX_HD void operator()(std::uint64_t slot) const {
    out[slot] = static_cast<Key>(keys.key_in(slot));
    slots[slot] = slot;
  }
};

struct write_position {
  const std::uint64_t* slots;
  std::uint64_t* out;
  RAYDEX_HD void operator()(std::uint64_t row) const { out[slots[row]] = row; }
};

template <class Key>
struct write_lower {
  probe_set probes;
  Key* out;
  RAYDEX_HD void operator()(std::uint64_t j) const { out[j] = static_cast<Key>(probes.lower(j)); }
};

template <class Key>
struct write_upper {
  probe_set probes;
  const Key* lower;
  Key* out;
  RAYDEX_HD void operator()(std::uint64_t j) const {
    out[j] = lower[j] + static_cast<Key>(probes.span(j));
  }
};

struct write_random {
  std::uint64_t seed;
  std::uint32_t* out;
  RAYDEX_HD void operator()(std::uint64_t j) const {
    out[j] = static_cast<std::uint32_t>(random(seed, stream::floor, j) >> 32);
  }
};

static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));  // what atomicAdd takes

__global__ void __launch_bounds__(block_threads)
    count_matches_kernel(key_set keys, key_span lower, key_span upper, unsigned long long* sum) {
  const std::uint64_t i = cuda::global_thread();
  if (i < lower.size) {
    atomicAdd(sum, keys.expected_count(number_at(lower.data, lower.bits, i),
                                       number_at(upper.data, upper.bits, i)));
  }
}

// An answer that the threads of a block put together.
struct shared_answer {
  unsigned long long first;
  unsigned long long count;
  unsigned long long sum;

  __device__ void clear() {
    first = none;
    count = sum = 0;
  }
  __device__ void add(const answer& part) {
    atomicMin(&first, static_cast<unsigned long long>(part.first));
    atomicAdd(&count, static_cast<unsigned long long>(part.count));
    atomicAdd(&sum, static_cast<unsigned long long>(part.sum));
  }
  __device__ answer get() const {
    answer all;
    all.first = first;
    all.count = count;
    all.sum = sum;
    return all;
  }
};

// A probe with more rows than this is judged by a block: alone, a thread would walk for seconds.
constexpr std::uint64_t long_walk = 4096;

__global__ void __launch_bounds__(block_threads)
    count_wrong_kernel(key_set keys, answered_batch batch, unsigned long long* wrong) {
  __shared__ unsigned long_ones[block_threads];
  __shared__ unsigned long_count;
  __shared__ shared_answer wanted;
  __shared__ shared_answer found;
  if (threadIdx.x == 0) long_count = 0;
  __syncthreads();
  const std::uint64_t i = cuda::global_thread();
  if (i < batch.size) {
    const bool walks = batch.kind != result::count && batch.kind != result::rank;
    if (walks && count_for(keys, batch, i) > long_walk) {
      long_ones[atomicAdd(&long_count, 1u)] = threadIdx.x;
    } else if (!is_right(keys, batch, i)) {
      atomicAdd(wrong, 1ull);
    }
  }
  __syncthreads();
  for (unsigned at = 0; at < long_count; ++at) {
    const std::uint64_t one = i - threadIdx.x + long_ones[at];
    const bool has_list =
        has_lists(batch.kind) && has_rows(batch, one, count_for(keys, batch, one));
    if (threadIdx.x == 0) {
      wanted.clear();
      found.clear();
    }
    __syncthreads();
    wanted.add(answer_for(keys, batch, one, threadIdx.x, block_threads));
    if (has_list) found.add(written_for(batch, one, threadIdx.x, block_threads));
    __syncthreads();
    if (threadIdx.x == 0) {
      const bool right = has_lists(batch.kind) ? has_list && found.get() == wanted.get()
                                               : has_value(batch, one, wanted.get());
      if (!right) atomicAdd(wrong, 1ull);
    }
  }
}

// Frees its event whatever happens.
class event {
 public:
  event() { cuda::check(cudaEventCreate(&event_), "cudaEventCreate"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { cudaEventDestroy(event_); }
  void record(stream_t stream) { cuda::check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  float since(const event& start) const {
    cuda::check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

void device_machine::fill_keys(const key_set& keys, const key_span& out) {
  with_width(out.bits, [&](auto zero) {
    using key = decltype(zero);
    for_each(on(), keys.n, write_key<key>{keys, out.as<key>()});
  });
}

void device_machine::fill_positions(const key_set& keys, int key_bits, std::uint64_t* out) {
  const context memory = on();
  buffer<std::uint64_t> sorted_slots(memory, keys.n);
  {
    buffer<std::byte> column(memory, keys.n * static_cast<std::uint64_t>(key_bits / 8));
    buffer<std::byte> sorted_column(memory, column.size());
    buffer<std::uint64_t> slots(memory, keys.n);
    with_width(key_bits, [&](auto zero) {
      using key = decltype(zero);
      for_each(memory, keys.n,
               write_slot<key>{keys, reinterpret_cast<key*>(column.data()), slots.data()});
    });
    const key_span unsorted{column.data(), keys.n, key_bits};
    const key_span numbers{slots.data(), keys.n, 64};
    auto* const to = sorted_slots.data();
    std::size_t bytes = 0;
    sort_pairs(nullptr, bytes, unsorted, sorted_column.data(), numbers, to, memory.stream);
    buffer<std::byte> scratch(memory, bytes);
    sort_pairs(scratch.data(), bytes, unsorted, sorted_column.data(), numbers, to, memory.stream);
  }
  for_each(memory, keys.n, write_position{sorted_slots.data(), out});
  on().synchronize();
}

void device_machine::fill_lower(const probe_set& probes, const key_span& out) {
  with_width(out.bits, [&](auto zero) {
    using key = decltype(zero);
    for_each(on(), out.size, write_lower<key>{probes, out.as<key>()});
  });
}

void device_machine::fill_upper(const probe_set& probes, const key_span& lower, void* out) {
  with_width(lower.bits, [&](auto zero) {
    using key = decltype(zero);
    for_each(on(), lower.size, write_upper<key>{probes, lower.as<key>(), static_cast<key*>(out)});
  });
}

void device_machine::fill_random(std::uint64_t seed, std::uint32_t* out, std::uint64_t size) {
  for_each(on(), size, write_random{seed, out});
}

void device_machine::sort(const key_span& keys) {
  if (keys.size == 0) return;
  const context memory = on();
  buffer<std::byte> sorted(memory, keys.size * static_cast<std::uint64_t>(keys.bits / 8));
  std::size_t bytes = 0;
  sort_keys(nullptr, bytes, keys, sorted.data(), memory.stream);
  buffer<std::byte> scratch(memory, bytes);
  sort_keys(scratch.data(), bytes, keys, sorted.data(), memory.stream);
  copy(keys.data, sorted.data(), sorted.size());
  on().synchronize();
}

void device_machine::poison(void* memory, std::size_t bytes) {
  const context work = on();
  if (bytes != 0) {
    cuda::check(cudaMemsetAsync(memory, 0xa5, bytes, work.stream), "cudaMemsetAsync");
  }
}

std::uint64_t device_machine::count_matches(const key_set& keys, const key_span& lower,
                                            const key_span& upper) {
  const context memory = on();
  const std::uint64_t zero = 0;
  buffer<std::uint64_t> sum = on().upload(std::span(&zero, 1));
  cuda::launch(memory.stream, cuda::blocks_for(lower.size, block_threads), block_threads, 0,
               count_matches_kernel, keys, lower, upper,
               reinterpret_cast<unsigned long long*>(sum.data()));
  return on().download(sum).front();
}

std::uint64_t device_machine::count_wrong(const key_set& keys, const answered_batch& batch) {
  const context memory = on();
  const std::uint64_t zero = 0;
  buffer<std::uint64_t> wrong = on().upload(std::span(&zero, 1));
  cuda::launch(memory.stream, cuda::blocks_for(batch.size, block_threads), block_threads, 0,
               count_wrong_kernel, keys, batch,
               reinterpret_cast<unsigned long long*>(wrong.data()));
  return on().download(wrong).front();
}

double device_machine::milliseconds(const std::function<void()>& work) {
  const context timed = on();
  event start;
  event end;
  start.record(timed.stream);
  work();
  end.record(timed.stream);
  return static_cast<double>(end.since(start));
}

}  // namespace raydex::bench
