// SPDX-License-Identifier: Apache-2.0
// From a backend to its machine.
#include "lab/machine/machine.hpp"

#include "lab/machine/host_machine.hpp"
#if defined(RAYDEX_WITH_CUDA)
#include "lab/machine/device_machine.hpp"
#endif

namespace raydex::bench {

std::unique_ptr<machine> make_machine(const session& on) {
#if defined(RAYDEX_WITH_CUDA)
  if (on.where() != backend::cpu) return std::make_unique<device_machine>(on);
#endif
  return std::make_unique<host_machine>(on);  // without CUDA there is no other session
}

}  // namespace raydex::bench
