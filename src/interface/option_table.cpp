// SPDX-License-Identifier: Apache-2.0
#include "src/interface/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "raydex/error.hpp"

namespace raydex {

namespace {

const option_word* word_of(const option_entry& entry, std::int64_t value) {
  const auto found = std::ranges::find(entry.words(), value, &option_word::value);
  return found == entry.words().end() ? nullptr : &*found;
}

// The value as a text; empty for one that is not set and that no word stands for.
std::string text_of(const option_entry& entry, const void* options) {
  if (entry.text != nullptr) return entry.text(options);
  const std::int64_t value = entry.get(options);
  if (const option_word* const word = word_of(entry, value)) return std::string(word->word);
  return value == not_given ? std::string() : fmt::format("{}", value);
}

// Whether an option belongs to the others as they are.
bool applies(option_entries entries, const option_entry& entry, const void* options) {
  if (entry.only_with.empty()) return true;
  const std::size_t middle = entry.only_with.find('=');
  const auto other =
      std::ranges::find(entries, entry.only_with.substr(0, middle), &option_entry::name);
  return text_of(*other, options) == entry.only_with.substr(middle + 1);
}

bool has_numbers(const option_entry& entry) {
  return entry.numbers.least <= entry.numbers.most;
}

bool is_legal(const option_entry& entry, std::int64_t value) {
  const auto& [least, most, powers] = entry.numbers;
  return has_numbers(entry) && value >= least && value <= most &&
         (!powers || std::has_single_bit(static_cast<std::uint64_t>(value)));
}

std::vector<std::string> words_of(const option_entry& entry) {
  std::vector<std::string> all;
  for (const option_word& each : entry.words())
    all.emplace_back(each.word);
  return all;
}

// Legal numbers one by one, where there are few.
std::vector<std::string> few_numbers(const option_entry& entry) {
  std::vector<std::string> all;
  if (!entry.numbers.powers_of_two || entry.numbers.most / entry.numbers.least > 8) return all;
  for (unsigned each = entry.numbers.least; each <= entry.numbers.most; each *= 2)
    all.push_back(fmt::format("{}", each));
  return all;
}

// What is legal, in words: `auto, 1 to 4096`.
std::string legal_text(const option_entry& entry) {
  std::vector<std::string> all = words_of(entry);
  std::vector<std::string> few = few_numbers(entry);
  if (!few.empty()) {
    all.insert(all.end(), few.begin(), few.end());
  } else if (has_numbers(entry)) {
    all.push_back(fmt::format("{} to {}", entry.numbers.least, entry.numbers.most));
    if (entry.numbers.powers_of_two) all.emplace_back("powers of 2");
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

// Refuses a number.
[[noreturn]] void refuse(const option_entry& entry, std::int64_t value) {
  const auto& [least, most, powers] = entry.numbers;
  if (!has_numbers(entry)) {
    throw invalid_argument(
        fmt::format("option {}: choice {} is not one of {}", entry.name, value, legal_text(entry)));
  }
  const std::vector<std::string> words = words_of(entry);
  const std::string besides =
      words.empty() ? "" : fmt::format("{}, nor ", fmt::join(words, ", nor "));
  const std::vector<std::string> few = few_numbers(entry);
  throw invalid_argument(fmt::format(
      "option {}: {} is not {}{}", entry.name, value, besides,
      !few.empty() ? fmt::format("one of {}", fmt::join(few, ", "))
                   : fmt::format("{}from {} to {}", powers ? "a power of 2 " : "", least, most)));
}

void read_option(const option_entry& entry, std::string_view text, void* options) {
  const auto word = std::ranges::find(entry.words(), text, &option_word::word);
  if (word != entry.words().end()) return entry.set(options, word->value);
  if (entry.read != nullptr) {
    if (entry.read(options, text)) return;
    throw invalid_argument(
        fmt::format("option {}: '{}' is not like {}", entry.name, text, entry.like));
  }
  if (!has_numbers(entry)) {
    throw invalid_argument(
        fmt::format("option {}: '{}' is not one of {}", entry.name, text, legal_text(entry)));
  }
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw invalid_argument(fmt::format("option {}: '{}' is not a number; legal: {}", entry.name,
                                       text, legal_text(entry)));
  }
  // A number that a word stands for is said by that word only.
  if (!is_legal(entry, number)) refuse(entry, number);
  entry.set(options, number);
}

}  // namespace

void read_options(std::string_view structure, option_entries entries, const option_map& texts,
                  void* options) {
  const auto unknown = [&](std::string_view name) {
    std::vector<std::string> all;
    for (const option_entry& entry : entries) {
      if (entry.is_former()) continue;
      const std::string_view other = entry.only_with.substr(entry.only_with.find('=') + 1);
      const std::string with = other.empty() ? "" : fmt::format(" (for {})", other);
      all.push_back(fmt::format("{}={}{}", entry.name, values_of(entry), with));
    }
    return invalid_argument(
        fmt::format("option '{}': {} has {}", name, structure, fmt::join(all, ", ")));
  };
  // In the order of the table, where what an option belongs to stands before it.
  for (const option_entry& entry : entries) {
    const auto found = texts.find(entry.name);
    if (found == texts.end()) continue;
    if (!applies(entries, entry, options)) throw unknown(entry.name);
    read_option(entry, found->second, options);
  }
  for (const auto& [name, text] : texts) {
    if (std::ranges::find(entries, name, &option_entry::name) == entries.end()) throw unknown(name);
  }
}

void check_options(option_entries entries, const void* options) {
  for (const option_entry& entry : entries) {
    if (entry.get == nullptr) continue;
    const std::int64_t value = entry.get(options);
    if (value == not_given || word_of(entry, value) != nullptr || is_legal(entry, value)) continue;
    refuse(entry, value);
  }
}

std::string describe_options(option_entries entries, const void* options) {
  std::vector<std::string> all;
  for (const option_entry& entry : entries) {
    if (entry.is_former() || !applies(entries, entry, options)) continue;
    if (const std::string text = text_of(entry, options); !text.empty())
      all.push_back(fmt::format("{}={}", entry.name, text));
  }
  return fmt::format("{}", fmt::join(all, " "));
}

std::string values_of(const option_entry& entry) {
  std::vector<std::string> all = words_of(entry);
  const std::vector<std::string> few = few_numbers(entry);
  all.insert(all.end(), few.begin(), few.end());
  if (few.empty() && has_numbers(entry))
    all.push_back(fmt::format("{}..{}", entry.numbers.least, entry.numbers.most));
  if (entry.read != nullptr) all.emplace_back(entry.like);
  return fmt::format("{}", fmt::join(all, "|"));
}

std::vector<option_info> list_options(option_entries entries, const void* usual) {
  std::vector<option_info> all;
  for (const option_entry& entry : entries) {
    if (entry.is_former()) continue;
    all.push_back({.name = std::string(entry.name),
                   .values = values_of(entry),
                   .usual = text_of(entry, usual),
                   .meaning = std::string(entry.meaning),
                   .with = std::string(entry.only_with),
                   .of_a_paper = entry.of_a_paper,
                   .worth_trying = std::string(entry.worth_trying)});
  }
  return all;
}

option_map options_in(std::string_view text) {
  option_map all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t middle = std::min(one.find('='), one.size());
    all.emplace(one.substr(0, middle), one.substr(std::min(middle + 1, one.size())));
  }
  return all;
}

bool read_numbers(std::string_view text, std::initializer_list<unsigned*> numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (unsigned* const number : numbers) {
    const auto [next, problem] = std::from_chars(at, end, *number);
    const bool last = number == *(numbers.end() - 1);
    if (problem != std::errc() || (last ? next != end : next == end || *next != '/')) return false;
    at = last ? next : next + 1;
  }
  return true;
}

std::string numbers_text(std::initializer_list<unsigned> numbers) {
  return fmt::format("{}", fmt::join(numbers, "/"));
}

}  // namespace raydex
