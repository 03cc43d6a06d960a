// SPDX-License-Identifier: Apache-2.0
// The answers of an index, batch by batch, gathered on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "raydex/aggregate.hpp"
#include "raydex/column.hpp"
#include "raydex/index.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// The result per probe.
enum class result_kind : std::uint8_t {
  first,
  count,
  sum,
  mean,
  min,
  max,
  rows,
  rank,
  rank_right,
  predecessor,
  successor
};

// Their names, as type names show choices.
inline constexpr const char* result_names =
    "first|count|sum|mean|min|max|rows|rank|rank_right|predecessor|successor";

// Whether it asks for the place of a point among the keys.
bool is_place(result_kind kind);
// Whether it is a row id.
bool is_row_id(result_kind kind);

// The kind of that name. Throws `invalid_argument` for any other.
result_kind parse_result(std::string_view name);

// Gathers the answers to batches of probes.
class answers {
 public:
  // `values`: what sums add up, which have them, in the backend's memory. `constant`: an
  // aggregate over the index that answers instead; null: none. `which`: for the closest keys.
  answers(const session& on, const index& source, result_kind kind,
          const std::optional<column>& values, const aggregate* constant = nullptr,
          closeness which = closeness::or_equal);

  // Also counts the values behind each mean, minimum and maximum, of batches to come.
  void count_values();
  // Answers a batch whose columns the backend can read.
  void add(const probes& batch);
  // Answers it by rows, as many at a time as there are to be, or those of eight probes. Each time
  // it calls write() and then lets go of them.
  void add_rows(const probes& batch, std::uint64_t at_a_time, const std::function<void()>& write);

  // The type of a cell.
  key_format format() const noexcept { return format_; }
  // The cell of a probe that matches nothing; nothing if there is no such cell.
  std::optional<std::uint64_t> none() const noexcept;
  // One cell a probe; of `rows`, one a match.
  const std::vector<std::byte>& cells() const noexcept { return cells_; }
  // How many values each cell is made of, if that is counted; else nothing.
  const std::vector<std::uint64_t>& value_counts() const noexcept { return value_counts_; }
  // Where the matches of each probe begin, and their total; of `rows` only.
  const std::vector<std::uint64_t>& offsets() const noexcept { return offsets_; }
  // Time spent in the index.
  double lookup_ms() const noexcept { return lookup_ms_; }
  // The most memory that the index took for it at once; of `rows`, with the rows.
  std::uint64_t lookup_peak_bytes() const noexcept { return memory_.peak(); }

 private:
  void add_cells(const probes& batch);
  void add_rows(const probes& batch);
  void gather(const std::vector<std::uint64_t>& offsets, const buffer<std::byte>& rows);
  void add_sums(const probes& batch, buffer<std::byte>& out);
  void add_places(const probes& batch, buffer<std::byte>& out);
  void add_aggregates(const probes& batch, buffer<std::byte>& out);

  const session& on_;
  tracking_resource memory_;  // of lookups
  context lookups_;
  const index& source_;
  const aggregate* constant_;
  result_kind kind_;
  std::optional<column> values_;
  closeness which_;
  key_format format_;
  bool counts_values_ = false;
  std::vector<std::byte> cells_;
  std::vector<std::uint64_t> value_counts_;
  std::vector<std::uint64_t> offsets_{0};
  double lookup_ms_ = 0;
};

}  // namespace raydex::cli
