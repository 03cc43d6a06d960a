// SPDX-License-Identifier: Apache-2.0
// How columns of a key are made to take up to 64 bits: by steps, by dictionaries of columns, and by
// dictionaries of several columns at once.
#include "src/interface/packed_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/composite_numbers.hpp"

namespace raydex {

namespace {

constexpr unsigned most_bits = 64;

// Of the numbers of a column; 65 if they have more than 64.
unsigned bits_of_column(const composite_part& part) {
  const std::uint64_t last = numbered(part).largest();
  const bool is_beyond = last == 0 && part.first < part.last;
  return is_beyond ? most_bits + 1 : static_cast<unsigned>(std::bit_width(last));
}

// A column that is to be packed.
class packed_column {
 public:
  explicit packed_column(const composite_column& of) : cells_(of.cells) {
    if (const auto* const fixed = std::get_if<column>(&cells_)) part.format = fixed->format;
    part.descending = of.descending;
    part.missing = of.missing;
  }

  column cells() const { return numbers_ ? numbers_->view() : std::get<column>(cells_); }

  void find_steps(backend where, const context& on) {
    const column own = cells();
    operation_on(where, &operation_table::find_composite_steps)(on, {&own, 1}, {&part, 1});
    part.step = std::max(part.step, std::uint64_t{1});
    part.bits = bits_of_column(part);
  }

  void number(backend where, const context& on) {
    words.emplace(where, on, cells_, &numbers_.emplace());
    part.numbered = true;
    // Numbers are odd.
    part.first = 1;
    part.last = words->size() == 0 ? 0 : 2 * words->size() - 1;
    part.step = 2;
    part.bits = bits_of_column(part);
  }

  composite_part part;
  std::optional<key_dictionary> words;

 private:
  key_part cells_;
  std::optional<packed_keys> numbers_;
};

using packed_column_list = std::vector<packed_column>;

unsigned bits_of_all(const packed_column_list& columns, std::size_t count) {
  unsigned bits = 0;
  for (std::size_t p = 0; p < count; ++p)
    bits += columns[p].part.bits;
  return bits;
}

// The one that takes most bits, of those that are not numbered; null if all are.
packed_column* widest(packed_column_list& columns) {
  packed_column* found = nullptr;
  for (packed_column& one : columns)
    if (!one.part.numbered && (found == nullptr || one.part.bits > found->part.bits)) found = &one;
  return found;
}

// Numbers strings, and finds what other columns span.
void find_spans(backend where, const context& on, packed_column_list& columns) {
  std::vector<packed_column*> fixed;
  std::vector<column> cells;
  std::vector<composite_part> parts;
  for (packed_column& one : columns) {
    if (!one.part.format) {
      one.number(where, on);
      continue;
    }
    fixed.push_back(&one);
    cells.push_back(one.cells());
    parts.push_back(one.part);
  }
  if (fixed.empty()) return;
  operation_on(where, &operation_table::find_composite_spans)(on, cells, parts);
  for (std::size_t f = 0; f < fixed.size(); ++f) {
    fixed[f]->part = parts[f];
    fixed[f]->part.bits = bits_of_column(parts[f]);
  }
}

// Has columns take up to 64 bits, if numbers of each suffice.
void fit_columns(backend where, const context& on, packed_column_list& columns) {
  const auto fit = [&] { return bits_of_all(columns, columns.size()) <= most_bits; };
  std::vector<packed_column*> by_bits;
  for (packed_column& one : columns)
    if (!one.part.numbered) by_bits.push_back(&one);
  std::stable_sort(by_bits.begin(), by_bits.end(),
                   [](auto* a, auto* b) { return a->part.bits > b->part.bits; });
  for (packed_column* const one : by_bits) {
    if (fit()) return;
    one->find_steps(where, on);
  }
  while (!fit()) {
    packed_column* const one = widest(columns);
    if (one == nullptr) return;
    one->number(where, on);
  }
}

// A column with the span that it had before; where it goes beyond that, with as much again.
composite_part with_room(const composite_part& part, const composite_part& before) {
  const bool has_values = part.first <= part.last && before.first <= before.last;
  if (part.numbered || before.numbered || part.format != before.format || !has_values) return part;
  const std::uint64_t largest = ~std::uint64_t{0} >> (64 - 8 * part.format->width);
  std::uint64_t first = std::min(part.first, before.first);
  std::uint64_t last = std::max(part.last, before.last);
  const std::uint64_t span = last - first;
  if (part.last > before.last) last += std::min(span, largest - last);
  if (part.first < before.first) first -= std::min(span, first);
  composite_part made = part;
  made.first -= (part.first - first) / part.step * part.step;
  made.last += (last - part.last) / part.step * part.step;
  made.bits = bits_of_column(made);
  return made;
}

// Gives columns that have outgrown their spans room to grow on, where bits are left.
void leave_room(packed_column_list& columns, std::span<const composite_part> before) {
  std::vector<composite_part> parts;
  for (const packed_column& one : columns)
    parts.push_back(one.part);
  for (std::size_t p = 0; p < before.size(); ++p) {
    const composite_part tight = std::exchange(parts[p], with_room(parts[p], before[p]));
    if (bits_of(parts) > most_bits || is_full(parts)) parts[p] = tight;
    columns[p].part = parts[p];
  }
}

// The keys of rows, and what they are packed by.
std::unique_ptr<packed_columns> packed(backend where, const context& on,
                                       std::unique_ptr<packed_columns> head,
                                       packed_column_list& columns, std::size_t count,
                                       packed_keys* rows) {
  auto made = std::make_unique<packed_columns>();
  made->head = std::move(head);
  std::vector<column> cells;
  for (std::size_t p = 0; p < count; ++p) {
    made->parts.push_back(columns[p].part);
    made->words.push_back(std::move(columns[p].words));
    cells.push_back(columns[p].cells());
  }
  if (rows != nullptr)
    *rows =
        operation_on(where, &operation_table::pack_composite_keys)(on, made->parts, cells, true);
  return made;
}

[[noreturn]] void refuse(const packed_column_list& columns) {
  std::string each;
  for (const packed_column& one : columns)
    each += fmt::format("{}{}", each.empty() ? "" : " + ", one.part.bits);
  throw unsupported(fmt::format(
      "columns: by their different values they take {} = {} bits, but a key has 64; give fewer "
      "columns",
      each, bits_of_all(columns, columns.size())));
}

}  // namespace

std::unique_ptr<packed_columns> pack_columns(backend where, const context& on,
                                             std::span<const composite_column> columns,
                                             std::vector<composite_part>& parts, packed_keys* rows,
                                             std::span<const composite_part> before) {
  packed_column_list all;
  all.reserve(columns.size());
  for (const composite_column& one : columns)
    all.emplace_back(one);
  find_spans(where, on, all);
  fit_columns(where, on, all);
  leave_room(all, before);
  for (const packed_column& one : all)
    parts.push_back(one.part);
  // The first columns are numbered together, as many as fit.
  std::unique_ptr<packed_columns> head;
  packed_keys keys_of_head;
  while (bits_of_all(all, all.size()) > most_bits) {
    std::size_t first = 1;
    while (bits_of_all(all, first + 1) <= most_bits)
      ++first;
    if (first < 2) refuse(all);
    head = packed(where, on, std::move(head), all, first, &keys_of_head);
    packed_column together(keys_of_head.view());
    together.number(where, on);
    all.erase(all.begin() + 1, all.begin() + static_cast<std::ptrdiff_t>(first));
    all.front() = std::move(together);
  }
  const std::size_t left = all.size();
  return packed(where, on, std::move(head), all, left, rows);
}

bool has_span(const composite_part& part) {
  const bool is_narrow = !part.numbered && part.format->width <= 4;
  return (!is_narrow || part.last <= ~std::uint32_t{0}) && part.bits <= most_bits &&
         part.bits == bits_of_column(part);
}

std::unique_ptr<packed_columns> columns_of_parts(const std::vector<composite_part>& parts) {
  const auto is_right = [](const composite_part& one) {
    if (!one.format || one.numbered || one.missing > missing_cells::last || one.step == 0)
      return false;
    check_format("parts", *one.format);
    return has_span(one);
  };
  unsigned bits = 0;
  for (const composite_part& one : parts)
    bits += is_right(one) ? one.bits : most_bits + 1;
  if (parts.empty() || parts.size() > 16 || bits > most_bits)
    throw invalid_argument("parts: no columns are packed like this");
  auto made = std::make_unique<packed_columns>();
  made->parts = parts;
  made->words.resize(parts.size());
  return made;
}

std::uint64_t packed_columns::resident_bytes() const {
  std::uint64_t bytes = head ? head->resident_bytes() : 0;
  for (const auto& one : words)
    if (one) bytes += one->resident_bytes();
  return bytes;
}

void packed_columns::add_head(numbered_cells& to, backend where, const context& on,
                              std::span<const key_part> columns, bool are_rows) const {
  if (!head) return;
  const packed_keys keys = head->pack(where, on, columns.first(columns_of_head()), are_rows);
  to.add(words.front()->numbers(on, keys.view()));
}

void packed_columns::add_own(numbered_cells& to, const context& on,
                             std::span<const key_part> columns) const {
  for (std::size_t c = columns_of_head(); c < columns.size(); ++c) {
    const auto& own = words[part_of(c)];
    if (own) {
      to.add(own->numbers(on, columns[c]));
    } else {
      to.columns.push_back(std::get<column>(columns[c]));
    }
  }
}

packed_keys packed_columns::pack(backend where, const context& on,
                                 std::span<const key_part> columns, bool are_rows) const {
  numbered_cells cells;
  add_head(cells, where, on, columns, are_rows);
  add_own(cells, on, columns);
  return operation_on(where, &operation_table::pack_composite_keys)(on, parts, cells.columns,
                                                                    are_rows);
}

packed_ranges packed_columns::pack_ranges(backend where, const context& on,
                                          std::span<const key_part> equal,
                                          const column_bounds& bounds) const {
  const auto& pack_numbers = *operation_on(where, &operation_table::pack_composite_ranges);
  if (equal.size() < columns_of_head()) {
    const packed_ranges first = head->pack_ranges(where, on, equal, bounds);
    const packed_keys lower = words.front()->numbers(on, first.lower.view());
    const packed_keys upper = words.front()->numbers(on, first.upper.view());
    return pack_numbers(on, parts, {}, lower.view(), upper.view());
  }
  numbered_cells cells;
  add_head(cells, where, on, equal, false);
  add_own(cells, on, equal);
  packed_ranges numbers;
  const auto bound = [&](const std::optional<key_part>& given, packed_keys& to) {
    if (!given) return std::optional<column>();
    const auto& own = words[part_of(equal.size())];
    if (!own) return std::optional(std::get<column>(*given));
    to = own->numbers(on, *given);
    return std::optional(to.view());
  };
  if (bounds.prefixes) {
    numbers = words[part_of(equal.size())]->ranges_of_prefixes(on, *bounds.prefixes);
    return pack_numbers(on, parts, cells.columns, numbers.lower.view(), numbers.upper.view());
  }
  const auto lower = bound(bounds.lower, numbers.lower);
  const auto upper = bound(bounds.upper, numbers.upper);
  return pack_numbers(on, parts, cells.columns, lower, upper);
}

void packed_columns::add_needed(key_parts& to, std::span<const key_part> columns) const {
  if (head) head->add_needed(to, columns.first(std::min(columns.size(), columns_of_head())));
  for (std::size_t c = columns_of_head(); c < columns.size(); ++c)
    if (parts[part_of(c)].missing == missing_cells::unmatched) to.push_back(columns[c]);
}

// The numbers of keys of the head: odd ones of keys that it has, else those between two keys.
packed_keys packed_columns::place_of_head(backend where, const context& on,
                                          std::span<const key_part> columns,
                                          closest_number before) const {
  const packed_keys last = head->pack_closest(where, on, columns, before);
  packed_keys itself;
  const bool is_whole = columns.size() == columns_of_head();
  if (is_whole) itself = head->pack(where, on, columns, false);
  key_parts needed;
  add_needed(needed, columns);
  packed_keys numbers = words.front()->numbers(on, last.view());
  operation_on(where, &operation_table::place_among)(on, last, is_whole ? &itself : nullptr, needed,
                                                     numbers);
  return numbers;
}

packed_keys packed_columns::pack_closest(backend where, const context& on,
                                         std::span<const key_part> columns,
                                         closest_number which) const {
  numbered_cells cells;
  if (head) {
    const auto first = columns.first(std::min(columns.size(), columns_of_head()));
    // Fewer columns than the head has lie before or behind all keys that begin with them.
    const bool is_before = first.size() < columns_of_head() &&
                           (which == closest_number::below || which == closest_number::at_least);
    cells.add(place_of_head(where, on, first,
                            is_before ? closest_number::below : closest_number::at_most));
  }
  add_own(cells, on, columns);
  return operation_on(where, &operation_table::pack_closest_numbers)(on, parts, cells.columns,
                                                                     which);
}

bool packed_columns::holds(backend where, const context& on,
                           std::span<const key_part> columns) const {
  numbered_cells cells;
  if (head && !head->holds(where, on, columns.first(columns_of_head()))) return false;
  add_head(cells, where, on, columns, true);
  add_own(cells, on, columns);
  std::vector<composite_part> others(parts);
  for (composite_part& one : others) {
    one.first = 1;
    one.last = 0;
  }
  operation_on(where, &operation_table::find_composite_spans)(on, cells.columns, others);
  for (std::size_t p = 0; p < others.size(); ++p)
    if (others[p].first <= others[p].last &&
        (others[p].first < parts[p].first || others[p].last > parts[p].last))
      return false;
  const auto has_steps = [](const composite_part& part) { return part.step != 1; };
  if (std::none_of(parts.begin(), parts.end(), has_steps)) return true;
  others = parts;
  operation_on(where, &operation_table::find_composite_steps)(on, cells.columns, others);
  for (std::size_t p = 0; p < others.size(); ++p)
    if (others[p].step % parts[p].step != 0) return false;
  return true;
}

std::vector<unpacked_column> packed_columns::unpack(const host_copies& by,
                                                    buffer<std::uint64_t> keys) const {
  std::vector<unpacked_column> made;
  for (std::size_t p = parts.size(); p-- > (head ? 1U : 0U);)
    made.push_back(unpack_part(by, p, keys));
  if (head) {
    // All keys have a number of the head, since a missing one would have made them missing.
    buffer<std::uint64_t> of_head = unpack_part(by, 0, keys).codes;
    auto first = head->unpack(by, std::move(of_head));
    std::move(first.rbegin(), first.rend(), std::back_inserter(made));
  }
  std::reverse(made.begin(), made.end());
  return made;
}

// Takes the last numbers from keys, which are those of a part.
unpacked_column packed_columns::unpack_part(const host_copies& by, std::size_t p,
                                            buffer<std::uint64_t>& keys) const {
  const core::numbered_column part = numbered(parts[p]);
  unpacked_column made{parts[p].format, {by.host(), keys.size()}, {by.host(), keys.size()}, {}};
  buffer<std::uint64_t> codes_of_numbers;
  if (parts[p].numbered && parts[p].format)
    codes_of_numbers = by.fetch(words[p]->codes(by.device()));
  if (!parts[p].format) made.words = by.fetch(words[p]->keys(by.device()));
  const std::uint64_t numbers = parts[p].numbered ? words[p]->size() : 0;
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t number = part.take(keys[i]);
    const bool is_there = part.has_values && !(part.has_missing && number == part.missing);
    std::uint64_t code = is_there ? part.code(number) : 0;
    // Numbers are odd.
    if (parts[p].numbered) code /= 2;
    // An index may come from a file that somebody changed.
    if (number > part.largest() || (is_there && parts[p].numbered && code >= numbers) ||
        (p == 0 && keys[i] != 0))
      throw invalid_argument("over: some of its keys are none that these columns are packed into");
    if (is_there && codes_of_numbers.size() != 0) code = codes_of_numbers[code];
    made.codes[i] = code;
    made.there[i] = is_there ? 1 : 0;
  }
  return made;
}

}  // namespace raydex
