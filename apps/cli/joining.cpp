// SPDX-License-Identifier: Apache-2.0
// A join of two tables in host memory.
#include "apps/cli/joining.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <variant>

#include "apps/cli/batches.hpp"
#include "io/csv_lines.hpp"
#include "io/wall_clock.hpp"
#include "raydex/index.hpp"

namespace raydex::cli {

namespace {

// Rows of the join that are in the backend's memory at a time.
constexpr std::uint64_t stretch_size = std::uint64_t{1} << 22;

join_side side_of(const join_request& request, const join_inputs& in) {
  if (request.side) return *request.side;
  return in.probe_rows() < in.build_rows() ? join_side::probe : join_side::build;
}

}  // namespace

joining::joining(const session& on, const join_request& request, const join_inputs& in)
    : on_(on),
      asked_(request),
      in_(in),
      side_(side_of(request, in)),
      build_memory_(context(on).memory),
      lookup_memory_(context(on).memory),
      builds_{build_memory_, context(on).stream},
      lookups_{lookup_memory_, context(on).stream},
      probe_(views_of(side_ == join_side::probe ? in.build : in.probe)),
      probe_upper_(views_of(in.probe_upper)),
      probe_by_(views_of(in.probe_by)) {
  key_.emplace(on, views_of(side_ == join_side::probe ? in.probe : in.build));
  by_.emplace(on, views_of(in.build_by));
  costs_.build_ms = io::wall_milliseconds(on, [&] { build(); });
  costs_.build_peak_bytes = build_memory_.peak();
  // Hashed keys are compared with the columns later, and as-of joins read their times.
  const bool is_read =
      closest_ || nearest_ || (equal_ && equal_->info().keys == key_comparison::hashed);
  if (!is_read) key_.reset();
}

void joining::build() {
  const key_parts key = key_->view();
  const key_parts by = by_->view();
  const backend where = on_.where();
  switch (asked_.method) {
    case join_method::asof:
      closest_ =
          build_asof_join(where, builds_, first_column(key), by, asked_.options.missing_equal);
      return;
    case join_method::contains:
    case join_method::intervals: {
      const placed_key upper(on_, views_of(in_.build_upper));
      intervals_ = build_interval_join(where, builds_, first_column(key),
                                       first_column(upper.view()), by, asked_.closed);
      return;
    }
    case join_method::nearest:
      upper_.emplace(on_, views_of(in_.build_upper));
      nearest_ =
          build_nearest_join(where, builds_, first_column(key), first_column(upper_->view()), by);
      return;
    case join_method::compared2:
      inequalities_ = build_inequality_join(where, builds_, {first_column(key), asked_.how},
                                            {std::get<column>(key.back()), asked_.second}, by);
      return;
    default:
      if (asked_.method == join_method::equal || (by.empty() && !asked_.has_unmatched())) {
        equal_ = build_join(where, builds_, key, asked_.options);
      } else {
        ranges_ = build_range_join(where, builds_, first_column(key), by);
      }
  }
}

const join_info& joining::info() const {
  if (closest_) return closest_->info();
  if (nearest_) return nearest_->info();
  if (ranges_) return ranges_->info();
  if (inequalities_) return inequalities_->info();
  return intervals_ ? intervals_->info() : equal_->info();
}

join_costs joining::costs() const {
  join_costs all = costs_;
  all.lookup_peak_bytes = lookup_memory_.peak();
  return all;
}

std::unique_ptr<joined> joining::match_batch(std::uint64_t first, std::uint64_t count,
                                             join_kind kind) {
  const placed_key placed(on_, slice(probe_, first, count));
  const placed_key placed_upper(on_, slice(probe_upper_, first, count));
  const placed_key placed_by(on_, slice(probe_by_, first, count));
  const key_parts probe = placed.view();
  const key_parts upper = placed_upper.view();
  const key_parts by = placed_by.view();
  std::unique_ptr<joined> found;
  costs_.match_ms += io::wall_milliseconds(on_, [&] {
    switch (asked_.method) {
      case join_method::asof:
        found = closest_->match(lookups_, first_column(probe), by, asked_.asof, kind);
        break;
      case join_method::contains:
        found = intervals_->match(lookups_, first_column(probe), by, kind);
        break;
      case join_method::intervals:
        found = intervals_->match(lookups_, first_column(probe), first_column(upper), by,
                                  asked_.relation, kind);
        break;
      case join_method::compared2:
        found = inequalities_->match(lookups_, first_column(probe), std::get<column>(probe.back()),
                                     by, kind);
        break;
      case join_method::band:
        found = ranges_
                    ? ranges_->match_band(lookups_, first_column(probe), asked_.distance, by, kind)
                    : equal_->match_band(lookups_, first_column(probe), asked_.distance, kind);
        break;
      case join_method::compared:
        found = ranges_
                    ? ranges_->match_compared(lookups_, first_column(probe), asked_.how, by, kind)
                    : equal_->match_compared(lookups_, first_column(probe), asked_.how, kind);
        break;
      default:
        found = equal_->match(lookups_, probe, kind);
    }
  });
  return found;
}

void joining::match(progress_bar& bar) {
  if (closest_ && !asked_.has_neighbours) return match_closest(bar);
  if (nearest_) return match_nearest(bar);
  const std::uint64_t probes = side_ == join_side::probe ? in_.build_rows() : in_.probe_rows();
  for_each_batch(probes, bar, [&](std::uint64_t first, std::uint64_t count) {
    found_.push_back(match_batch(first, count, asked_.kind));
    if (asked_.has_unmatched()) {
      keep_unmatched(*found_.back());
      // Each batch would hold what it found of all build rows.
      if (probes > batch_size) found_.back() = match_batch(first, count, without_unmatched());
    }
    size_ += found_.back()->size() - found_.back()->unmatched();
  });
  size_ += unmatched_.size();
}

join_kind joining::without_unmatched() const {
  return asked_.kind == join_kind::full ? join_kind::left : join_kind::inner;
}

void joining::keep_unmatched(const joined& found) {
  std::vector<std::uint64_t> rows;
  const bool is_first = found_.size() == 1;
  for (std::uint64_t first = found.size() - found.unmatched(); first < found.size();) {
    const std::uint64_t count = std::min(stretch_size, found.size() - first);
    buffer<std::uint64_t> probe_rows(on_, count);
    buffer<std::uint64_t> build_rows(on_, count);
    costs_.match_ms += io::wall_milliseconds(
        on_, [&] { found.rows(lookups_, first, gather_maps(probe_rows, build_rows)); });
    for (const std::uint64_t row : on_.download(build_rows))
      if (is_first || std::ranges::binary_search(unmatched_, row)) rows.push_back(row);
    first += count;
  }
  unmatched_ = std::move(rows);
}

void joining::match_closest(progress_bar& bar) {
  size_ = in_.probe_rows();
  closest_rows_.reserve(size_);
  const bool is_narrow = in_.build_rows() < not_found<std::uint32_t>;
  const row_id_type type = is_narrow ? row_id_type::uint32 : row_id_type::uint64;
  const key_format cell = is_narrow ? format_of<std::uint32_t> : format_of<std::uint64_t>;
  for_each_batch(size_, bar, [&](std::uint64_t first, std::uint64_t count) {
    const placed_key times(on_, slice(probe_, first, count));
    const placed_key by(on_, slice(probe_by_, first, count));
    buffer<std::byte> out(on_, count * cell.width);
    costs_.match_ms += io::wall_milliseconds(on_, [&] {
      closest_->match(lookups_, first_column(times.view()), by.view(), asked_.asof,
                      {type, out.data(), count});
    });
    const std::vector<std::byte> cells = on_.download(out);
    io::for_each_cell(cell, cells, [&]<class T>(T row) {
      closest_rows_.push_back(row == not_found<T> ? not_found<std::uint64_t>
                                                  : static_cast<std::uint64_t>(row));
    });
  });
}

void joining::match_nearest(progress_bar& bar) {
  const std::uint64_t each = asked_.nearest.count;
  const key_type type = std::get<io::host_column>(in_.build.front()).format.type;
  const bool is_floating = type == key_type::float32 || type == key_type::float64;
  for_each_batch(in_.probe_rows(), bar, [&](std::uint64_t first, std::uint64_t count) {
    const placed_key lower(on_, slice(probe_, first, count));
    const placed_key upper(on_, slice(probe_upper_, first, count));
    const placed_key by(on_, slice(probe_by_, first, count));
    buffer<std::uint64_t> rows(on_, count * each);
    buffer<std::uint64_t> distances(on_, rows.size());
    costs_.match_ms += io::wall_milliseconds(on_, [&] {
      const auto match = [&]<class Distance>(Distance* out) {
        nearest_->match(lookups_, first_column(lower.view()), first_column(upper.view()), by.view(),
                        asked_.nearest, row_id_span(rows), std::span(out, distances.size()));
      };
      is_floating ? match(reinterpret_cast<double*>(distances.data())) : match(distances.data());
    });
    const std::vector<std::uint64_t> found = on_.download(rows);
    const std::vector<std::uint64_t> apart = on_.download(distances);
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      if (i % each != 0 && found[i] == not_found<std::uint64_t>) continue;
      closest_probes_.push_back(first + i / each);
      closest_rows_.push_back(found[i]);
      distances_.push_back(apart[i]);
    }
  });
  size_ = closest_rows_.size();
}

void joining::rows(progress_bar& bar, const row_taker& take) {
  if ((closest_ && !asked_.has_neighbours) || nearest_) return closest_rows(bar, take);
  std::uint64_t first_probe = 0;
  for (const std::unique_ptr<joined>& found : found_) {
    rows_of(*found, first_probe, bar, take);
    first_probe += found->probes();
  }
  unmatched_rows(bar, take);
}

void joining::unmatched_rows(progress_bar& bar, const row_taker& take) const {
  for (std::uint64_t first = 0; first < unmatched_.size(); first += stretch_size) {
    const std::uint64_t count = std::min(stretch_size, unmatched_.size() - first);
    const std::vector<std::uint64_t> no_rows(count, not_found<std::uint64_t>);
    take(no_rows, std::span(unmatched_).subspan(first, count));
    bar.advance(count);
  }
}

void joining::rows_of(const joined& found, std::uint64_t first_probe, progress_bar& bar,
                      const row_taker& take) {
  const std::uint64_t size = found.size() - found.unmatched();
  for (std::uint64_t first = 0; first < size; first += stretch_size) {
    const std::uint64_t count = std::min(stretch_size, size - first);
    buffer<std::uint64_t> probe_rows(on_, count);
    buffer<std::uint64_t> build_rows(on_, asked_.has_build_rows() ? count : 0);
    costs_.rows_ms += io::wall_milliseconds(on_, [&] {
      found.rows(lookups_, first,
                 {row_id_type::uint64, probe_rows.data(), build_rows.data(), count});
    });
    std::vector<std::uint64_t> looked_up = on_.download(probe_rows);
    for (std::uint64_t& row : looked_up)
      row += first_probe;
    const std::vector<std::uint64_t> matched = on_.download(build_rows);
    if (side_ == join_side::probe) {
      take(matched, looked_up);
    } else {
      take(looked_up, matched);
    }
    bar.advance(count);
  }
}

void joining::closest_rows(progress_bar& bar, const row_taker& take) const {
  for (std::uint64_t first = 0; first < size_; first += stretch_size) {
    const std::uint64_t count = std::min(stretch_size, size_ - first);
    std::vector<std::uint64_t> probe_rows(count);
    if (nearest_) {
      std::copy_n(closest_probes_.begin() + static_cast<std::ptrdiff_t>(first), count,
                  probe_rows.begin());
    } else {
      std::iota(probe_rows.begin(), probe_rows.end(), first);
    }
    take(probe_rows, std::span(closest_rows_).subspan(first, count));
    bar.advance(count);
  }
}

}  // namespace raydex::cli
