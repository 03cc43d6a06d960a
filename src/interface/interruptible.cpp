// SPDX-License-Identifier: Apache-2.0
#include "raydex/interruptible.hpp"

#include <utility>

#include "src/interface/watch.hpp"

namespace raydex {

namespace {

using clock = std::chrono::steady_clock;
thread_local interruptible* watching = nullptr;

}  // namespace

interrupted::interrupted() : error("the call was interrupted") {}
interrupted::~interrupted() = default;

interruptible::interruptible(std::function<bool(const progress&)> stop,
                             std::chrono::milliseconds pause)
    : stop_(std::move(stop)),
      pause_(pause),
      next_(clock::now() + pause),
      outer_(std::exchange(watching, this)) {}

interruptible::~interruptible() {
  watching = outer_;
}

interruptible* watch::of_this_thread() noexcept {
  return watching;
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
  if (watching != nullptr) watching->at_ = {stage, step, steps};
}

unwatched::unwatched() noexcept : watched_(std::exchange(watching, nullptr)) {}
unwatched::~unwatched() {
  watching = watched_;
}

}  // namespace raydex
