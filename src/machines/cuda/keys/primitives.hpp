// SPDX-License-Identifier: Apache-2.0
// The parallel primitives that raydex takes from CUB. All are stream-ordered, with scratch from the
// context; `primitives.cu` is the only file that sees CUB.
#pragma once

#include <cstdint>

#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/sum.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex::cuda {

// Sorts (key, value) pairs by these bits of their keys, stably. `Value` counts the pairs: fewer
// than 2^32 for 32 bits. Cost: a pass over the pairs for each 8 bits, and scratch for as many.
template <class Key, class Value>
void sort_pairs(const context& on, const Key* keys, Key* sorted_keys, const Value* values,
                Value* sorted_values, std::uint64_t size, bit_range bits = {});
// The same for any number of pairs, with no more scratch than the double buffers and a table.
template <class Key, class Value>
void sort_pairs(const context& on, double_buffer<Key>& keys, double_buffer<Value>& values,
                bit_range bits = {});
// The same for the first `size` pairs of two words side by side, by bits of these: the first word's
// are the lower 32.
void sort_rows(const context& on, double_buffer<std::uint32_t>& words, std::uint32_t size,
               bit_range bits);

// Writes the numbers of the valid ones among `size` cells, ascending, and how many there are.
template <class Position>
void select_valid(const context& on, const core::cells& of, std::uint64_t size, Position* positions,
                  std::uint64_t* count);

// Copies the elements whose mark is 0.
template <class T>
void select_unmarked(const context& on, const core::strided<T>& from, const std::uint8_t* marks,
                     std::uint64_t size, T* to);

// Sums in place: numbers[i] becomes numbers[0] + .. + numbers[i].
void inclusive_sum(const context& on, std::uint32_t* numbers, std::uint64_t size);
RAYDEX_INTERNAL void inclusive_sum(const context& on, std::uint64_t* numbers, std::uint64_t size);

// Makes each number the smallest of those up to it.
RAYDEX_INTERNAL void inclusive_minimum(const context& on, std::uint64_t* numbers,
                                       std::uint64_t size);

}  // namespace raydex::cuda
