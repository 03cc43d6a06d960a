// SPDX-License-Identifier: Apache-2.0
// Files of indexes, written by a program that a signal may end.
#pragma once

#include <string>

#include "raydex/index.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"

namespace raydex::io {

// `raydex::save`. Where a signal ends the program, nothing is left beside the path.
void save_index(const session& on, const index& of, const std::string& path,
                const std::string& note);
void save_index(const session& on, const rmq& of, const std::string& path, const std::string& note);

}  // namespace raydex::io
