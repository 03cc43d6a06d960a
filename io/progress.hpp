// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace raydex {

// Shows what a program is busy with: the phase, a bar if its length is known, and the seconds so
// far. It appears after half a second, only if stderr is a terminal, and erases itself.
class progress_bar {
 public:
  progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();

  // Begins a phase of `total` steps; 0 where they cannot be counted. `name` is a literal.
  void phase(const char* name, std::uint64_t total = 0);
  // Some steps of the phase are done.
  void advance(std::uint64_t steps) { done_ += steps; }

 private:
  void run();
  void draw() const;

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<const char*> name_ = "";
  std::atomic<std::uint64_t> total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool stop_ = false;
  // Runs in its own thread, so that it also moves during a single long call. None without a
  // terminal.
  std::thread painter_;
};

}  // namespace raydex
