// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/hash_open.hpp"

#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<hash_open> build(const index_info& info, const context& on, const column& keys,
                                 const std::optional<column>& row_ids,
                                 const hash_open_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_hash_open<64, Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cuda

namespace raydex {

template std::uint64_t count_repeated<cuda::executor>(const context&, const std::uint32_t*,
                                                      std::uint64_t);
template std::uint64_t count_repeated<cuda::executor>(const context&, const std::uint64_t*,
                                                      std::uint64_t);
template different_hashes<std::uint32_t, std::uint32_t> list_different<cuda::executor>(
    const context&, const sorted_column<std::uint32_t, std::uint32_t>&, std::uint64_t);
template different_hashes<std::uint64_t, std::uint32_t> list_different<cuda::executor>(
    const context&, const sorted_column<std::uint64_t, std::uint32_t>&, std::uint64_t);
template buffer<std::uint32_t> repeat_hashes<cuda::executor>(
    const context&, const sorted_column<std::uint32_t, std::uint32_t>&, std::uint64_t);
template buffer<std::uint64_t> repeat_hashes<cuda::executor>(
    const context&, const sorted_column<std::uint64_t, std::uint32_t>&, std::uint64_t);

}  // namespace raydex
