// SPDX-License-Identifier: Apache-2.0
// What the system has of memory, to refuse at once what will not fit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "raydex/memory.hpp"

namespace raydex {

// Bytes that this process may still have, with what is swapped out for it: the least of what the
// system and the control groups of the process have left. Nothing where the system does not tell.
// `root`: where its files are.
std::optional<std::uint64_t> host_memory_left(const std::filesystem::path& root = "/");

// Whether memory is the library's own of the host: that of a session, or a `host_memory_resource`.
// Another resource may have memory that the system does not know of.
bool is_own_host_memory(const memory_resource& memory) noexcept;

}  // namespace raydex
