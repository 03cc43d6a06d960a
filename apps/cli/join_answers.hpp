// SPDX-License-Identifier: Apache-2.0
// What a join answers of each probe row in place of rows: how much intervals share with it, or an
// aggregate of the build rows in its window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/cli/join_arguments.hpp"
#include "apps/cli/placed_column.hpp"
#include "apps/cli/report.hpp"
#include "io/progress.hpp"
#include "raydex/interval_coverage.hpp"
#include "raydex/session.hpp"
#include "raydex/window_join.hpp"

namespace raydex::cli {

// What it is made from must outlive it.
class join_answers {
 public:
  // Builds what answers. `counts_values`: whether the values behind each answer are counted, too.
  join_answers(const session& on, const join_request& request, const join_inputs& in,
               bool counts_values);

  // Answers all probe rows.
  void match(progress_bar& bar);
  // The type of an answer, and what stands for a row that is none.
  key_format format() const noexcept { return format_; }
  std::optional<std::uint64_t> none() const;
  // One a probe row.
  const std::vector<std::byte>& cells() const noexcept { return cells_; }
  // How many values each is made of, if that is counted and says whether there is one.
  const std::vector<std::uint64_t>& value_counts() const noexcept { return value_counts_; }

  const join_info& info() const { return covered_ ? covered_->info() : windows_->info(); }
  join_costs costs() const;

 private:
  key_format format_of_answers() const;
  void add(const windowed& found, buffer<std::byte>& out);
  void add_counts(const windowed& found, std::uint64_t count);

  const session& on_;
  const join_request& asked_;
  const join_inputs& in_;
  tracking_resource build_memory_;
  tracking_resource lookup_memory_;
  context lookups_;
  join_costs costs_;
  std::optional<placed_key> by_;
  std::unique_ptr<interval_coverage> covered_;
  std::unique_ptr<window_join> windows_;
  key_format format_;
  bool counts_values_;
  std::vector<std::byte> cells_;
  std::vector<std::uint64_t> value_counts_;
};

}  // namespace raydex::cli
