// SPDX-License-Identifier: Apache-2.0
//
// Kernels as they are written for a GPU, run by the emulation: indexes, barriers, shared memory,
// warp operations, groups, atomics.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/emulation/launch_test.hpp"

namespace {

namespace cg = cooperative_groups;
using emulation_test::device_array;
using emulation_test::launch;

constexpr unsigned int full_mask = 0xFFFF'FFFF;

// Every test runs in ascending order and under a few seeds.
class kernels : public testing::TestWithParam<std::uint64_t> {
 protected:
  kernels() { emulation::set_schedule_seed(GetParam()); }
  ~kernels() override { emulation::set_schedule_seed(0); }
};

INSTANTIATE_TEST_SUITE_P(schedules, kernels, testing::Values(0, 1, 2, 3));

__global__ void __launch_bounds__(1024) write_places(uint3* threads, uint3* blocks) {
  const unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned int place = block * blockDim.x * blockDim.y * blockDim.z + rank;
  threads[place] = threadIdx;
  blocks[place] = blockIdx;
}

TEST_P(kernels, visit_every_place_once) {
  const dim3 grid(3, 2, 4);
  const dim3 block(5, 7, 3);
  const std::size_t threads = 24 * 105;
  const device_array<uint3> thread_places(threads);
  const device_array<uint3> block_places(threads);
  ASSERT_EQ(launch(grid, block, 0, write_places, thread_places.data(), block_places.data()),
            cudaSuccess);
  std::size_t place = 0;
  const auto thread = thread_places.read();
  const auto home = block_places.read();
  for (unsigned int b = 0; b < 24; ++b) {
    for (unsigned int t = 0; t < 105; ++t, ++place) {
      ASSERT_EQ(thread[place].x, t % 5);
      ASSERT_EQ(thread[place].y, t / 5 % 7);
      ASSERT_EQ(thread[place].z, t / 35);
      ASSERT_EQ(home[place].x, b % 3);
      ASSERT_EQ(home[place].y, b / 3 % 2);
      ASSERT_EQ(home[place].z, b / 6);
    }
  }
}

template <typename Value>
__global__ void reduce_blocks(const Value* __restrict__ values, unsigned int size, Value* sums) {
  __shared__ Value partial[1024];
  const unsigned int place = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = place < size ? __ldg(values + place) : Value{0};
  __syncthreads();
  unsigned int active = blockDim.x;
  while (active > 1) {
    const unsigned int half = (active + 1) / 2;
    if (threadIdx.x < active / 2) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
    active = half;
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

TEST_P(kernels, reduce_blocks_of_any_size) {
  std::vector<int> values(3000);
  std::iota(values.begin(), values.end(), -700);
  const auto size = static_cast<unsigned int>(values.size());
  const device_array<int> input(values);
  for (const unsigned int block : {1U, 2U, 31U, 32U, 33U, 100U, 257U, 1000U, 1023U, 1024U}) {
    const unsigned int blocks = (size + block - 1) / block;
    const device_array<int> sums(blocks);
    ASSERT_EQ(launch(blocks, block, 0, reduce_blocks<int>, input.data(), size, sums.data()),
              cudaSuccess);
    const auto result = sums.read();
    for (unsigned int b = 0; b < blocks; ++b) {
      const auto begin = values.begin() + b * block;
      const auto end = values.begin() + std::min((b + 1) * block, size);
      ASSERT_EQ(result[b], std::accumulate(begin, end, 0)) << block << " threads, block " << b;
    }
  }
}

__global__ void share_scalar(unsigned int* results) {
  __shared__ unsigned int leader;
  for (unsigned int round = 0; round < 3; ++round) {
    if (threadIdx.x == 10 * round) leader = 100 * blockIdx.x + threadIdx.x;
    __syncthreads();
    results[(blockIdx.x * blockDim.x + threadIdx.x) * 3 + round] = leader;
    __syncthreads();
  }
}

TEST_P(kernels, share_a_scalar) {
  const device_array<unsigned int> results(2 * 40 * 3);
  ASSERT_EQ(launch(2, 40, 0, share_scalar, results.data()), cudaSuccess);
  const auto values = results.read();
  for (unsigned int i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], i / 120 * 100 + i % 3 * 10);
  }
}

// Lanes of each warp below `active` scan among themselves; the others never come.
__global__ void scan_warps(unsigned long long* values, unsigned int active) {
  const unsigned int lane = threadIdx.x % warpSize;
  if (lane >= active) return;
  const unsigned int mask = full_mask >> (32 - active);
  unsigned long long sum = values[threadIdx.x];
#pragma unroll
  for (unsigned int delta = 1; delta < 32; delta *= 2) {
    const unsigned long long below = __shfl_up_sync(mask, sum, delta);
    if (lane >= delta) sum += below;
  }
  values[threadIdx.x] = sum;
}

TEST_P(kernels, scan_warps_with_partial_masks) {
  for (const unsigned int active : {1U, 2U, 7U, 16U, 31U, 32U}) {
    std::vector<unsigned long long> values(70);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (i + 1) << 33U;
    const device_array<unsigned long long> data(values);
    ASSERT_EQ(launch(1, 70, 0, scan_warps, data.data(), active), cudaSuccess);
    std::vector<unsigned long long> expected = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 32 != 0 && i % 32 < active) expected[i] += expected[i - 1];
    }
    EXPECT_EQ(data.read(), expected) << active;
  }
}

// Two halves of a warp go separate ways and meet again.
__global__ void shuffle_halves(unsigned int* results) {
  const unsigned int lane = threadIdx.x;
  unsigned int value = 0;
  if (lane % 2 == 0) {
    value = __reduce_add_sync(0x5555'5555, lane);
    value += __shfl_sync(0x5555'5555, lane, 4);
  } else {
    value = __reduce_max_sync(0xAAAA'AAAA, lane);
  }
  __syncwarp();
  results[lane] = __shfl_xor_sync(full_mask, value, 1);
}

TEST_P(kernels, run_halves_of_a_warp_apart) {
  const device_array<unsigned int> results(32);
  ASSERT_EQ(launch(1, 32, 0, shuffle_halves, results.data()), cudaSuccess);
  const auto values = results.read();
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(values[lane], lane % 2 == 0 ? 31U : 240U + 4U);
  }
}

struct shuffle_results {
  int direct, up, down, across;
  double wide;
  short narrow;
};

__global__ void shuffle_segments(shuffle_results* results) {
  const int lane = static_cast<int>(threadIdx.x);
  shuffle_results& own = results[lane];
  own.direct = __shfl_sync(full_mask, lane, 3, 8);
  own.up = __shfl_up_sync(full_mask, lane, 2, 8);
  own.down = __shfl_down_sync(full_mask, lane, 2, 8);
  own.across = __shfl_xor_sync(full_mask, lane, 9, 8);
  own.wide = __shfl_sync(full_mask, 0.5 * lane, 31);
  own.narrow = __shfl_sync(full_mask, static_cast<short>(-lane), lane + 1);
}

TEST_P(kernels, shuffle_within_segments) {
  const device_array<shuffle_results> results(32);
  ASSERT_EQ(launch(1, 32, 0, shuffle_segments, results.data()), cudaSuccess);
  const auto values = results.read();
  for (int lane = 0; lane < 32; ++lane) {
    const shuffle_results& own = values[static_cast<std::size_t>(lane)];
    EXPECT_EQ(own.direct, lane / 8 * 8 + 3);
    EXPECT_EQ(own.up, lane % 8 < 2 ? lane : lane - 2);
    EXPECT_EQ(own.down, lane % 8 >= 6 ? lane : lane + 2);
    // Lanes of later segments cannot be read, those of earlier ones can.
    EXPECT_EQ(own.across, (lane ^ 9) > (lane | 7) ? lane : lane ^ 9);
    EXPECT_EQ(own.wide, 15.5);
    EXPECT_EQ(own.narrow, -((lane + 1) % 32));
  }
}

__global__ void vote(unsigned int* ballots, int* votes) {
  const unsigned int lane = threadIdx.x % 32;
  const bool third = threadIdx.x % 3 == 0;
  ballots[threadIdx.x] = __ballot_sync(full_mask, third);
  unsigned int own = 0;
  own |= __any_sync(full_mask, lane == 5) != 0 ? 1U : 0U;
  own |= __all_sync(full_mask, lane < 32) != 0 ? 2U : 0U;
  own |= __all_sync(full_mask, lane != 5) != 0 ? 4U : 0U;
  own |= __any_sync(full_mask, lane == 40) != 0 ? 8U : 0U;
  own |= __match_any_sync(full_mask, lane / 4) == 0xFU << (lane / 4 * 4) ? 16U : 0U;
  own |= __reduce_min_sync(full_mask, static_cast<int>(lane) - 9) == -9 ? 32U : 0U;
  own |= (__activemask() >> lane & 1U) != 0 ? 64U : 0U;
  const int count = __syncthreads_count(third);
  const int any = __syncthreads_or(threadIdx.x == 63);
  const int all = __syncthreads_and(threadIdx.x != 63);
  votes[threadIdx.x] = count * 1000 + any * 200 + all * 100 + static_cast<int>(own);
}

TEST_P(kernels, vote) {
  const device_array<unsigned int> ballots(64);
  const device_array<int> votes(64);
  ASSERT_EQ(launch(1, 64, 0, vote, ballots.data(), votes.data()), cudaSuccess);
  const auto ballot = ballots.read();
  for (std::size_t thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(ballot[thread], thread < 32 ? 0x4924'9249U : 0x9249'2492U);
  }
  EXPECT_EQ(votes.read(), std::vector<int>(64, 22 * 1000 + 200 + 1 + 2 + 16 + 32 + 64));
}

// The last warp has fewer lanes than a full mask names.
__global__ void vote_in_odd_block(unsigned int* ballots) {
  ballots[threadIdx.x] = __ballot_sync(full_mask, 1);
}

TEST_P(kernels, vote_with_fewer_lanes_than_the_mask_names) {
  const device_array<unsigned int> ballots(35);
  ASSERT_EQ(launch(1, 35, 0, vote_in_odd_block, ballots.data()), cudaSuccess);
  std::vector<unsigned int> expected(32, full_mask);
  expected.resize(35, 7U);
  EXPECT_EQ(ballots.read(), expected);
}

// Threads that return while others wait for them are waited for no longer.
__global__ void leave_early(int* results) {
  const unsigned int lane = threadIdx.x % 32;
  if (lane >= 20) {
    __syncwarp(full_mask << 20U);
    return;
  }
  const unsigned int stayed = __ballot_sync(full_mask, 1);
  results[threadIdx.x] = __syncthreads_count(1) + static_cast<int>(stayed == 0xF'FFFFU);
}

TEST_P(kernels, do_not_wait_for_threads_that_returned) {
  const device_array<int> results(std::vector<int>(128, 0));
  ASSERT_EQ(launch(1, 128, 0, leave_early, results.data()), cudaSuccess);
  const auto values = results.read();
  for (std::size_t thread = 0; thread < 128; ++thread) {
    EXPECT_EQ(values[thread], thread % 32 < 20 ? 81 : 0);
  }
}

struct running_totals {
  int sum, least, most, difference;
  unsigned int bits, mask, flips, ring, tickets;
  unsigned long long wide, smallest;
  float real;
  double precise;
};

__global__ void update_totals(running_totals* totals, unsigned int* order) {
  const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = static_cast<int>(thread);
  atomicAdd(&totals->sum, value);
  atomicMin(&totals->least, -value);
  atomicMax(&totals->most, value);
  atomicSub(&totals->difference, 2);
  atomicOr(&totals->bits, 1U << (thread % 32));
  atomicAnd(&totals->mask, ~(1U << (thread % 8)));
  atomicXor(&totals->flips, thread);
  atomicInc(&totals->ring, 6);
  atomicAdd(&totals->wide, 1ULL << 33U);
  atomicMin(&totals->smallest, static_cast<unsigned long long>(thread) + 5);
  atomicAdd(&totals->real, 0.5F);
  // An addition made from compare-and-swap.
  auto seen = static_cast<unsigned long long>(__double_as_longlong(totals->precise));
  unsigned long long expected = 0;
  do {
    expected = seen;
    const double next = __longlong_as_double(static_cast<long long>(expected)) + 0.25;
    seen = atomicCAS(reinterpret_cast<unsigned long long*>(&totals->precise), expected,
                     static_cast<unsigned long long>(__double_as_longlong(next)));
  } while (seen != expected);
  order[atomicAdd(&totals->tickets, 1U)] = thread;
}

TEST_P(kernels, update_atomically) {
  running_totals start{};
  start.mask = full_mask;
  start.smallest = ~0ULL;
  const device_array<running_totals> totals(std::vector<running_totals>{start});
  const device_array<unsigned int> order(1000);
  ASSERT_EQ(launch(10, 100, 0, update_totals, totals.data(), order.data()), cudaSuccess);
  const running_totals end = totals.read()[0];
  EXPECT_EQ(end.sum, 499500);
  EXPECT_EQ(end.least, -999);
  EXPECT_EQ(end.most, 999);
  EXPECT_EQ(end.difference, -2000);
  EXPECT_EQ(end.bits, full_mask);
  EXPECT_EQ(end.mask, 0xFFFF'FF00U);
  EXPECT_EQ(end.flips, 0U);
  EXPECT_EQ(end.ring, 1000U % 7);
  EXPECT_EQ(end.wide, 1000ULL << 33U);
  EXPECT_EQ(end.smallest, 5U);
  EXPECT_EQ(end.real, 500.0F);
  EXPECT_EQ(end.precise, 250.0);
  const auto threads = order.read();
  EXPECT_EQ(std::set<unsigned int>(threads.begin(), threads.end()).size(), 1000U);
  EXPECT_EQ(std::is_sorted(threads.begin(), threads.end()), GetParam() == 0);
}

// An increment that is not atomic around an atomic: a race.
__global__ void race(unsigned int* count, unsigned int* unrelated) {
  const unsigned int seen = *count;
  atomicAdd(unrelated, 1U);
  *count = seen + 1;
}

TEST_P(kernels, show_races_under_a_seed) {
  const device_array<unsigned int> counts(std::vector<unsigned int>{0, 0});
  ASSERT_EQ(launch(1, 256, 0, race, counts.data(), counts.data() + 1), cudaSuccess);
  const auto values = counts.read();
  EXPECT_EQ(values[1], 256U);
  EXPECT_EQ(values[0] == 256U, GetParam() == 0);
}

__global__ void lock_and_count(unsigned int* lock, unsigned int* count) {
  while (atomicCAS(lock, 0U, 1U) != 0U)
    __nanosleep(100);
  const unsigned int seen = *count;
  __nanosleep(100);
  *count = seen + 1;
  __threadfence();
  atomicExch(lock, 0U);
}

TEST_P(kernels, wait_for_a_lock_asleep) {
  const device_array<unsigned int> words(std::vector<unsigned int>{0, 0});
  ASSERT_EQ(launch(2, 50, 0, lock_and_count, words.data(), words.data() + 1), cudaSuccess);
  EXPECT_EQ(words.read(), (std::vector<unsigned int>{0, 100}));
}

__global__ void reverse(int* values) {
  auto* const staged = static_cast<int*>(emulation::dynamic_shared_memory());
  staged[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

TEST_P(kernels, reverse_in_dynamic_shared_memory) {
  std::vector<int> values(333);
  std::iota(values.begin(), values.end(), 0);
  const device_array<int> data(values);
  ASSERT_EQ(launch(1, 333, 333 * sizeof(int), reverse, data.data()), cudaSuccess);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(data.read(), values);
}

template <unsigned int Size>
__global__ void look_at_unwritten(unsigned int* results) {
  __shared__ unsigned int fixed[Size];
  auto* const dynamic = static_cast<unsigned int*>(emulation::dynamic_shared_memory());
  results[2 * blockIdx.x] = fixed[Size - 1];
  results[2 * blockIdx.x + 1] = dynamic[0];
  fixed[Size - 1] = dynamic[0] = 1;
}

TEST_P(kernels, find_shared_memory_spoiled_in_each_block) {
  const device_array<unsigned int> results(8);
  ASSERT_EQ(launch(4, 1, 4, look_at_unwritten<3>, results.data()), cudaSuccess);
  EXPECT_EQ(results.read(), std::vector<unsigned int>(8, 0xA5A5'A5A5U));
  ASSERT_EQ(launch(4, 1, 4, look_at_unwritten<5>, results.data()), cudaSuccess);
  EXPECT_EQ(results.read(), std::vector<unsigned int>(8, 0xA5A5'A5A5U));
}

struct three_words {
  unsigned long long a, b, c;
};

template <unsigned int Size>
__global__ void use_tiles(unsigned int* results) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<Size>(block);
  const unsigned int rank = tile.thread_rank();
  unsigned int sum = block.thread_rank();
  for (unsigned int step = tile.size() / 2; step > 0; step /= 2)
    sum += tile.shfl_xor(sum, step);
  const three_words wide =
      tile.shfl(three_words{rank, 2 * rank, 3 * rank}, static_cast<int>(Size) - 1);
  const unsigned int odd = tile.ballot(rank % 2 == 1);
  unsigned int below = tile.shfl_up(rank, 1);
  if (rank == 0) below = Size;
  tile.sync();
  cg::sync(block);
  const unsigned int first = block.thread_rank() / Size * Size;
  const bool right = sum == Size * first + Size * (Size - 1) / 2 && wide.a == Size - 1 &&
                     wide.b == 2 * (Size - 1) && wide.c == 3 * (Size - 1) &&
                     odd == (0xAAAA'AAAAU & (full_mask >> (32 - Size))) &&
                     below == (rank == 0 ? Size : rank - 1) &&
                     tile.meta_group_rank() == block.thread_rank() / Size &&
                     tile.meta_group_size() == block.size() / Size && tile.any(rank == 0) != 0 &&
                     (tile.all(rank == 0) != 0) == (Size == 1) &&
                     tile.match_any(rank) == 1U << rank;
  results[block.thread_rank()] = right ? 1 : 0;
}

template <unsigned int Size>
void check_tiles() {
  const device_array<unsigned int> results(96);
  ASSERT_EQ(launch(1, dim3(8, 12), 0, use_tiles<Size>, results.data()), cudaSuccess);
  EXPECT_EQ(results.read(), std::vector<unsigned int>(96, 1U)) << Size;
}

TEST_P(kernels, use_tiles) {
  check_tiles<1>();
  check_tiles<2>();
  check_tiles<4>();
  check_tiles<8>();
  check_tiles<16>();
  check_tiles<32>();
}

// The text of what run(...) throws.
template <typename Run>
std::string complaint_of(Run run) {
  try {
    run();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

__global__ void miss_barrier(unsigned int absentee) {
  if (threadIdx.x == absentee) {
    __ballot_sync(1U << (absentee % 32) | 1U, 1);
  } else {
    __syncthreads();
  }
}

TEST_P(kernels, report_a_deadlock) {
  const std::string complaint =
      complaint_of([] { static_cast<void>(launch(1, 64, 0, miss_barrier, 7U)); });
  EXPECT_EQ(complaint,
            "emulated block (0,0,0): deadlock: thread (0,0,0) and 62 more at __syncthreads; thread "
            "(7,0,0) at __ballot_sync of warp 0 with mask 0x81 (not arrived: lanes 0x1)");
}

__device__ void meet_in_part() noexcept {
  __syncwarp(threadIdx.x == 0 ? 0x3U : 0x7U);
}

__global__ void mix_masks() {
  meet_in_part();
}

TEST_P(kernels, report_masks_that_differ) {
  EXPECT_EQ(complaint_of([] { static_cast<void>(launch(1, 3, 0, mix_masks)); }),
            "emulated block (0,0,0): deadlock: thread (0,0,0) at __syncwarp of warp 0 with mask "
            "0x3; thread (1,0,0) and 1 more at __syncwarp of warp 0 with mask 0x7");
}

__global__ void forget_itself() {
  __syncwarp(0x2U);
}

TEST_P(kernels, report_a_mask_without_its_own_lane) {
  EXPECT_EQ(complaint_of([] { static_cast<void>(launch(1, 1, 0, forget_itself)); }),
            "emulated block (0,0,0): the lane of thread (0,0,0) is not in its own mask: "
            "__syncwarp of warp 0 with mask 0x2");
}

__global__ void throw_late() {
  __syncthreads();
  if (threadIdx.x == 5) throw std::out_of_range("thread five");
  __syncthreads();
}

TEST_P(kernels, hand_exceptions_to_the_launcher) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(static_cast<void>(launch(2, 40, 0, throw_late)), std::out_of_range);
  }
  // And the next launch is none the worse for it.
  const device_array<unsigned int> ballots(35);
  EXPECT_EQ(launch(1, 35, 0, vote_in_odd_block, ballots.data()), cudaSuccess);
}

__device__ void wait_below(int depth) {
  volatile unsigned char ballast[4096];
  ballast[0] = 1;
  ballast[4095] = ballast[0];
  if (depth > 0) wait_below(depth - 1);
  __syncthreads();
}

__global__ void wait_deep(int depth) {
  wait_below(depth);
}

TEST_P(kernels, wait_in_deep_calls) {
  EXPECT_EQ(launch(1, 64, 0, wait_deep, 10), cudaSuccess);
}

TEST(intrinsics, are_those_of_cuda) {
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__popcll(~0ULL), 64);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(1LL << 40), 41);
  EXPECT_EQ(__brev(1U), 0x8000'0000U);
  EXPECT_EQ(__brevll(2ULL), 1ULL << 62);
  EXPECT_EQ(__umulhi(~0U, ~0U), 0xFFFF'FFFEU);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(~0ULL, ~0ULL), ~0ULL - 1);
  EXPECT_EQ(__mul64hi(-1, 1), -1);
  EXPECT_EQ(__funnelshift_l(0x8000'0000U, 1U, 1), 3U);
  EXPECT_EQ(__funnelshift_r(0x8000'0000U, 1U, 1), 0xC000'0000U);
  EXPECT_EQ(__float_as_uint(1.0F), 0x3F80'0000U);
  EXPECT_EQ(__uint_as_float(0x3F80'0000U), 1.0F);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(0.1)), 0.1);
  EXPECT_EQ(__dadd_rn(1.0, 2.0), 3.0);
  EXPECT_EQ(__fmul_rn(1.5F, 2.0F), 3.0F);
  EXPECT_EQ(min(3U, 4U), 3U);
  EXPECT_EQ(max(1.0F, NAN), 1.0F);
  EXPECT_EQ(alignof(uint4), 16U);
  EXPECT_EQ(alignof(ulonglong2), 16U);
  EXPECT_EQ(alignof(uint2), 8U);
  EXPECT_EQ(sizeof(uint3), 12U);
  uint4 target{};
  __stcs(&target, make_uint4(1, 2, 3, 4));
  EXPECT_EQ(__ldcs(&target).w, 4U);
}

}  // namespace
