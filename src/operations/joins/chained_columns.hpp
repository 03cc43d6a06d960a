// SPDX-License-Identifier: Apache-2.0
// Columns one after the other, as one of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/join.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Copies cells to where they are adjacent; may wait.
template <executor Executor>
void copy_cells(const context& on, const column& cells, std::byte* to) {
  if (cells.size == 0) return;
  const std::uint64_t width = cells.format.width;
  const auto* const from = static_cast<const std::byte*>(cells.data);
  if (cells.step() == width) return Executor::copy(on, to, from, cells.size * width);
  std::vector<std::byte> apart((cells.size - 1) * cells.step() + width);
  Executor::copy_out(on, apart.data(), from, apart.size());
  std::vector<std::byte> adjacent(cells.size * width);
  for (std::uint64_t i = 0; i < cells.size; ++i)
    std::memcpy(adjacent.data() + i * width, apart.data() + i * cells.step(), width);
  Executor::copy_in(on, to, adjacent.data(), adjacent.size());
}

// The validity of so many cells, more than none, in host memory, from the first bit on; what is
// left of the last byte is 0. May wait.
template <executor Executor>
std::vector<std::uint8_t> validity_out(const context& on, const validity_bitmap& of,
                                       std::uint64_t size) {
  const unsigned shift = of.first_bit();
  std::vector<std::uint8_t> bits((shift + size + 7) / 8, 0xff);
  if (of != nullptr) Executor::copy_out(on, bits.data(), of.first_byte(), bits.size());
  bits.push_back(0);
  for (std::uint64_t b = 0; b + 1 < bits.size(); ++b)
    bits[b] = static_cast<std::uint8_t>((bits[b] | unsigned{bits[b + 1]} << 8) >> shift);
  bits.resize((size + 7) / 8);
  if (size % 8 != 0) bits.back() &= static_cast<std::uint8_t>((1U << size % 8) - 1);
  return bits;
}

// The validity of columns one after the other; nothing if no cell of any can be missing.
template <executor Executor, class Column>
buffer<std::uint8_t> chained_validity(const context& on, const std::vector<Column>& columns) {
  std::uint64_t size = 0;
  bool any = false;
  for (const Column& one : columns) {
    size += one.size;
    any = any || one.validity != nullptr;
  }
  if (!any || size == 0) return {};
  std::vector<std::uint8_t> bits(size / 8 + 2);
  std::uint64_t at = 0;
  for (const Column& one : columns) {
    if (one.size == 0) continue;
    const std::vector<std::uint8_t> own = validity_out<Executor>(on, one.validity, one.size);
    for (std::uint64_t b = 0; b < own.size(); ++b) {
      const unsigned moved = unsigned{own[b]} << at % 8;
      bits[at / 8 + b] |= static_cast<std::uint8_t>(moved);
      bits[at / 8 + b + 1] |= static_cast<std::uint8_t>(moved >> 8);
    }
    at += one.size;
  }
  buffer<std::uint8_t> all(on, (size + 7) / 8);
  Executor::copy_in(on, all.data(), bits.data(), all.size());
  return all;
}

// A column of a key that owns its cells.
class chained_part {
 public:
  // Parts of one format, at least one; may wait.
  template <executor Executor>
  static chained_part made_of(const context& on, const std::vector<key_part>& parts) {
    return std::visit(
        [&]<class Column>(const Column&) {
          std::vector<Column> columns;
          for (const key_part& part : parts)
            columns.push_back(std::get<Column>(part));
          chained_part all;
          all.chain<Executor>(on, columns);
          return all;
        },
        parts.front());
  }

  const key_part& view() const { return view_; }

  // Names what it is to a file that is saved.
  template <executor Executor>
  void keep(const std::string& name, const context& on, kept_memory& file) const {
    std::uint8_t has_strings = std::holds_alternative<string_column>(view_);
    file.number((name + " has strings").c_str(), has_strings);
    file.array<Executor>(name.c_str(), on, cells_);
    file.array<Executor>((name + " present").c_str(), on, validity_);
    if (has_strings != 0) return file.array<Executor>((name + " offsets").c_str(), on, offsets_);
    keep_format(name, std::get<column>(view_).format, file);
  }
  static void keep_format(const std::string& name, const key_format& format, kept_memory& file) {
    auto type = static_cast<std::uint8_t>(format.type);
    std::uint8_t width = format.width;
    file.number((name + " type").c_str(), type);
    file.number((name + " width").c_str(), width);
  }

 private:
  template <executor Executor>
  void chain(const context& on, const std::vector<column>& columns) {
    column all(columns.front().format, nullptr, 0);
    for (const column& one : columns)
      all.size += one.size;
    cells_ = {on, all.size * all.format.width};
    std::byte* to = cells_.data();
    for (const column& one : columns) {
      copy_cells<Executor>(on, one, to);
      to += one.size * all.format.width;
    }
    validity_ = chained_validity<Executor>(on, columns);
    all.data = cells_.data();
    all.validity = validity_.data();
    view_ = all;
  }

  template <executor Executor>
  void chain(const context& on, const std::vector<string_column>& columns) {
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::pair<const char*, std::uint64_t>> bytes;
    for (const string_column& one : columns) {
      const std::vector<std::uint64_t> own = offsets_of<Executor>(on, one);
      const std::uint64_t begin = offsets.back();
      for (std::uint64_t i = 1; i < own.size(); ++i)
        offsets.push_back(begin + own[i] - own[0]);
      if (one.size != 0 && own.back() != own[0])
        bytes.emplace_back(one.bytes + own[0], own.back() - own[0]);
    }
    cells_ = {on, offsets.back()};
    std::byte* to = cells_.data();
    for (const auto& [from, size] : bytes) {
      Executor::copy(on, to, reinterpret_cast<const std::byte*>(from), size);
      to += size;
    }
    offsets_ = {on, offsets.size()};
    Executor::copy_in(on, offsets_.data(), offsets.data(), offsets_.bytes());
    validity_ = chained_validity<Executor>(on, columns);
    view_ = string_column{.bytes = reinterpret_cast<const char*>(cells_.data()),
                          .offsets = offsets_.data(),
                          .wide_offsets = true,
                          .size = offsets.size() - 1,
                          .validity = validity_.data()};
  }

  template <executor Executor>
  static std::vector<std::uint64_t> offsets_of(const context& on, const string_column& strings) {
    if (strings.size == 0) return {0};
    std::vector<std::uint64_t> wide(strings.size + 1);
    if (strings.wide_offsets) {
      Executor::copy_out(on, wide.data(), strings.offsets, wide.size() * 8);
      return wide;
    }
    std::vector<std::uint32_t> narrow(wide.size());
    Executor::copy_out(on, narrow.data(), strings.offsets, narrow.size() * 4);
    std::ranges::copy(narrow, wide.begin());
    return wide;
  }

  buffer<std::byte> cells_;  // or the bytes of strings
  buffer<std::uint64_t> offsets_;
  buffer<std::uint8_t> validity_;
  key_part view_;
};

}  // namespace raydex
