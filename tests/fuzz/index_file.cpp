// SPDX-License-Identifier: Apache-2.0
// Changes to the file of an index, of minima, an aggregate or an as-of join, whose checksums are
// made right again: it answers and takes edits within its memory, or is refused.
//
// The first byte of an input says which structure. A change follows every eight bytes: four for
// where, one for what, and three for a number.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/session.hpp"
#include "tests/lookups/index_file/kept_indexes.hpp"

namespace {

using namespace raydex;
using test::bytes;

const session& host() {
  static const session at(backend::cpu);
  return at;
}

// 600 of two letters.
string_column names() {
  static const std::string letters(1200, 'a');
  static const std::vector<std::uint32_t> offsets = [] {
    std::vector<std::uint32_t> made;
    for (std::uint32_t i = 0; i <= 600; ++i)
      made.push_back(2 * i);
    return made;
  }();
  return {.bytes = letters.data(), .offsets = offsets.data(), .size = 600};
}

std::vector<bytes> files_of_all_structures() {
  std::vector<bytes> all;
  for (const test::subject& of : test::subjects(backend::cpu)) {
    for (const std::uint32_t size : {0U, 600U}) {
      std::vector<std::uint32_t> keys;
      for (std::uint32_t i = 0; i < size; ++i)
        keys.push_back(i * i % 499 * 3);
      if (of.options.contains("layout")) std::ranges::sort(keys);
      const auto cells = host().upload(keys);
      all.push_back(to_bytes(host(), *build(of.structure, backend::cpu, host(), column(cells),
                                            std::nullopt, of.options)));
    }
  }
  std::vector<float> values;
  for (int i = 0; i < 600; ++i)
    values.push_back(static_cast<float>(i * i % 499));
  for (const rmq_capability& of : rmq_capabilities()) {
    if (of.where != backend::cpu) continue;
    all.push_back(to_bytes(host(), *build_rmq(of.structure, backend::cpu, host(), column(values))));
  }
  std::vector<std::uint32_t> keys;
  for (std::uint32_t i = 0; i < 600; ++i)
    keys.push_back(i * i % 499 * 3);
  const auto over = build("pivot_tree", backend::cpu, host(), column(keys));
  all.push_back(to_bytes(host(), *build_aggregate(host(), *over, column(values))));
  all.push_back(to_bytes(
      host(), *build_asof_join(backend::cpu, host(), column(values), {column(keys), names()})));
  return all;
}

void ask_and_edit(const bytes& file) {
  const auto held = from_bytes(backend::cpu, host(), file).held;
  test::answers(host(), *held, 300);
  test::insert_and_erase<std::uint32_t>(host(), *held);
  test::answers(host(), *held, 300);
}

void ask_minima(const bytes& file) {
  const auto held = rmq_from_bytes(backend::cpu, host(), file).held;
  const std::vector<std::uint64_t> lower{0, 3, 7, 100};
  const std::vector<std::uint64_t> upper{12, 3, 900, 200};
  std::vector<std::uint64_t> positions(lower.size());
  held->position(host(), ranges(column(lower), column(upper)), positions);
}

void ask_aggregate(const bytes& file) {
  const auto [over, held, note] = aggregate_from_bytes(backend::cpu, host(), file);
  const std::vector<std::uint32_t> lower{0, 3, 7, 100};
  const std::vector<std::uint32_t> upper{12, 3, 900, 2000};
  const probes batch = ranges(column(lower), column(upper));
  std::vector<double> sums(lower.size());
  std::vector<float> extremes(lower.size());
  std::vector<std::uint32_t> rows(lower.size());
  held->sum(host(), batch, sums);
  held->minimum(host(), batch, value_span(extremes));
  held->maximum(host(), batch, value_span(extremes));
  held->first(host(), batch, rows);
}

void ask_asof_join(const bytes& file) {
  const loaded_asof_join kept = asof_join_from_bytes(backend::cpu, host(), file);
  const std::vector<float> times(600, 30);
  const std::vector<std::uint32_t> keys(600, 3);
  std::vector<std::uint32_t> rows(times.size());
  kept.held->match(host(), column(times), {column(keys), names()}, {}, rows);
}

void change(bytes& file, std::span<const std::uint8_t, 8> by) {
  std::uint32_t where = 0;
  std::memcpy(&where, by.data(), 4);
  const std::uint64_t number = by[5] | std::uint64_t{by[6]} << 8 | std::uint64_t{by[7]} << 16;
  const auto word = [&](std::uint64_t at) { return file.data() + at % (file.size() / 4) * 4; };
  std::byte* const one = word(where);
  std::uint32_t value = 0;
  std::memcpy(&value, one, 4);
  switch (by[4] % 6) {
    case 0:
      value = static_cast<std::uint32_t>(number);
      break;
    case 1:
      value += static_cast<std::uint32_t>(number);
      break;
    case 2:
      value -= static_cast<std::uint32_t>(number);
      break;
    case 3:
      value = ~static_cast<std::uint32_t>(number);
      break;
    case 4:
      value ^= std::uint32_t{1} << number % 32;
      break;
    default:
      std::swap_ranges(one, one + 4, word(where + number));
      return;
  }
  std::memcpy(one, &value, 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<bytes> files = files_of_all_structures();
  if (size == 0) return 0;
  const bytes& whole = files[data[0] % files.size()];
  bytes changed = whole;
  for (std::size_t at = 1; at + 8 <= size; at += 8)
    change(changed, std::span<const std::uint8_t, 8>(data + at, 8));
  test::file_parts parts(whole);  // says where things are, whatever is changed
  parts.become(std::move(changed));
  const bytes& file = parts.summed();
  for (const auto ask : {ask_and_edit, ask_minima, ask_aggregate, ask_asof_join}) {
    try {
      ask(file);
    } catch (const error&) {  // refused
    }
  }
  return 0;
}
