// SPDX-License-Identifier: Apache-2.0
// Kernels of several structures that a library compiles once.
#include "src/machines/cuda/lookups/run.cuh"

namespace raydex::cuda {

// How long ranges over entries are answered.
template <class Entries>
void listed_entries<Entries>::answer(const context& on, const core::first_rows<view>& operation,
                                     const long_list& list) {
  answer_list(on, operation, list);
}

template <class Entries>
void listed_entries<Entries>::answer(const context& on,
                                     const core::sum_rows<view, core::integer_sum>& operation,
                                     const long_list& list) {
  answer_list(on, operation, list);
}

template <class Entries>
void listed_entries<Entries>::answer(const context& on,
                                     const core::sum_rows<view, core::floating_sum>& operation,
                                     const long_list& list) {
  answer_list(on, operation, list);
}

template <class Entries>
void listed_entries<Entries>::answer(const context& on, const core::list_rows<view>& operation,
                                     const long_list& list) {
  answer_list(on, operation, list);
}

template struct listed_entries<core::column_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::column_entries<std::uint32_t, std::uint64_t>>;
template struct listed_entries<core::row_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::row_entries<std::uint64_t, std::uint32_t>>;
template struct listed_entries<core::ranked_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::strided_entries<std::uint32_t, std::uint32_t>>;

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
