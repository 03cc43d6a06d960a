// SPDX-License-Identifier: Apache-2.0
// The answers of an index, batch by batch, gathered on the host.
#include "apps/cli/answers.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/placed_column.hpp"
#include "io/known_words.hpp"
#include "io/wall_clock.hpp"
#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

bool is_signed(key_type type) {
  return type == key_type::int32 || type == key_type::int64;
}

bool is_floating(key_type type) {
  return type == key_type::float32 || type == key_type::float64;
}

key_format cell_format(const index& source, result_kind kind, const std::optional<column>& values) {
  if (kind == result_kind::count || (is_place(kind) && !is_row_id(kind)))
    return format_of<std::uint64_t>;
  if (kind == result_kind::mean) return format_of<double>;
  if (kind == result_kind::min || kind == result_kind::max) return values->format;
  if (kind == result_kind::sum) {
    if (is_signed(values->format.type)) return format_of<std::int64_t>;
    if (is_floating(values->format.type)) return format_of<double>;
    return format_of<std::uint64_t>;
  }
  return source.info().row_ids == row_id_type::uint32 ? format_of<std::uint32_t>
                                                      : format_of<std::uint64_t>;
}

template <class T>
std::span<T> as(buffer<std::byte>& cells) {
  return {reinterpret_cast<T*>(cells.data()), cells.size() / sizeof(T)};
}

}  // namespace

result_kind parse_result(std::string_view name) {
  constexpr std::pair<std::string_view, result_kind> known[] = {
      {"first", result_kind::first},
      {"count", result_kind::count},
      {"sum", result_kind::sum},
      {"mean", result_kind::mean},
      {"min", result_kind::min},
      {"max", result_kind::max},
      {"rows", result_kind::rows},
      {"rank", result_kind::rank},
      {"rank_right", result_kind::rank_right},
      {"predecessor", result_kind::predecessor},
      {"successor", result_kind::successor}};
  std::vector<std::string> words;
  for (const auto& [word, kind] : known) {
    if (word == name) return kind;
    words.emplace_back(word);
  }
  io::refuse_word("result", name, words);
}

bool is_place(result_kind kind) {
  return kind == result_kind::rank || kind == result_kind::rank_right ||
         kind == result_kind::predecessor || kind == result_kind::successor;
}

bool is_row_id(result_kind kind) {
  return kind == result_kind::first || kind == result_kind::rows ||
         kind == result_kind::predecessor || kind == result_kind::successor;
}

answers::answers(const session& on, const index& source, result_kind kind,
                 const std::optional<column>& values, const aggregate* constant, closeness which)
    : on_(on),
      memory_(context(on).memory),
      lookups_{memory_, context(on).stream},
      source_(source),
      constant_(constant),
      kind_(kind),
      values_(values),
      which_(which),
      format_(cell_format(source, kind, values)) {}

std::optional<std::uint64_t> answers::none() const noexcept {
  if (kind_ != result_kind::first && !is_place(kind_)) return std::nullopt;
  return format_.width == 4 ? not_found<std::uint32_t> : not_found<std::uint64_t>;
}

void answers::count_values() {
  counts_values_ =
      kind_ == result_kind::mean || kind_ == result_kind::min || kind_ == result_kind::max;
}

void answers::add(const probes& batch) {
  if (kind_ == result_kind::rows) {
    add_rows(batch);
  } else {
    add_cells(batch);
  }
}

void answers::add_cells(const probes& batch) {
  buffer<std::byte> out(on_, batch.size() * format_.width);
  lookup_ms_ += io::wall_milliseconds(on_, [&] {
    if (constant_ != nullptr) {
      add_aggregates(batch, out);
    } else if (kind_ == result_kind::first) {
      source_.first(lookups_, batch, {source_.info().row_ids, out.data(), batch.size()});
    } else if (is_place(kind_)) {
      add_places(batch, out);
    } else if (kind_ == result_kind::count) {
      source_.count(lookups_, batch, as<std::uint64_t>(out));
    } else {
      add_sums(batch, out);
    }
  });
  const std::size_t before = cells_.size();
  cells_.resize(before + out.bytes());
  on_.copy_out(cells_.data() + before, out.data(), out.bytes());
  if (!counts_values_) return;
  buffer<std::uint64_t> counts(on_, batch.size());
  constant_->count_values(lookups_, batch, counts);
  const std::vector<std::uint64_t> counted = on_.download(counts);
  value_counts_.insert(value_counts_.end(), counted.begin(), counted.end());
}

void answers::add_places(const probes& batch, buffer<std::byte>& out) {
  const row_id_span rows{source_.info().row_ids, out.data(), batch.size()};
  switch (kind_) {
    case result_kind::rank:
      return source_.rank(lookups_, batch, as<std::uint64_t>(out));
    case result_kind::rank_right:
      return source_.rank_right(lookups_, batch, as<std::uint64_t>(out));
    case result_kind::predecessor:
      return source_.predecessor(lookups_, batch, rows, which_);
    default:
      return source_.successor(lookups_, batch, rows, which_);
  }
}

void answers::add_sums(const probes& batch, buffer<std::byte>& out) {
  if (is_signed(values_->format.type)) {
    source_.sum(lookups_, batch, *values_, as<std::int64_t>(out));
  } else if (is_floating(values_->format.type)) {
    source_.sum(lookups_, batch, *values_, as<double>(out));
  } else {
    source_.sum(lookups_, batch, *values_, as<std::uint64_t>(out));
  }
}

void answers::add_aggregates(const probes& batch, buffer<std::byte>& out) {
  const value_span extremes{format_, out.data(), batch.size()};
  switch (kind_) {
    case result_kind::first:
      return constant_->first(lookups_, batch, {source_.info().row_ids, out.data(), batch.size()});
    case result_kind::count:
      return constant_->count(lookups_, batch, as<std::uint64_t>(out));
    case result_kind::mean:
      return constant_->mean(lookups_, batch, as<double>(out));
    case result_kind::min:
      return constant_->minimum(lookups_, batch, extremes);
    case result_kind::max:
      return constant_->maximum(lookups_, batch, extremes);
    default:
      break;
  }
  if (is_signed(values_->format.type)) {
    constant_->sum(lookups_, batch, as<std::int64_t>(out));
  } else if (is_floating(values_->format.type)) {
    constant_->sum(lookups_, batch, as<double>(out));
  } else {
    constant_->sum(lookups_, batch, as<std::uint64_t>(out));
  }
}

void answers::add_rows(const probes& batch) {
  matches found;
  lookup_ms_ += io::wall_milliseconds(on_, [&] { found = source_.rows(lookups_, batch); });
  gather(on_.download(found.offsets), found.rows);
}

void answers::gather(const std::vector<std::uint64_t>& offsets, const buffer<std::byte>& rows) {
  const std::uint64_t base = offsets_.back();
  offsets_.reserve(offsets_.size() + offsets.size() - 1);
  for (std::size_t i = 1; i < offsets.size(); ++i)
    offsets_.push_back(base + offsets[i]);
  const std::size_t before = cells_.size();
  cells_.resize(before + rows.bytes());
  on_.copy_out(cells_.data() + before, rows.data(), rows.bytes());
}

void answers::add_rows(const probes& batch, std::uint64_t at_a_time,
                       const std::function<void()>& write) {
  const auto write_all = [&] {
    write();
    offsets_ = {0};
    cells_.clear();
  };
  buffer<std::uint64_t> offsets(on_, batch.size() + 1);
  lookup_ms_ += io::wall_milliseconds(on_, [&] { source_.offsets(lookups_, batch, offsets); });
  const std::vector<std::uint64_t> begins = on_.download(offsets);
  if (begins.back() <= at_a_time) {
    buffer<std::byte> rows(lookups_, begins.back() * format_.width);
    lookup_ms_ += io::wall_milliseconds(on_, [&] {
      source_.rows(lookups_, batch, offsets,
                   row_id_span{source_.info().row_ids, rows.data(), begins.back()});
    });
    gather(begins, rows);
    return write_all();
  }
  constexpr std::uint64_t step = 8;  // probes: bitmaps can be cut there
  for (std::uint64_t first = 0; first < batch.size();) {
    std::uint64_t end = std::min(first + step, batch.size());
    while (end < batch.size()) {
      const std::uint64_t next = std::min(end + step, batch.size());
      if (begins[next] - begins[first] > at_a_time) break;
      end = next;
    }
    add_rows(slice(batch, first, end - first));
    write_all();
    first = end;
  }
}

}  // namespace raydex::cli
