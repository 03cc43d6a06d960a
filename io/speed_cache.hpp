// SPDX-License-Identifier: Apache-2.0
/// @file
/// The file that keeps what `raydex tune` measured of a device, and what `--structure auto` makes
/// of it.
#pragma once

#include <string>

#include "raydex/advise.hpp"
#include "raydex/session.hpp"
#include "raydex/speed_table.hpp"

namespace raydex::io {

/// Where the measurements of a device are kept: in $RAYDEX_CACHE_DIR, else $XDG_CACHE_HOME/raydex,
/// else ~/.cache/raydex. Empty where none of these is set.
std::string speed_cache_path(backend where, const std::string& device);

/// A speed table and where it comes from.
struct known_speeds {
  speed_table table;
  std::string path;     ///< its file; empty for the built-in table
  std::string problem;  ///< what of a file could not be used, and why; empty if all is well
};

/// The measurements of this device by this version of raydex if they were kept, else the built-in
/// ones. A file of another version or device is as good as none; a broken one is a problem, and so
/// are measurements of structures or options that this library does not build: they are left out.
known_speeds load_speeds(backend where, const std::string& device);

/// Says on stderr what is wrong with them, if anything is.
void warn(const known_speeds& known);

/// The contents of the file that keeps these measurements, which are of one device.
std::string to_cache_text(const speed_table& table, backend where, const std::string& device);

/// The arguments of `build`.
struct structure_choice {
  std::string structure;
  option_map options{};

  friend bool operator==(const structure_choice&, const structure_choice&) = default;
};

/// Replaces `auto` by a structure and its options, decided by the speeds known of a device.
class auto_choice {
 public:
  /// Loads the speeds for the session's device if `needed`, that is if there will be an `auto`, and
  /// says on stderr if their file is broken.
  auto_choice(const session& on, bool needed);

  /// The choice for a use case, on which options that were given stay. Leaves other structures
  /// than `auto` as they are. Throws `invalid_argument` for misspelt options.
  structure_choice operator()(const structure_choice& choice, const use_case& use) const;

 private:
  speed_table table_;
};

}  // namespace raydex::io
