// SPDX-License-Identifier: Apache-2.0
// What the keys of a file of an index stand for.
#include "apps/cli/kept_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "io/dtype.hpp"
#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view note_magic = "raydex python 1\n";
constexpr std::uint64_t nanoseconds_of_a_day = 86'400'000'000'000;

// Why a note is none.
[[noreturn]] void refuse_note(const std::string& why) {
  throw invalid_argument(why);
}

std::uint64_t number_at(std::string_view bytes, std::uint64_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Nanoseconds of `us`, or of `25s`, as NumPy names units; nothing if they are not so many.
std::optional<std::uint64_t> nanoseconds_of(std::string_view unit) {
  std::uint64_t step = 1;
  const auto [end, failed] = std::from_chars(unit.data(), unit.data() + unit.size(), step);
  if (failed == std::errc()) unit.remove_prefix(static_cast<std::size_t>(end - unit.data()));
  constexpr std::pair<std::string_view, std::uint64_t> known[] = {{"ns", 1},
                                                                  {"us", 1'000},
                                                                  {"ms", 1'000'000},
                                                                  {"s", 1'000'000'000},
                                                                  {"m", 60'000'000'000},
                                                                  {"h", 3'600'000'000'000},
                                                                  {"D", nanoseconds_of_a_day},
                                                                  {"W", 7 * nanoseconds_of_a_day}};
  const auto* const found =
      std::ranges::find(known, unit, &std::pair<std::string_view, std::uint64_t>::first);
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (found == std::end(known) || step == 0 || step > most / found->second) return std::nullopt;
  return step * found->second;
}

// What is between brackets at the end of `M8[us]`.
std::string_view unit_in(std::string_view text) {
  const std::size_t begin = text.find('[');
  return begin == std::string_view::npos || !text.ends_with(']')
             ? std::string_view()
             : text.substr(begin + 1, text.size() - begin - 2);
}

// A column of a note; `obstacle` gets what of it the program does not ask.
kept_column column_of(const json& kept, std::string& obstacle) {
  const std::string dtype = kept.at("dtype").is_null() ? "" : kept.at("dtype").get<std::string>();
  const auto unit = kept.at("unit").get<std::string>();
  kept_column found;
  if (dtype.empty()) {
    found.type = unit.empty() ? "strings" : unit;
    if (!unit.empty()) obstacle = "keys that are " + unit;
    return found;
  }
  const std::string kind = dtype.substr(1, 2);
  const bool is_duration = kind == "m8";
  found.format = kind == "M8" || is_duration ? format_of<std::int64_t> : io::parse_dtype(dtype);
  if (!found.format) refuse_note(fmt::format("'{}' is no type of keys", dtype));
  const bool is_zoned = unit.starts_with("datetime64[") && unit.ends_with(", tz]");
  if (kind == "M8" || unit == "date32" || is_zoned) {
    found.type = unit.empty() ? "datetime64[" + std::string(unit_in(dtype)) + "]" : unit;
    const std::string_view of_zone = unit_in(unit);
    const auto size =
        nanoseconds_of(unit == "date32" ? "D"
                       : is_zoned       ? of_zone.substr(0, of_zone.size() - sizeof ", tz" + 1)
                                        : unit_in(dtype));
    found.times = is_zoned ? io::time_kind::zoned : io::time_kind::local;
    found.unit = size.value_or(1);
    if (!size) obstacle = "keys that are " + found.type;
    return found;
  }
  found.type = !unit.empty() ? unit
               : is_duration ? "timedelta64[" + std::string(unit_in(dtype)) + "]"
                             : to_string(*found.format);
  if (!unit.empty() || is_duration) obstacle = "keys that are " + found.type;
  // Padding cannot be told from what is no text.
  if (kept.at("whole").get<bool>()) obstacle = "keys that are bytes of a fixed size";
  return found;
}

json facts_of(const kept_column& column) {
  const bool is_zoned = column.times == io::time_kind::zoned;
  json dtype = nullptr;
  if (column.format)
    dtype = column.times == io::time_kind::local ? "<M8[ns]" : io::dtype_name(*column.format);
  return {{"dtype", dtype},
          {"unit", is_zoned ? "datetime64[ns, tz]" : ""},
          {"void", false},
          {"whole", false}};
}

// Others are not converted: a floating one may be beyond all of them.
std::vector<std::uint64_t> whole_numbers(const json& kept, std::size_t count) {
  if (!kept.is_array() || kept.size() != count ||
      !std::ranges::all_of(kept, [](const json& one) { return one.is_number_unsigned(); }))
    refuse_note("numbers that are none");
  return kept.get<std::vector<std::uint64_t>>();
}

void read_composite(const json& kept, std::size_t behind, kept_key& key) {
  const json& columns = kept.at("keys");
  if (kept.contains("bytes")) {
    if (!columns.is_array() || columns.empty() || kept.at("bytes") != behind)
      refuse_note("columns without all that they are");
    for (const json& one : columns)
      key.columns.push_back(column_of(one, key.obstacle));
    key.obstacle = "columns that a dictionary numbers";
    return;
  }
  const json& spans = kept.at("spans");
  const auto descending = kept.at("descending").get<std::vector<bool>>();
  const auto missing = kept.at("missing").get<std::vector<std::string>>();
  const json& names = kept.at("names");
  const std::size_t count = columns.size();
  if (!columns.is_array() || !spans.is_array() || spans.size() != count ||
      descending.size() != count || missing.size() != count ||
      (!names.is_null() && names.size() != count))
    refuse_note("columns without all that they are");
  for (std::size_t p = 0; p < count; ++p) {
    kept_column column = column_of(columns[p], key.obstacle);
    const auto span = whole_numbers(spans[p], 4);
    if (!column.format || span[3] > 64) refuse_note("a column of no span");
    if (!names.is_null()) column.name = names[p].get<std::string>();
    if (descending[p]) key.obstacle = "columns in descending order";
    if (missing[p] != "unmatched") key.obstacle = "columns whose missing values match";
    key.parts.push_back({.format = column.format,
                         .first = span[0],
                         .last = span[1],
                         .step = span[2],
                         .bits = static_cast<unsigned>(span[3])});
    key.columns.push_back(std::move(column));
  }
}

// The strings behind a note's text.
io::host_strings read_words(std::string_view arrays, const json& sizes) {
  const auto of_both = whole_numbers(sizes, 2);
  const std::uint64_t bytes = of_both[0];
  const std::uint64_t count = of_both[1];
  if (count < 1 || count > arrays.size() / 8 || arrays.size() - 8 * count != bytes)
    refuse_note("strings that are not all there");
  io::host_strings words{.size = count - 1, .bytes = {}, .offsets = {}, .validity = {}};
  for (std::uint64_t i = 0; i < count; ++i) {
    words.offsets.push_back(number_at(arrays, 8 * i));
    if (words.offsets[i] > bytes || (i != 0 && words.offsets[i] < words.offsets[i - 1]))
      refuse_note("strings that lie nowhere");
  }
  if (words.offsets.front() != 0 || words.offsets.back() != bytes)
    refuse_note("strings that lie nowhere");
  const std::shared_ptr<char[]> own = std::make_unique<char[]>(bytes + 1);
  std::ranges::copy(arrays.substr(8 * count), own.get());
  words.bytes = {own, own.get()};
  return words;
}

// Where the text of a note begins.
constexpr std::size_t begin_of_text = note_magic.size() + sizeof(std::uint64_t);

json spans_of(const std::vector<composite_part>& parts) {
  json spans;
  for (const composite_part& part : parts)
    spans.push_back({part.first, part.last, part.step, part.bits});
  return spans;
}

json sizes_of(const io::host_strings& words) {
  return {words.offsets.back(), words.offsets.size()};
}

// What is behind the text of a note.
std::string arrays_of(const kept_key& key) {
  std::string made;
  if (!key.words) return made;
  const auto put = [&](const void* from, std::size_t bytes) {
    made.append(static_cast<const char*>(from), bytes);
  };
  put(key.words->offsets.data(), key.words->offsets.size() * sizeof(std::uint64_t));
  put(key.words->bytes.get(), key.words->offsets.back());
  return made;
}

// A note without arrays.
std::string note_in(const json& all) {
  // Names need not be UTF-8.
  std::string text = all.dump(-1, ' ', false, json::error_handler_t::replace);
  // Arrays are aligned.
  text.resize((begin_of_text + text.size() + 7) / 8 * 8 - begin_of_text, ' ');
  const std::uint64_t size = text.size();
  std::string note(note_magic);
  note.append(reinterpret_cast<const char*>(&size), sizeof size);
  return note + text;
}

// The text of a note, and what is behind it.
std::pair<json, std::string_view> parse_note(std::string_view note) {
  constexpr std::size_t begin = begin_of_text;
  const std::uint64_t size = note.size() < begin ? 0 : number_at(note, note_magic.size());
  if (note.size() < begin || size > note.size() - begin) refuse_note("it is cut off");
  return {json::parse(note.substr(begin, size)), note.substr(begin + size)};
}

kept_key read_facts(const index_file_info& of) {
  kept_key key;
  const std::string_view note = of.note;
  if (!note.starts_with(note_magic)) {  // of a program that has numbers and texts alone
    key.columns.push_back({.format = of.key, .type = to_string(of.key)});
    return key;
  }
  const auto [all, behind] = parse_note(note);
  if (all.contains("composite")) {
    read_composite(all.at("composite"), behind.size(), key);
    return key;
  }
  key.columns.push_back(column_of(all.at("key"), key.obstacle));
  const std::optional<key_format> format = key.columns.front().format;
  if (!format) key.words = read_words(behind, all.at("strings"));
  if (format ? *format != of.key
             : of.key != format_of<std::uint32_t> && of.key != format_of<std::uint64_t>)
    refuse_note("a key of another type");
  return key;
}

}  // namespace

std::string kept_key::types() const {
  std::string all;
  for (const kept_column& column : columns)
    all += (all.empty() ? "" : ",") + column.type;
  return all;
}

kept_key read_note(const std::string& path, const index_file_info& of) {
  std::string why;
  try {
    return read_facts(of);
  } catch (const nlohmann::json::exception& problem) {
    why = problem.what();
  } catch (const invalid_argument& problem) {
    why = problem.what();
  }
  throw invalid_argument(fmt::format("{}: section 'note': it is none of an index: {}", path, why));
}

std::string note_of(const kept_key& key) {
  json all;
  if (key.parts.empty()) {
    all["key"] = facts_of(key.columns.front());
    if (key.words) all["strings"] = sizes_of(*key.words);
  } else {
    json& kept = all["composite"];
    kept["names"] = nullptr;
    const bool are_named =
        std::ranges::none_of(key.columns, &std::string::empty, &kept_column::name);
    for (const kept_column& column : key.columns) {
      if (are_named) kept["names"].push_back(column.name);
      kept["keys"].push_back(facts_of(column));
    }
    kept["descending"] = std::vector<bool>(key.parts.size(), false);
    kept["missing"] = std::vector<std::string>(key.parts.size(), "unmatched");
    kept["spans"] = spans_of(key.parts);
  }
  return note_in(all) + arrays_of(key);
}

std::string repacked_note(const std::string& note, const kept_key& key) {
  json all = parse_note(note).first;
  if (key.words) {
    all["strings"] = sizes_of(*key.words);
  } else {
    all["composite"]["spans"] = spans_of(key.parts);
  }
  return note_in(all) + arrays_of(key);
}

}  // namespace raydex::cli
