// SPDX-License-Identifier: Apache-2.0
// The answers of an index, batch by batch, gathered on the host.
#include "apps/cli/answers.hpp"

#include <span>
#include <string>

#include "files/known_words.hpp"
#include "files/wall_clock.hpp"
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
  if (kind == result_kind::count) return format_of<std::uint64_t>;
  if (kind == result_kind::sum) {
    if (values && is_signed(values->format.type)) return format_of<std::int64_t>;
    if (values && is_floating(values->format.type)) return format_of<double>;
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
  if (name == "first") return result_kind::first;
  if (name == "count") return result_kind::count;
  if (name == "sum") return result_kind::sum;
  if (name == "rows") return result_kind::rows;
  const std::string known[] = {"first", "count", "sum", "rows"};
  io::refuse_word("result", name, known);
}

answers::answers(const session& on, const index& source, result_kind kind,
                 const std::optional<column>& values)
    : on_(on),
      memory_(context(on).memory),
      lookups_{memory_, context(on).stream},
      source_(source),
      kind_(kind),
      values_(values),
      format_(cell_format(source, kind, values)) {}

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
    if (kind_ == result_kind::first) {
      source_.first(lookups_, batch, {source_.info().row_ids, out.data(), batch.size()});
    } else if (kind_ == result_kind::count) {
      source_.count(lookups_, batch, as<std::uint64_t>(out));
    } else {
      add_sums(batch, out);
    }
  });
  const std::size_t before = cells_.size();
  cells_.resize(before + out.bytes());
  on_.copy_out(cells_.data() + before, out.data(), out.bytes());
}

void answers::add_sums(const probes& batch, buffer<std::byte>& out) {
  if (!values_) {
    source_.sum(lookups_, batch, as<std::uint64_t>(out));
  } else if (is_signed(values_->format.type)) {
    source_.sum(lookups_, batch, *values_, as<std::int64_t>(out));
  } else if (is_floating(values_->format.type)) {
    source_.sum(lookups_, batch, *values_, as<double>(out));
  } else {
    source_.sum(lookups_, batch, *values_, as<std::uint64_t>(out));
  }
}

void answers::add_rows(const probes& batch) {
  matches found;
  lookup_ms_ += io::wall_milliseconds(on_, [&] { found = source_.rows(lookups_, batch); });
  const std::uint64_t base = offsets_.back();
  const std::vector<std::uint64_t> local = on_.download(found.offsets);
  offsets_.reserve(offsets_.size() + batch.size());
  for (std::size_t i = 1; i < local.size(); ++i)
    offsets_.push_back(base + local[i]);
  const std::size_t before = cells_.size();
  cells_.resize(before + found.rows.bytes());
  on_.copy_out(cells_.data() + before, found.rows.data(), found.rows.bytes());
}

}  // namespace raydex::cli
