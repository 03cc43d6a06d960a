// SPDX-License-Identifier: Apache-2.0
// Joins of two tables by equal keys that are made once, without an index.
#pragma once

#include <memory>

#include "raydex/join.hpp"
#include "raydex/memory.hpp"

namespace raydex::cpu {

// Arguments are checked; the structure in the options is not looked at.
std::unique_ptr<joined> join_once(const context& on, const key_parts& build, const key_parts& probe,
                                  join_kind kind, const join_options& options);

}  // namespace raydex::cpu
