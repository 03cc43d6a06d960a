// SPDX-License-Identifier: Apache-2.0
/// @file
/// Backends, structures and what each can do, known at run time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/core/keys/key.hpp"
#include "raydex/export.hpp"

namespace raydex {

/// Who does the work.
enum class backend : std::uint8_t {
  cpu,   ///< this machine's cores, through oneTBB
  cuda,  ///< an NVIDIA GPU
  optix  ///< an NVIDIA GPU, rays traced by OptiX
};

/// `cpu`, `cuda` or `optix`.
RAYDEX_EXPORT std::string_view to_string(backend where);

/// The backend of that name; `auto` is `cuda` where a device is usable, else `cpu`. Throws
/// `invalid_argument` for any other name.
RAYDEX_EXPORT backend parse_backend(std::string_view name);

/// Why a backend cannot be used on this machine, and how to change that; empty if it can.
RAYDEX_EXPORT std::string why_unavailable(backend where);

/// What one structure can do on one backend.
struct capability {
  std::string structure;       ///< its name, as `build` takes it
  backend where;               ///< the backend
  bool available;              ///< whether the backend is usable on this machine
  std::string reason;          ///< why not, and how to get it; empty if available
  bool points;                 ///< answers points
  bool ranges;                 ///< answers ranges, and where points lie among the keys (that not
                               ///< with nodes, of `cgrx`)
  bool duplicates;             ///< takes columns with equal keys
  bool updates;                ///< takes insertions and deletions
  std::vector<key_type> keys;  ///< key types it takes
  bool sparse = true;          ///< takes keys that lie any distance apart
};

/// All structures on all backends that this build of raydex knows, available or not.
RAYDEX_EXPORT std::vector<capability> capabilities();

/// An option of a structure by its name.
struct option_info {
  std::string name;          ///< its name
  std::string values;        ///< what is legal: words and ranges of numbers, with `|` between them
  std::string usual;         ///< its default value; empty if the structure chooses
  std::string meaning;       ///< what it says
  std::string with;          ///< the option and value that it belongs to, as `name=value`; or empty
  bool of_a_paper;           ///< whether only an experiment of a paper asks for it
  std::string worth_trying;  ///< a value that may be faster than the usual one on some machines,
                             ///< as `raydex tune` finds out; or empty
};

/// The options of a structure for keys or for minima. Throws `invalid_argument` for another name.
RAYDEX_EXPORT std::vector<option_info> options_of(std::string_view structure);

}  // namespace raydex
