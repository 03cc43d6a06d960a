// SPDX-License-Identifier: Apache-2.0
// What every program does first, so that its files are safe.
#pragma once

namespace raydex::io {

// Called once, before any file is opened and any thread begins:
// - Of stdin, stdout and stderr those that are closed become unusable ones, so that no file gets
//   their number and what is printed gets into no file. To use them fails as before, so what is
//   said on stderr must not throw where it fails: std::fputs does not, fmt::print does.
// - A signal that ends the program removes its temporary files first. One that was ignored, as
//   `nohup` does with SIGHUP, is still ignored.
// - A file beyond the limit on file sizes (`ulimit -f`) is an error of the call that writes it, and
//   not a signal.
void begin_program();

}  // namespace raydex::io
