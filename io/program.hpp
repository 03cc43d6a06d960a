// SPDX-License-Identifier: Apache-2.0
// What every program does first to keep its files safe.
#pragma once

namespace raydex::io {

// Called once, before any file is opened and any thread begins:
// - If stdin, stdout or stderr is closed, an unusable descriptor takes its number, so that no file
//   gets it and no file gets what is printed. Using it fails as before, so messages on stderr must
//   not throw on failure: std::fputs does not, fmt::print does.
// - A signal that ends the program removes its temporary files first. An ignored signal,
//   such as SIGHUP under `nohup`, stays ignored.
// - A file beyond the limit on file sizes (`ulimit -f`) is an error of the call that writes it, not
//   a signal.
void begin_program();

// As long as it lives, the first signal that would end the program waits: for work that removes its
// own files and looks whether it is to stop. There is one at a time.
class delayed_end {
 public:
  delayed_end();
  // Ends the program if a signal waits.
  ~delayed_end();
  delayed_end(const delayed_end&) = delete;
  delayed_end& operator=(const delayed_end&) = delete;

  // Whether a signal waits.
  static bool is_wanted() noexcept;
};

}  // namespace raydex::io
