// SPDX-License-Identifier: Apache-2.0
// Steps of builds that a library compiles once, in compiled_once.cu.
#pragma once

#include "src/machines/cuda/executor.cuh"
#include "src/operations/lookups/repeated_keys.hpp"

namespace raydex {

extern template std::uint64_t count_repeated<cuda::executor>(const context&, const std::uint32_t*,
                                                             std::uint64_t);
extern template std::uint64_t count_repeated<cuda::executor>(const context&, const std::uint64_t*,
                                                             std::uint64_t);
extern template different_hashes<std::uint32_t, std::uint32_t> list_different<cuda::executor>(
    const context&, const sorted_column<std::uint32_t, std::uint32_t>&, std::uint64_t);
extern template different_hashes<std::uint64_t, std::uint32_t> list_different<cuda::executor>(
    const context&, const sorted_column<std::uint64_t, std::uint32_t>&, std::uint64_t);
extern template buffer<std::uint32_t> repeat_hashes<cuda::executor>(
    const context&, const sorted_column<std::uint32_t, std::uint32_t>&, std::uint64_t);
extern template buffer<std::uint64_t> repeat_hashes<cuda::executor>(
    const context&, const sorted_column<std::uint64_t, std::uint32_t>&, std::uint64_t);

}  // namespace raydex
