// SPDX-License-Identifier: Apache-2.0
#include "tests/random/flight.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>

// From the address sanitizer, if it is linked: it ends programs without a signal.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace raydex::test {

namespace {

// What a signal handler may read: written before each case.
std::array<char, 512> command_line;
std::size_t command_size = 0;
std::array<char, 600> message;
volatile std::sig_atomic_t message_size = 0;

void write_message() {
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, message.data(), static_cast<std::size_t>(message_size));
}

void die(int signal) {
  write_message();
  // Dies as it would have without this handler.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void give_up(int /*signal*/) {
  constexpr char text[] = "raydex_random: this case does not end\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
  write_message();
  std::signal(SIGABRT, SIG_DFL);
  std::raise(SIGABRT);
}

}  // namespace

void watch_flight(const std::string& command) {
  command_size = command.copy(command_line.data(), command_line.size());
  std::signal(SIGALRM, give_up);
  std::signal(SIGABRT, die);
  if (__sanitizer_set_death_callback != nullptr) {
    // It reports the others itself.
    __sanitizer_set_death_callback(write_message);
  } else {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      std::signal(signal, die);
  }
}

void begin_case(std::uint64_t seed, unsigned seconds) {
  const auto end =
      fmt::format_to_n(message.data(), message.size(),
                       "raydex_random: this case was in flight: {} --seed {} --cases 1\n",
                       std::string_view(command_line.data(), command_size), seed);
  message_size = static_cast<std::sig_atomic_t>(std::min(end.size, message.size()));
  alarm(seconds);
}

void end_flight() {
  alarm(0);
  message_size = 0;
}

}  // namespace raydex::test
