// SPDX-License-Identifier: Apache-2.0
//
// The engine that runs a grid: one block after another, each block's threads on fibers of one host
// thread. A fiber runs thread after thread until one has to wait; only then does another fiber go
// on. So threads that never wait cost no switch.
#include "emulation/fibers.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulation/control.hpp"
#include "tests/emulation/context.hpp"
#include "tests/emulation/static_shared.hpp"

namespace emulation::detail {
namespace {

struct fiber_slot {
  explicit fiber_slot(void (*entry)()) : context(entry) {}

  stack_context context;
};

enum class thread_phase { unstarted, running, ready, at_warp, at_block, returned };

struct thread_record {
  thread_phase state = thread_phase::unstarted;
  fiber_slot* fiber = nullptr;
  uint3 index{};
  unsigned int rank = 0;
  const warp_meeting* warp_operation = nullptr;
  std::uint32_t mask = 0;
  const block_meeting* block_operation = nullptr;
};

struct warp_record {
  std::uint32_t live = 0;
  std::uint32_t waiting = 0;
};

struct shared_deleter {
  void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{16}); }
};

std::string describe(const uint3& index) {
  std::ostringstream text;
  text << '(' << index.x << ',' << index.y << ',' << index.z << ')';
  return text.str();
}

class grid_engine {
 public:
  void run(dim3 grid_size, dim3 block_size, std::size_t shared_bytes, kernel_body body,
           const void* arguments);
  bool running() const { return fiber_ != nullptr; }

  std::uint64_t meet_warp(const warp_meeting& operation, std::uint32_t mask, std::uint64_t value,
                          std::uint32_t argument);
  block_vote meet_block(const block_meeting& operation, bool predicate);
  void yield();
  void maybe_yield();
  [[noreturn]] void fail(std::string complaint);

  unsigned int current_rank() { return current().rank; }
  void* shared() const { return shared_.get(); }
  void set_seed(std::uint64_t seed);

 private:
  static void fiber_entry();
  void work();
  void start_block();
  void run_thread(thread_record& thread);
  void leave_block();

  lane_slots lanes_of(unsigned int warp) {
    return lane_slots(lanes_.data() + std::size_t{warp} * warp_lanes, warp_lanes);
  }
  void complete_warp(unsigned int warp, const warp_meeting& operation, std::uint32_t mask);
  void complete_block();
  void make_ready(thread_record& thread);

  // The running thread; device code called outside a kernel has none.
  thread_record& current();
  void set_current(thread_record& thread);
  // Gives up the core until the current thread is ready again.
  void suspend();
  bool should_resume();
  thread_record& take_ready();
  void go_to(fiber_slot& fiber);
  fiber_slot& idle_fiber();
  void go_to_host();
  void note_failure(std::string complaint);
  // Leaves the current thread where it is, together with all that wait.
  [[noreturn]] void abandon();
  std::string describe_bad_mask(const thread_record& thread) const;
  std::string describe_deadlock() const;
  std::string describe_wait(const thread_record& thread) const;
  std::uint64_t draw(std::uint64_t bound) { return random_() % bound; }

  stack_context host_;
  std::vector<std::unique_ptr<fiber_slot>> fibers_;
  std::vector<fiber_slot*> idle_;
  fiber_slot* fiber_ = nullptr;
  std::exception_ptr failure_;

  kernel_body body_ = nullptr;
  const void* arguments_ = nullptr;
  std::unique_ptr<std::byte, shared_deleter> shared_;
  std::size_t shared_bytes_ = 0;

  std::vector<unsigned int> block_order_;
  std::uint64_t blocks_ = 0;
  std::uint64_t next_block_ = 0;

  std::vector<thread_record> threads_;
  std::vector<lane_slot> lanes_;
  std::vector<warp_record> warps_;
  std::vector<unsigned int> thread_order_;
  std::size_t next_thread_ = 0;
  std::deque<thread_record*> ready_;
  thread_record* current_ = nullptr;
  unsigned int live_ = 0;
  unsigned int at_block_ = 0;
  unsigned int in_favor_ = 0;
  block_vote vote_{};

  std::mt19937_64 random_;
};

grid_engine& engine() {
  static grid_engine instance;
  return instance;
}

void grid_engine::run(dim3 grid_size, dim3 block_size, std::size_t shared_bytes, kernel_body body,
                      const void* arguments) {
  if (running()) throw std::logic_error("a kernel launches a kernel, which is not emulated");
  position.grid_size = grid_size;
  position.block_size = block_size;
  body_ = body;
  arguments_ = arguments;
  shared_bytes_ = shared_bytes;
  shared_.reset(shared_bytes == 0
                    ? nullptr
                    : static_cast<std::byte*>(::operator new (shared_bytes, std::align_val_t{16})));

  const unsigned int threads = block_size.x * block_size.y * block_size.z;
  const unsigned int warps = (threads + warp_lanes - 1) / warp_lanes;
  threads_.assign(threads, thread_record{});
  lanes_.assign(std::size_t{warps} * warp_lanes, lane_slot{});
  warps_.assign(warps, warp_record{});
  for (unsigned int rank = 0; rank < threads; ++rank) {
    threads_[rank].rank = rank;
    threads_[rank].index = {rank % block_size.x, rank / block_size.x % block_size.y,
                            rank / block_size.x / block_size.y};
  }
  thread_order_.resize(threads);
  std::iota(thread_order_.begin(), thread_order_.end(), 0U);

  blocks_ = std::uint64_t{grid_size.x} * grid_size.y * grid_size.z;
  next_block_ = 0;
  block_order_.clear();
  if (shuffled_schedule && blocks_ <= std::uint64_t{1} << 24) {
    block_order_.resize(blocks_);
    std::iota(block_order_.begin(), block_order_.end(), 0U);
    std::shuffle(block_order_.begin(), block_order_.end(), random_);
  }

  start_block();
  fiber_ = &idle_fiber();
  host_.switch_to(fiber_->context);
  fiber_ = nullptr;
  current_ = nullptr;
  shared_.reset();
  if (failure_ != nullptr) {
    // Waiting threads will never go on; their stacks are freed without being unwound.
    fibers_.clear();
    idle_.clear();
    ready_.clear();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void grid_engine::fiber_entry() {
  stack_context::arrive();
  engine().work();
}

void grid_engine::work() {
  fiber_slot& self = *fiber_;
  for (;;) {
    run_thread(threads_[thread_order_[next_thread_++]]);
    if (live_ == 0) {
      if (next_block_ == blocks_) {
        idle_.push_back(&self);
        go_to_host();
      } else {
        start_block();
      }
    } else if (should_resume()) {
      idle_.push_back(&self);
      go_to(*take_ready().fiber);
    } else if (next_thread_ == thread_order_.size()) {
      fail(describe_deadlock());
    }
  }
}

void grid_engine::start_block() {
  const std::uint64_t block = block_order_.empty() ? next_block_ : block_order_[next_block_];
  ++next_block_;
  const dim3 grid = position.grid_size;
  position.block = {static_cast<unsigned int>(block % grid.x),
                    static_cast<unsigned int>(block / grid.x % grid.y),
                    static_cast<unsigned int>(block / grid.x / grid.y)};
  for (thread_record& thread : threads_)
    thread.state = thread_phase::unstarted;
  live_ = static_cast<unsigned int>(threads_.size());
  at_block_ = 0;
  in_favor_ = 0;
  next_thread_ = 0;
  for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
    const std::size_t lanes = std::min<std::size_t>(warp_lanes, live_ - warp * warp_lanes);
    warps_[warp].live = ~std::uint32_t{0} >> (warp_lanes - lanes);
    warps_[warp].waiting = 0;
  }
  if (shuffled_schedule) std::shuffle(thread_order_.begin(), thread_order_.end(), random_);
  if (shared_ != nullptr) std::memset(shared_.get(), 0xA5, shared_bytes_);
  spoil_static_shared();
}

void grid_engine::run_thread(thread_record& thread) {
  thread.fiber = fiber_;
  set_current(thread);
  try {
    body_(arguments_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (failure_ != nullptr) abandon();
  leave_block();
}

void grid_engine::leave_block() {
  thread_record& self = *current_;
  self.state = thread_phase::returned;
  --live_;
  const unsigned int number = self.rank / warp_lanes;
  warp_record& warp = warps_[number];
  warp.live &= ~(1U << self.rank % warp_lanes);
  // Others may have waited for this thread only.
  std::uint32_t unseen = warp.waiting;
  while (unseen != 0) {
    const auto lane = static_cast<unsigned int>(std::countr_zero(unseen));
    const thread_record& waiting = threads_[std::size_t{number} * warp_lanes + lane];
    complete_warp(number, *waiting.warp_operation, waiting.mask);
    unseen &= warp.waiting & ~(1U << lane);
  }
  if (at_block_ != 0) complete_block();
}

std::uint64_t grid_engine::meet_warp(const warp_meeting& operation, std::uint32_t mask,
                                     std::uint64_t value, std::uint32_t argument) {
  thread_record& self = current();
  const unsigned int number = self.rank / warp_lanes;
  const std::uint32_t own_bit = 1U << self.rank % warp_lanes;
  lane_slot& lane = lanes_[self.rank];
  lane.value = value;
  lane.argument = argument;
  self.state = thread_phase::at_warp;
  self.warp_operation = &operation;
  self.mask = mask;
  if ((mask & own_bit) == 0) fail(describe_bad_mask(self));
  warps_[number].waiting |= own_bit;
  complete_warp(number, operation, mask);
  suspend();
  return lane.result;
}

void grid_engine::complete_warp(unsigned int number, const warp_meeting& operation,
                                std::uint32_t mask) {
  warp_record& warp = warps_[number];
  const std::uint32_t participants = mask & warp.live;
  if ((participants & ~warp.waiting) != 0) return;
  thread_record* const first = &threads_[std::size_t{number} * warp_lanes];
  for (std::uint32_t rest = participants; rest != 0; rest &= rest - 1) {
    const thread_record& thread = first[std::countr_zero(rest)];
    if (thread.warp_operation != &operation || thread.mask != mask) return;
  }
  operation.resolve(lanes_of(number), participants);
  warp.waiting &= ~participants;
  for (std::uint32_t rest = participants; rest != 0; rest &= rest - 1) {
    make_ready(first[std::countr_zero(rest)]);
  }
}

block_vote grid_engine::meet_block(const block_meeting& operation, bool predicate) {
  thread_record& self = current();
  self.state = thread_phase::at_block;
  self.block_operation = &operation;
  ++at_block_;
  if (predicate) ++in_favor_;
  complete_block();
  suspend();
  return vote_;
}

void grid_engine::complete_block() {
  if (at_block_ != live_) return;
  const block_meeting* operation = nullptr;
  for (const thread_record& thread : threads_) {
    if (thread.state != thread_phase::at_block) continue;
    if (operation == nullptr) operation = thread.block_operation;
    if (thread.block_operation != operation) return;
  }
  // No thread can reach the next barrier before all have taken this result.
  vote_ = {.arrived = at_block_, .in_favor = in_favor_};
  at_block_ = 0;
  in_favor_ = 0;
  for (thread_record& thread : threads_) {
    if (thread.state == thread_phase::at_block) make_ready(thread);
  }
}

void grid_engine::make_ready(thread_record& thread) {
  thread.state = thread_phase::ready;
  // In ascending order, the thread that completes a meeting goes on without a switch.
  if (&thread != current_ || shuffled_schedule) ready_.push_back(&thread);
}

thread_record& grid_engine::current() {
  if (current_ == nullptr) throw std::logic_error("a kernel's operation outside a kernel");
  return *current_;
}

void grid_engine::set_current(thread_record& thread) {
  current_ = &thread;
  thread.state = thread_phase::running;
  position.thread = thread.index;
}

void grid_engine::suspend() {
  thread_record& self = *current_;
  if (self.state == thread_phase::ready && !shuffled_schedule) {
    self.state = thread_phase::running;
    return;
  }
  if (should_resume()) {
    fiber_slot& next = *take_ready().fiber;
    if (&next != self.fiber) go_to(next);
  } else if (next_thread_ != thread_order_.size()) {
    go_to(idle_fiber());
  } else {
    fail(describe_deadlock());
  }
  set_current(self);
}

void grid_engine::yield() {
  thread_record& self = current();
  self.state = thread_phase::ready;
  ready_.push_back(&self);
  if (next_thread_ != thread_order_.size()) {
    go_to(idle_fiber());
  } else {
    fiber_slot& next = *take_ready().fiber;
    if (&next != self.fiber) go_to(next);
  }
  set_current(self);
}

void grid_engine::maybe_yield() {
  if (running() && draw(4) == 0) yield();
}

// Threads to resume come before threads to start, which keeps few stacks in use.
bool grid_engine::should_resume() {
  if (ready_.empty()) return false;
  return !shuffled_schedule || next_thread_ == thread_order_.size() || draw(2) == 0;
}

thread_record& grid_engine::take_ready() {
  if (shuffled_schedule) std::swap(ready_.front(), ready_[draw(ready_.size())]);
  thread_record& thread = *ready_.front();
  ready_.pop_front();
  return thread;
}

void grid_engine::go_to(fiber_slot& fiber) {
  fiber_slot& self = *fiber_;
  fiber_ = &fiber;
  self.context.switch_to(fiber.context);
}

fiber_slot& grid_engine::idle_fiber() {
  if (idle_.empty())
    return *fibers_.emplace_back(std::make_unique<fiber_slot>(&grid_engine::fiber_entry));
  fiber_slot* const fiber = idle_.back();
  idle_.pop_back();
  return *fiber;
}

void grid_engine::go_to_host() {
  fiber_->context.switch_to(host_);
}

void grid_engine::abandon() {
  go_to_host();
  std::terminate();
}

// A function of its own, so that nothing on the stack that is left owns memory.
void grid_engine::note_failure(std::string complaint) {
  complaint.insert(0, "emulated block " + describe(position.block) + ": ");
  failure_ = std::make_exception_ptr(std::runtime_error(complaint));
}

void grid_engine::fail(std::string complaint) {
  if (!running()) throw std::logic_error(complaint);
  note_failure(std::move(complaint));
  abandon();
}

std::string grid_engine::describe_wait(const thread_record& thread) const {
  if (thread.state == thread_phase::at_block) return thread.block_operation->name;
  const unsigned int number = thread.rank / warp_lanes;
  const warp_record& warp = warps_[number];
  std::ostringstream text;
  text << thread.warp_operation->name << " of warp " << number << " with mask 0x" << std::hex
       << thread.mask;
  const std::uint32_t missing = thread.mask & warp.live & ~warp.waiting;
  if (missing != 0) text << " (not arrived: lanes 0x" << missing << ')';
  return text.str();
}

std::string grid_engine::describe_bad_mask(const thread_record& thread) const {
  return "the lane of thread " + describe(thread.index) +
         " is not in its own mask: " + describe_wait(thread);
}

std::string grid_engine::describe_deadlock() const {
  // Threads that wait for the same thing are named once, by the first of them.
  std::vector<std::pair<std::string, std::vector<const thread_record*>>> groups;
  unsigned int returned = 0;
  for (const thread_record& thread : threads_) {
    if (thread.state == thread_phase::returned) {
      ++returned;
      continue;
    }
    const std::string wait = describe_wait(thread);
    const auto same = [&](const auto& group) { return group.first == wait; };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), {wait, {}});
    group->second.push_back(&thread);
  }
  std::ostringstream text;
  text << "deadlock";
  for (const auto& [wait, waiting] : groups) {
    text << (&wait == &groups.front().first ? ": " : "; ");
    text << "thread " << describe(waiting.front()->index);
    if (waiting.size() > 1) text << " and " << waiting.size() - 1 << " more";
    text << " at " << wait;
  }
  if (returned != 0) text << "; " << returned << " returned";
  return text.str();
}

void grid_engine::set_seed(std::uint64_t seed) {
  shuffled_schedule = seed != 0;
  random_.seed(seed);
}

}  // namespace

std::uint64_t meet_warp(const warp_meeting& operation, std::uint32_t mask, std::uint64_t value,
                        std::uint32_t argument) {
  return engine().meet_warp(operation, mask, value, argument);
}

block_vote meet_block(const block_meeting& operation, bool predicate) {
  return engine().meet_block(operation, predicate);
}

void yield() {
  engine().yield();
}

void maybe_yield() {
  engine().maybe_yield();
}

void fail_launch(const char* complaint) {
  engine().fail(complaint);
}

unsigned int current_lane() {
  return engine().current_rank() % warp_lanes;
}

unsigned int current_rank() {
  return engine().current_rank();
}

void run_grid(dim3 grid_size, dim3 block_size, std::size_t shared_bytes, kernel_body body,
              const void* arguments) {
  engine().run(grid_size, block_size, shared_bytes, body, arguments);
}

}  // namespace emulation::detail

namespace emulation {

void* dynamic_shared_memory() {
  return detail::engine().shared();
}

void set_schedule_seed(std::uint64_t seed) {
  detail::engine().set_seed(seed);
}

}  // namespace emulation
