// SPDX-License-Identifier: Apache-2.0
// A join of two tables in host memory: built, matched batch by batch, and its rows handed out in
// stretches, so that neither the probes nor the rows need to fit the backend's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/cli/join_arguments.hpp"
#include "apps/cli/placed_column.hpp"
#include "apps/cli/report.hpp"
#include "io/progress.hpp"
#include "raydex/join.hpp"
#include "raydex/nearest_join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// Takes successive rows of a join; of semi and anti joins there are no build rows.
using row_taker = std::function<void(std::span<const std::uint64_t> probe_rows,
                                     std::span<const std::uint64_t> build_rows)>;

// One join, in the order of these calls. What it is made from must outlive it.
class joining {
 public:
  // Builds the indexed side.
  joining(const session& on, const join_request& request, const join_inputs& in);

  // Looks all rows of the other side up.
  void match(progress_bar& bar);
  // How many rows the join has.
  std::uint64_t size() const noexcept { return size_; }
  // Hands all rows out.
  void rows(progress_bar& bar, const row_taker& take);

  // How far apart the intervals of each row are, uint64 or bits of doubles; of `nearest` alone, and
  // the largest number or NaN without a build row.
  std::span<const std::uint64_t> distances() const noexcept { return distances_; }

  // What the indexed side is.
  const join_info& info() const;
  // Which table is indexed.
  join_side side() const noexcept { return side_; }
  // What was spent so far; its `write_ms` is left to others.
  join_costs costs() const;

 private:
  void build();
  std::unique_ptr<joined> match_batch(std::uint64_t first, std::uint64_t count, join_kind kind);
  join_kind without_unmatched() const;
  void keep_unmatched(const joined& found);
  void match_closest(progress_bar& bar);
  void match_nearest(progress_bar& bar);
  void closest_rows(progress_bar& bar, const row_taker& take) const;
  void rows_of(const joined& found, std::uint64_t first_probe, progress_bar& bar,
               const row_taker& take);
  void unmatched_rows(progress_bar& bar, const row_taker& take) const;

  const session& on_;
  const join_request& asked_;
  const join_inputs& in_;
  join_side side_;
  tracking_resource build_memory_;
  tracking_resource lookup_memory_;
  context builds_;
  context lookups_;
  join_costs costs_;
  key_parts probe_, probe_upper_, probe_by_;  // on the host: of the side that is looked up
  std::optional<placed_key> key_, by_, upper_;
  std::unique_ptr<join> equal_;
  std::unique_ptr<range_join> ranges_;
  std::unique_ptr<interval_join> intervals_;
  std::unique_ptr<inequality_join> inequalities_;
  std::unique_ptr<asof_join> closest_;
  std::unique_ptr<nearest_join> nearest_;
  // What was found, for each batch of probes.
  std::vector<std::unique_ptr<joined>> found_;
  std::vector<std::uint64_t> unmatched_;     // build rows without a match in any batch, ascending
  std::vector<std::uint64_t> closest_rows_;  // a build row a probe, or, of `nearest`, several
  std::vector<std::uint64_t> closest_probes_, distances_;  // beside these
  std::uint64_t size_ = 0;
};

}  // namespace raydex::cli
