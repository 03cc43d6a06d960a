// SPDX-License-Identifier: Apache-2.0
#include "raydex/interruptible.hpp"

#include <utility>

#include "src/interface/watch.hpp"

namespace raydex {

namespace {

using clock = std::chrono::steady_clock;
thread_local interruptible* asked_by_this_thread = nullptr;

}  // namespace

interrupted::interrupted() : error("the call was interrupted") {}
interrupted::~interrupted() = default;

interruptible::interruptible(std::function<bool(const progress&)> stop,
                             std::chrono::milliseconds pause)
    : stop_(std::move(stop)),
      pause_(pause),
      next_(clock::now() + pause),
      outer_(std::exchange(asked_by_this_thread, this)) {}

interruptible::~interruptible() {
  asked_by_this_thread = outer_;
}

interruptible* watch::of_this_thread() noexcept {
  return asked_by_this_thread;
}

bool watch::is_to_stop(interruptible& work) {
  if (!work.stopped_ && clock::now() >= work.next_) {
    work.stopped_ = work.stop_(work.at_);
    work.next_ = clock::now() + work.pause_;
  }
  return work.stopped_;
}

void watch::stop() {
  throw interrupted();
}

void watch::tell(const char* stage, std::uint64_t step, std::uint64_t steps) {
  if (asked_by_this_thread != nullptr) asked_by_this_thread->at_ = {stage, step, steps};
}

unwatched::unwatched() noexcept : asked_(std::exchange(asked_by_this_thread, nullptr)) {}
unwatched::~unwatched() {
  asked_by_this_thread = asked_;
}

}  // namespace raydex
