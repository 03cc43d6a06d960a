// SPDX-License-Identifier: Apache-2.0
// Keys of several columns, and of strings of any length, as numbers that an index takes.
#include "apps/cli/packed_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

// Numbers as a column that shares them.
io::host_column shared(packed_keys numbers) {
  const auto all = std::make_shared<packed_keys>(std::move(numbers));
  const column view = all->view();
  return {.format = view.format,
          .size = view.size,
          .stride = 0,
          .cells = {all, static_cast<const std::byte*>(view.data)},
          .validity = {all->validity.data(), all->validity.data() + all->validity.size()}};
}

// The bits of so many rows of two columns, one behind the other; none where all have a value.
template <class Part>
std::vector<std::uint8_t> bits_of_both(const Part& first, const Part& second) {
  if (first.validity.empty() && second.validity.empty()) return {};
  std::vector<std::uint8_t> bits((first.size + second.size + 7) / 8);
  for (std::uint64_t row = 0; row < first.size + second.size; ++row) {
    const bool is_there =
        row < first.size ? first.has_value(row) : second.has_value(row - first.size);
    bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | is_there << row % 8);
  }
  return bits;
}

// Two columns of one format, one behind the other.
io::host_key_part both(const io::host_column& first, const io::host_column& second) {
  const std::uint64_t width = first.format.width;
  const std::shared_ptr<std::byte[]> cells =
      std::make_unique<std::byte[]>((first.size + second.size) * width);
  std::byte* to = cells.get();
  for (const io::host_column* from : {&first, &second})
    for (std::uint64_t row = 0; row < from->size; ++row, to += width)
      std::memcpy(to, from->cells.get() + row * from->view().step(), width);
  return io::host_column{.format = first.format,
                         .size = first.size + second.size,
                         .stride = 0,
                         .cells = {cells, cells.get()},
                         .validity = bits_of_both(first, second)};
}

// The same of strings.
io::host_key_part both(const io::host_strings& first, const io::host_strings& second) {
  const std::uint64_t end = first.offsets.back();
  const std::shared_ptr<char[]> bytes = std::make_unique<char[]>(end + second.offsets.back() + 1);
  std::copy_n(first.bytes.get(), end, bytes.get());
  std::copy_n(second.bytes.get(), second.offsets.back(), bytes.get() + end);
  std::vector<std::uint64_t> offsets = first.offsets;
  for (std::uint64_t row = 1; row <= second.size; ++row)
    offsets.push_back(end + second.offsets[row]);
  return io::host_strings{.size = first.size + second.size,
                          .bytes = {bytes, bytes.get()},
                          .offsets = std::move(offsets),
                          .validity = bits_of_both(first, second)};
}

std::vector<io::host_key_part> both(const std::vector<io::host_key_part>& first,
                                    const std::vector<io::host_key_part>& second) {
  std::vector<io::host_key_part> columns;
  for (std::size_t p = 0; p < first.size(); ++p) {
    std::visit(
        [&](const auto& own) {
          columns.push_back(both(own, std::get<std::decay_t<decltype(own)>>(second[p])));
        },
        first[p]);
  }
  return columns;
}

// `count` rows from `begin` on, which need not be a multiple of 8.
io::host_column part_of(const io::host_column& all, std::uint64_t begin, std::uint64_t count) {
  io::host_column part = all;
  part.size = count;
  part.cells = {all.cells, all.cells.get() + begin * all.format.width};
  if (all.validity.empty()) return part;
  part.validity.assign((count + 7) / 8, 0);
  for (std::uint64_t row = 0; row < count; ++row) {
    part.validity[row / 8] =
        static_cast<std::uint8_t>(part.validity[row / 8] | all.has_value(begin + row) << row % 8);
  }
  return part;
}

// Which numbers of a dictionary, those of keys are odd, are the closest ones on a side.
template <class Number>
void take_closest(buffer<Number>& numbers, closest_number which) {
  for (std::uint64_t i = 0; i < numbers.size(); ++i) {
    Number& one = numbers.data()[i];
    if (which == closest_number::above) one += one & 1;
    if (which == closest_number::below) one -= one & 1;
  }
}

}  // namespace

packed_key::packed_key(const std::vector<io::host_key_part>& keys,
                       const std::vector<io::host_key_part>& inserted)
    : on_(backend::cpu) {
  std::vector<io::host_key_part> all;
  if (!inserted.empty()) all = both(keys, inserted);
  const key_parts views = views_of(inserted.empty() ? keys : all);
  packed_keys rows;
  if (views.size() == 1 && std::holds_alternative<string_column>(views[0])) {
    words_.emplace(on_.where(), on_, views[0]);
    rows = words_->numbers(on_, views[0]);
  } else {
    const std::vector<composite_column> columns(views.begin(), views.end());
    columns_.emplace(on_.where(), on_, columns, &rows);
  }
  keys_ = shared(std::move(rows));
  if (inserted.empty()) return;
  const std::uint64_t size = io::size_of(keys.front());
  inserted_ = part_of(keys_, size, keys_.size - size);
  keys_ = part_of(keys_, 0, size);
}

packed_key::packed_key(const kept_key& kept, const std::string& path, key_format format)
    : on_(backend::cpu) {
  const auto refuse = [&](const std::string& why) {
    throw invalid_argument(
        fmt::format("{}: section 'note': it is none of an index: {}", path, why));
  };
  key_format own;
  if (kept.words) {
    words_.emplace(on_.where(), on_, kept.words->view());
    if (words_->size() != kept.words->size) refuse("strings that are not different");
    own = words_->numbers(on_, kept.words->view()).format;
  } else {
    try {
      columns_.emplace(on_.where(), kept.parts);
    } catch (const invalid_argument& problem) {
      refuse(problem.what());
    }
    own = columns_->format();
  }
  if (own != format) refuse("columns of other keys");
}

bool packed_key::holds(const std::vector<io::host_key_part>& rows) const {
  const key_parts columns = views_of(rows);
  return words_ ? words_->holds(on_, columns.front()) : columns_->holds(on_, columns);
}

std::unique_ptr<index> packed_key::grow(const index& over,
                                        const std::vector<io::host_key_part>& rows,
                                        const io::host_column& row_ids) {
  const key_parts columns = views_of(rows);
  if (words_) {
    grown_dictionary made = words_->grown(on_, over, columns.front(), row_ids.view());
    words_ = std::move(made.words);
    return std::move(made.over);
  }
  grown_index made = columns_->grown(on_, over, columns, row_ids.view());
  columns_ = std::move(made.keys);
  return std::move(made.over);
}

io::host_column packed_key::inserted(const std::vector<io::host_key_part>& rows) const {
  const key_parts columns = views_of(rows);
  return shared(words_ ? words_->numbers(on_, columns.front()) : columns_->pack_rows(on_, columns));
}

host_probes packed_key::pack(question asks, const std::vector<io::host_key_part>& asked) const {
  const key_parts columns = views_of(asked);
  if (words_ && asks == question::prefixes) {
    packed_ranges found = words_->ranges_of_prefixes(on_, std::get<string_column>(columns.front()));
    return {shared(std::move(found.lower)), shared(std::move(found.upper))};
  }
  if (words_) {
    host_probes found{shared(words_->numbers(on_, columns.front()))};
    if (asks == question::ranges) found.upper = shared(words_->numbers(on_, columns.back()));
    return found;
  }
  if (asks == question::points && columns.size() == columns_->parts().size())
    return {shared(columns_->pack_points(on_, columns))};
  packed_ranges found;
  std::span<const key_part> equal = columns;
  if (asks == question::points) {
    found = columns_->pack_ranges(on_, equal);
  } else if (asks == question::prefixes) {
    equal = equal.first(columns.size() - 1);
    found = columns_->pack_prefixes(on_, equal, std::get<string_column>(columns.back()));
  } else {
    equal = equal.first(columns.size() - 2);
    found = columns_->pack_ranges(on_, equal, columns[equal.size()], columns[equal.size() + 1]);
  }
  return {shared(std::move(found.lower)), shared(std::move(found.upper))};
}

host_probes packed_key::closest(const std::vector<io::host_key_part>& points,
                                closest_number which) const {
  if (words_) {
    packed_keys numbers = words_->numbers(on_, views_of(points).front());
    take_closest(numbers.narrow, which);
    take_closest(numbers.wide, which);
    return {shared(std::move(numbers))};
  }
  return {shared(columns_->pack_closest(on_, views_of(points), which))};
}

bool packed_key::is_full() const noexcept {
  return columns_ && columns_->is_full();
}

std::uint64_t packed_key::resident_bytes() const noexcept {
  return words_ ? words_->resident_bytes() : columns_->resident_bytes();
}

bool packed_key::describe(kept_key& note) const {
  if (!words_) {
    note.parts = columns_->parts();
    return std::ranges::none_of(note.parts, &composite_part::numbered);
  }
  const auto own = std::make_shared<owned_strings>(words_->keys(on_));
  note.words.emplace(
      io::host_strings{.size = words_->size(),
                       .bytes = {own, own->bytes.data()},
                       .offsets = {own->offsets.data(), own->offsets.data() + own->offsets.size()},
                       .validity = {}});
  return true;
}

}  // namespace raydex::cli
