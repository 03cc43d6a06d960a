// SPDX-License-Identifier: Apache-2.0
// What a join answers of each probe row in place of rows.
#include "apps/cli/join_answers.hpp"

#include <span>
#include <variant>

#include "apps/cli/batches.hpp"
#include "io/wall_clock.hpp"
#include "raydex/index.hpp"

namespace raydex::cli {

namespace {

template <class T>
std::span<T> cells_as(buffer<std::byte>& cells) {
  return {reinterpret_cast<T*>(cells.data()), cells.size() / sizeof(T)};
}

}  // namespace

join_answers::join_answers(const session& on, const join_request& request, const join_inputs& in,
                           bool counts_values)
    : on_(on),
      asked_(request),
      in_(in),
      build_memory_(context(on).memory),
      lookup_memory_(context(on).memory),
      lookups_{lookup_memory_, context(on).stream},
      counts_values_(counts_values) {
  const context builds{build_memory_, context(on).stream};
  const placed_key key(on, views_of(in.build));
  by_.emplace(on, views_of(in.build_by));
  costs_.build_ms = io::wall_milliseconds(on, [&] {
    if (request.method == join_method::coverage) {
      const placed_key upper(on, views_of(in.build_upper));
      covered_ = build_interval_coverage(on.where(), builds, first_column(key.view()),
                                         first_column(upper.view()), by_->view());
      return;
    }
    std::optional<placed_column> values;
    std::optional<column> present;
    if (in.values) present = values.emplace(on, in.values->view()).view();
    const bool sums = request.aggregate <= window_aggregate::mean;
    const bool maxima = request.aggregate == window_aggregate::maximum ||
                        request.aggregate == window_aggregate::argmax;
    const bool minima = !sums && !maxima && request.aggregate != window_aggregate::count;
    windows_ = build_window_join(on.where(), builds, first_column(key.view()), by_->view(), present,
                                 {.sums = sums, .minima = minima, .maxima = maxima});
  });
  costs_.build_peak_bytes = build_memory_.peak();
  format_ = format_of_answers();
  counts_values_ = counts_values_ && windows_ && request.aggregate != window_aggregate::sum &&
                   request.aggregate != window_aggregate::count;
}

key_format join_answers::format_of_answers() const {
  if (covered_) return format_of<std::uint64_t>;
  switch (asked_.aggregate) {
    case window_aggregate::mean:
      return format_of<double>;
    case window_aggregate::count:
    case window_aggregate::argmin:
    case window_aggregate::argmax:
      return format_of<std::uint64_t>;
    case window_aggregate::sum:
      break;
    default:
      return in_.values->format;
  }
  switch (in_.values->format.type) {
    case key_type::int32:
    case key_type::int64:
      return format_of<std::int64_t>;
    case key_type::float32:
    case key_type::float64:
      return format_of<double>;
    default:
      return format_of<std::uint64_t>;
  }
}

std::optional<std::uint64_t> join_answers::none() const {
  const bool is_row = windows_ && (asked_.aggregate == window_aggregate::argmin ||
                                   asked_.aggregate == window_aggregate::argmax);
  return is_row ? std::optional(not_found<std::uint64_t>) : std::nullopt;
}

join_costs join_answers::costs() const {
  join_costs all = costs_;
  all.lookup_peak_bytes = lookup_memory_.peak();
  return all;
}

void join_answers::match(progress_bar& bar) {
  const key_parts probe = views_of(in_.probe);
  const key_parts probe_upper = views_of(in_.probe_upper);
  const key_parts probe_by = views_of(in_.probe_by);
  for_each_batch(in_.probe_rows(), bar, [&](std::uint64_t first, std::uint64_t count) {
    const placed_key placed(on_, slice(probe, first, count));
    const placed_key upper(on_, slice(probe_upper, first, count));
    const placed_key by(on_, slice(probe_by, first, count));
    buffer<std::byte> out(on_, count * format_.width);
    std::unique_ptr<windowed> found;
    costs_.match_ms += io::wall_milliseconds(on_, [&] {
      if (covered_) {
        covered_->match(lookups_, first_column(placed.view()), first_column(upper.view()),
                        by.view(), cells_as<std::uint64_t>(out));
      } else {
        found = windows_->match(lookups_, first_column(placed.view()), by.view(), asked_.window);
        add(*found, out);
      }
    });
    if (counts_values_) add_counts(*found, count);
    const std::vector<std::byte> cells = on_.download(out);
    cells_.insert(cells_.end(), cells.begin(), cells.end());
  });
}

void join_answers::add_counts(const windowed& found, std::uint64_t count) {
  buffer<std::uint64_t> counts(on_, count);
  found.count(lookups_, counts);
  const std::vector<std::uint64_t> counted = on_.download(counts);
  value_counts_.insert(value_counts_.end(), counted.begin(), counted.end());
}

void join_answers::add(const windowed& found, buffer<std::byte>& out) {
  const value_span values(format_, out.data(), out.size() / format_.width);
  const row_id_span rows(row_id_type::uint64, out.data(), values.size);
  switch (asked_.aggregate) {
    case window_aggregate::sum:
      if (format_.type == key_type::int64) return found.sum(lookups_, cells_as<std::int64_t>(out));
      if (format_.type == key_type::float64) return found.sum(lookups_, cells_as<double>(out));
      return found.sum(lookups_, cells_as<std::uint64_t>(out));
    case window_aggregate::mean:
      return found.mean(lookups_, cells_as<double>(out));
    case window_aggregate::count:
      return found.count(lookups_, cells_as<std::uint64_t>(out));
    case window_aggregate::minimum:
      return found.minimum(lookups_, values);
    case window_aggregate::maximum:
      return found.maximum(lookups_, values);
    case window_aggregate::first:
      return found.first(lookups_, values);
    case window_aggregate::last:
      return found.last(lookups_, values);
    case window_aggregate::argmin:
      return found.argmin(lookups_, rows);
    case window_aggregate::argmax:
      return found.argmax(lookups_, rows);
  }
}

}  // namespace raydex::cli
