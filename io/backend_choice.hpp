// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which backend `--backend auto` stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "raydex/capability.hpp"

namespace raydex::io {

/// A structure on a backend.
struct backend_offer {
  std::string structure;
  backend where;
  bool available;  ///< whether the backend is usable on this machine
  bool updates;    ///< whether it takes changes
};

/// All that this build of raydex has for keys.
std::vector<backend_offer> key_offers();
/// And for minima.
std::vector<backend_offer> rmq_offers();

/// Refuses a structure that none of these offers, unless it is `auto`. Throws `invalid_argument`,
/// which says what may have been meant.
void check_structure(std::string_view name, const std::vector<backend_offer>& offers);

/// The backend of that name. `auto` is the first of cuda, optix and cpu that is usable here and has
/// the structure, which takes changes if `updates`; a structure `auto` is any. Where none has, it
/// is what `parse_backend` says, so that others may refuse what is missing. Throws
/// `invalid_argument` for names that are not known.
backend choose_backend(std::string_view name, const std::vector<backend_offer>& offers,
                       std::string_view structure, bool updates);

}  // namespace raydex::io
