// SPDX-License-Identifier: Apache-2.0
// How long ranges over entries are answered: kernels that a library compiles once.
#pragma once

#include "src/machines/cuda/lookups/long_ranges.cuh"

namespace raydex::cuda {

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

}  // namespace raydex::cuda
