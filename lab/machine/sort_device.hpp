// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sorts that the benchmarks take from CUB. Both follow CUB's protocol: without scratch they
/// only say how many bytes of it they need, so that timed sorts need not allocate.
#pragma once

#include <cstddef>

#include "lab/workloads/keys/key_span.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {

/// Sorts keys ascending.
void sort_keys(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted,
               stream_t stream);

/// Sorts keys ascending together with numbers of 32 or 64 bits, stably; by their bits from
/// `first_bit` on.
void sort_pairs(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted_keys,
                const key_span& numbers, void* sorted_numbers, stream_t stream, int first_bit = 0);

}  // namespace raydex::bench
