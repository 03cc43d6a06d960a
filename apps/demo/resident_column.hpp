// SPDX-License-Identifier: Apache-2.0
// Columns where the backend can read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/host_column.hpp"
#include "raydex/raydex.hpp"

namespace raydex::demo {

// A column in the memory of a session's backend: its cells, and which of them are missing.
class resident_column {
 public:
  resident_column(const session& on, const io::host_column& host)
      : format_(host.format),
        size_(host.size),
        cells_(
            on.upload(std::span<const std::byte>(host.cells.get(), host.size * host.format.width))),
        validity_(on.upload(std::span<const std::uint8_t>(host.validity))) {}

  template <class Key>
  resident_column(const session& on, const std::vector<Key>& host)
      : format_(format_of<Key>),
        size_(host.size()),
        cells_(on.upload(std::as_bytes(std::span<const Key>(host)))) {}

  // The column as the library takes it.
  column view() const { return {format_, cells_.data(), size_, validity_.data()}; }

 private:
  key_format format_;
  std::uint64_t size_;
  buffer<std::byte> cells_;
  buffer<std::uint8_t> validity_;  // empty if nothing is missing
};

}  // namespace raydex::demo
