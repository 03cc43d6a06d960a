// SPDX-License-Identifier: Apache-2.0
// Columns and arrays of any backend in host memory, for what is done there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "raydex/join.hpp"
#include "raydex/key_dictionary.hpp"
#include "raydex/memory.hpp"
#include "src/interface/builders.hpp"

namespace raydex {

// Moves arrays between a backend's memory and the host's, which are one on a CPU. It outlives what
// it fetches.
class host_copies {
 public:
  host_copies(backend where, const context& on)
      : where_(where), on_(on), host_{where == backend::cpu ? on.memory : heap_} {}
  host_copies(const host_copies&) = delete;  // `host` may have its memory
  host_copies& operator=(const host_copies&) = delete;
  ~host_copies() = default;

  backend where() const { return where_; }
  const context& device() const { return on_; }
  const context& host() const { return host_; }

  template <class T>
  buffer<T> fetch(buffer<T> from) const {
    if (where_ == backend::cpu) return from;
    return fetch(from.data(), from.size());
  }
  owned_strings fetch(owned_strings from) const {
    return {fetch(std::move(from.bytes)), fetch(std::move(from.offsets))};
  }
  // A copy.
  template <class T>
  buffer<T> fetch(const T* from, std::uint64_t size) const {
    buffer<T> made(host_, size);
    if (size != 0)
      operation_on(where_, &operation_table::copy_out)(on_, made.data(), from, made.bytes());
    return made;
  }
  template <class T>
  void place(buffer<T>& made) const {
    if (where_ == backend::cpu || made.size() == 0) return;
    buffer<T> placed(on_, made.size());
    operation_on(where_, &operation_table::copy_in)(on_, placed.data(), made.data(), made.bytes());
    made = std::move(placed);
  }

 private:
  backend where_;
  context on_;
  host_memory_resource heap_;
  context host_;
};

// A column in host memory: itself on a CPU, else a copy.
class fetched_part {
 public:
  fetched_part(const host_copies& by, const key_part& of) : view_(of) {
    if (by.where() == backend::cpu) return;
    std::visit([&](auto& cells) { fetch(by, cells); }, view_);
  }

  const key_part& view() const { return view_; }

 private:
  void fetch(const host_copies& by, column& cells) {
    if (cells.size == 0) return;
    fetch_validity(by, cells.validity, cells.size);
    const auto* const from = static_cast<const char*>(cells.data);
    bytes_ = by.fetch(from, (cells.size - 1) * cells.step() + cells.format.width);
    cells.data = bytes_.data();
  }
  void fetch(const host_copies& by, string_column& cells) {
    if (cells.size == 0) return;
    fetch_validity(by, cells.validity, cells.size);
    offsets_ = cells.wide_offsets ? all_offsets<std::uint64_t>(by, cells)
                                  : all_offsets<std::uint32_t>(by, cells);
    const std::uint64_t first = offsets_[0];
    bytes_ = by.fetch(cells.bytes + first, offsets_[cells.size] - first);
    for (std::uint64_t& offset : offsets_)
      offset -= first;
    cells.bytes = bytes_.data();
    cells.offsets = offsets_.data();
    cells.wide_offsets = true;
  }
  template <class Offset>
  static buffer<std::uint64_t> all_offsets(const host_copies& by, const string_column& cells) {
    const auto own = by.fetch(static_cast<const Offset*>(cells.offsets), cells.size + 1);
    buffer<std::uint64_t> made(by.host(), own.size());
    std::ranges::copy(own, made.begin());
    return made;
  }
  void fetch_validity(const host_copies& by, validity_bitmap& of, std::uint64_t size) {
    if (of == nullptr) return;
    validity_ = by.fetch(of.first_byte(), (of.first_bit() + size + 7) / 8);
    of = {validity_.data(), of.first_bit()};
  }

  key_part view_;
  buffer<char> bytes_;
  buffer<std::uint64_t> offsets_;
  buffer<std::uint8_t> validity_;
};

}  // namespace raydex
