// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr.
#include "io/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace raydex {

progress_bar::progress_bar() {
  if (::isatty(STDERR_FILENO) != 0) painter_ = std::thread([this] { run(); });
}

progress_bar::~progress_bar() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  finished_.notify_one();
  painter_.join();
}

void progress_bar::phase(const char* name, std::uint64_t total) {
  name_ = name;
  done_ = 0;
  total_ = total;
}

void progress_bar::run() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  const auto stopped = [this] { return stop_; };
  if (finished_.wait_for(lock, 500ms, stopped)) return;
  do {
    draw();
  } while (!finished_.wait_for(lock, 100ms, stopped));
  std::fputs("\r\x1b[K", stderr);
}

void progress_bar::draw() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  std::string bar;
  if (const std::uint64_t total = total_; total != 0) {
    constexpr std::size_t width = 30;
    const double share =
        std::min(1.0, static_cast<double>(done_.load()) / static_cast<double>(total));
    const auto filled = static_cast<std::size_t>(share * width);
    bar = fmt::format(" [{}{}] {:3.0f} %", std::string(filled, '#'),
                      std::string(width - filled, '.'), 100 * share);
  }
  std::fputs(fmt::format("\r{:<8}{} {:.1f} s\x1b[K", name_.load(), bar, elapsed.count()).c_str(),
             stderr);
}

}  // namespace raydex
