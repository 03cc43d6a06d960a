// SPDX-License-Identifier: Apache-2.0
// What every program does first to keep its files safe.
#include "io/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "io/temporary_file.hpp"

namespace raydex::io {

namespace {

// A file gets the lowest free number. Nothing can be read or written through O_PATH.
void occupy_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) < 0) ::open("/", O_PATH);
  }
}

// What handlers read and write.
std::atomic<bool> is_delayed{false};
std::atomic<int> delayed{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void clean_up_on(int signal);

// With SA_RESETHAND the signal, raised again, ends the program, and its exit status shows the
// signal.
void clean_up(int signal) {
  if (is_delayed.exchange(false)) {
    delayed = signal;
    return clean_up_on(signal);
  }
  temporary_file::remove_all();
  ::raise(signal);
}

void clean_up_on(int signal) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = clean_up;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void begin_program() {
  occupy_standard_descriptors();
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU})
    clean_up_on(signal);
  ::signal(SIGXFSZ, SIG_IGN);
}

delayed_end::delayed_end() {
  is_delayed = true;
}

delayed_end::~delayed_end() {
  is_delayed = false;
  if (is_wanted()) ::raise(delayed);
}

bool delayed_end::is_wanted() noexcept {
  return delayed != 0;
}

}  // namespace raydex::io
