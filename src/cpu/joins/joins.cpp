// SPDX-License-Identifier: Apache-2.0
#include "src/cpu/executor.hpp"
#include "src/joins/built_asof_join.hpp"
#include "src/joins/built_interval_join.hpp"
#include "src/joins/built_join.hpp"

namespace raydex::cpu {

std::unique_ptr<join> build_join(const context& on, const key_parts& keys,
                                 const join_options& options, const index_maker& make) {
  return std::make_unique<built_join<executor>>(on, keys, options, make);
}

std::unique_ptr<join> build_join(const context& on, const index& over) {
  return std::make_unique<built_join<executor>>(on, over);
}

std::unique_ptr<interval_join> build_interval_join(backend where, const context& on,
                                                   const column& lower, const column& upper) {
  return make_interval_join<executor>(where, on, lower, upper);
}

std::unique_ptr<asof_join> build_asof_join(backend where, const context& on, const column& times,
                                           const key_parts& by, const index_maker& make) {
  return std::make_unique<built_asof_join<executor>>(where, on, times, by, make);
}

}  // namespace raydex::cpu
