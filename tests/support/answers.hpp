// SPDX-License-Identifier: Apache-2.0
// All answers of an index to a batch, to compare with those of another index, thread or device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex::test {

struct answers {
  std::vector<std::uint64_t> first, counts, sums, offsets, rows;
  bool operator==(const answers&) const = default;
};

// Work goes to the stream of the session.
inline answers ask(const session& at, const index& asked, const probes& batch) {
  answers all;
  const auto widened = [&](const std::byte* rows, std::uint64_t size) {
    std::vector<std::uint64_t> wide(size);
    if (asked.info().row_ids == row_id_type::uint64) {
      at.copy_out(wide.data(), rows, size * sizeof(std::uint64_t));
      return wide;
    }
    std::vector<std::uint32_t> narrow(size);
    at.copy_out(narrow.data(), rows, size * sizeof(std::uint32_t));
    wide.assign(narrow.begin(), narrow.end());
    return wide;
  };
  const std::uint64_t size = batch.size();
  buffer<std::byte> first(at, size * sizeof(std::uint64_t));
  if (asked.info().row_ids == row_id_type::uint64) {
    asked.first(at, batch, std::span(reinterpret_cast<std::uint64_t*>(first.data()), size));
  } else {
    asked.first(at, batch, std::span(reinterpret_cast<std::uint32_t*>(first.data()), size));
  }
  all.first = widened(first.data(), size);
  buffer<std::uint64_t> numbers(at, size);
  asked.count(at, batch, std::span(numbers.data(), size));
  all.counts = at.download(numbers);
  asked.sum(at, batch, std::span(numbers.data(), size));
  all.sums = at.download(numbers);
  const matches found = asked.rows(at, batch);
  all.offsets = at.download(found.offsets);
  all.rows = widened(found.rows.data(), found.total);
  return all;
}

}  // namespace raydex::test
