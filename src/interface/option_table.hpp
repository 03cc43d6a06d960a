// SPDX-License-Identifier: Apache-2.0
// Options by name. One table for each structure says of every option its word, its values and what
// it means. Parsing, checking, describing and listing read it, and nothing else in the library
// knows the words.
//
// An option is a member of a plain struct: a number, an enumeration, a bool, an optional of these,
// or a few numbers with slashes between them. Tables are constants; what reads them is compiled
// once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

// What an optional holds that is not set.
inline constexpr std::int64_t not_given = -1;

// A word that stands for a value.
struct option_word {
  std::string_view word;
  std::int64_t value = not_given;

  constexpr option_word() = default;
  template <class Value>
  constexpr option_word(std::string_view text, Value stands_for)
      : word(text), value(static_cast<std::int64_t>(stands_for)) {}
};

// The numbers that are legal besides words; none where `least > most`.
struct option_numbers {
  unsigned least = 1;
  unsigned most = 0;
  bool powers_of_two = false;
};

struct option_entry {
  static constexpr std::size_t most_words = 4;

  std::string_view name;
  std::string_view meaning;
  std::array<option_word, most_words> word_list = {};
  std::size_t word_count = 0;
  option_numbers numbers = {};
  // Of one value. Null for several with slashes, which have the two after them.
  std::int64_t (*get)(const void* options) = nullptr;
  void (*set)(void* options, std::int64_t value) = nullptr;
  std::string (*text)(const void* options) = nullptr;
  bool (*read)(void* options, std::string_view text) = nullptr;
  std::string_view like = {};          // an example of several numbers
  std::string_view only_with = {};     // `name=word` of the option that this one belongs to
  bool of_a_paper = false;             // only an experiment of a paper asks for it
  std::string_view worth_trying = {};  // a value that may be faster than the usual one

  constexpr std::span<const option_word> words() const { return {word_list.data(), word_count}; }
  constexpr bool is_former() const { return get == nullptr && read == nullptr; }
};

// A structure and its options.
template <class Options, std::size_t N>
struct option_table {
  structure_facts facts;
  std::array<option_entry, N> entries;
};

namespace options_detail {

template <class T>
std::int64_t to_number(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? to_number(*value) : not_given;
  } else {
    return static_cast<std::int64_t>(value);
  }
}

template <class T>
void from_number(T& to, std::int64_t number) {
  if constexpr (requires { to.has_value(); }) {
    if (number == not_given) {
      to.reset();
    } else {
      from_number(to.emplace(), number);
    }
  } else {
    to = static_cast<T>(number);
  }
}

template <class Member>
struct owner_of;
template <class Owner, class T>
struct owner_of<T Owner::*> {
  using type = Owner;
};

// The member at the end of a path of members.
template <auto First, auto... Rest>
auto& member(auto& options) {
  if constexpr (sizeof...(Rest) == 0) {
    return options.*First;
  } else {
    return member<Rest...>(options.*First);
  }
}

template <auto First, auto... Rest>
std::int64_t get(const void* options) {
  using owner = typename owner_of<decltype(First)>::type;
  return to_number(member<First, Rest...>(*static_cast<const owner*>(options)));
}
template <auto First, auto... Rest>
void set(void* options, std::int64_t value) {
  using owner = typename owner_of<decltype(First)>::type;
  from_number(member<First, Rest...>(*static_cast<owner*>(options)), value);
}

}  // namespace options_detail

// An option with words, numbers, or both. `Path`: its member, after those that it lies in.
template <auto... Path>
constexpr option_entry option(std::string_view name, std::initializer_list<option_word> words,
                              option_numbers numbers, std::string_view meaning) {
  option_entry made{.name = name,
                    .meaning = meaning,
                    .numbers = numbers,
                    .get = options_detail::get<Path...>,
                    .set = options_detail::set<Path...>};
  for (const option_word& word : words)
    made.word_list.at(made.word_count++) = word;
  return made;
}
template <auto... Path>
constexpr option_entry choice(std::string_view name, std::initializer_list<option_word> words,
                              std::string_view meaning) {
  return option<Path...>(name, words, {}, meaning);
}
template <auto... Path>
constexpr option_entry number(std::string_view name, option_numbers numbers,
                              std::string_view meaning) {
  return option<Path...>(name, {}, numbers, meaning);
}

// An option that is gone: words that scripts may have and that lose nothing are taken, and change
// nothing. Nobody is told of it.
constexpr option_entry former_option(std::string_view name,
                                     std::initializer_list<std::string_view> words) {
  option_entry made{.name = name, .meaning = {}, .set = [](void*, std::int64_t) {}};
  for (const std::string_view word : words)
    made.word_list.at(made.word_count++) = {word, 0};
  return made;
}

constexpr option_entry only_with(std::string_view other, option_entry entry) {
  entry.only_with = other;
  return entry;
}
template <std::size_t N>
constexpr auto all_only_with(std::string_view other, std::array<option_entry, N> entries) {
  for (option_entry& entry : entries)
    entry.only_with = other;
  return entries;
}
constexpr option_entry of_a_paper(option_entry entry) {
  entry.of_a_paper = true;
  return entry;
}
constexpr option_entry worth_trying(std::string_view value, option_entry entry) {
  entry.worth_trying = value;
  return entry;
}

// A table of entries and of tables that several structures share.
template <class Options, std::size_t... Sizes>
constexpr auto table_of(const structure_facts& facts,
                        const std::array<option_entry, Sizes>&... parts) {
  option_table<Options, (Sizes + ...)> all{.facts = facts, .entries = {}};
  std::size_t at = 0;
  const auto append = [&](const auto& part) {
    for (const option_entry& entry : part)
      all.entries.at(at++) = entry;
  };
  (append(parts), ...);
  return all;
}

using option_entries = std::span<const option_entry>;

// Sets options by name. Throws `invalid_argument`, which says what is legal.
RAYDEX_INTERNAL void read_options(std::string_view structure, option_entries entries,
                                  const option_map& texts, void* options);
// Throws `invalid_argument` for a value that no word or number stands for.
RAYDEX_INTERNAL void check_options(option_entries entries, const void* options);
// The options in force, as `name=value` separated by spaces.
RAYDEX_INTERNAL std::string describe_options(option_entries entries, const void* options);
// The same read again, as texts by name.
option_map options_in(std::string_view text);
// What is legal, such as `auto|1..4096`.
std::string values_of(const option_entry& entry);

// The descriptions of a table's options; `usual` are the defaults.
RAYDEX_INTERNAL std::vector<option_info> list_options(option_entries entries, const void* usual);

// Reads numbers with slashes between them, such as `23/23/18`, and writes them.
bool read_numbers(std::string_view text, std::initializer_list<unsigned*> numbers);
std::string numbers_text(std::initializer_list<unsigned> numbers);

template <class Options, std::size_t N>
Options parse(const option_table<Options, N>& table, const option_map& texts) {
  Options options;
  read_options(table.facts.name, table.entries, texts, &options);
  return options;
}
template <class Options, std::size_t N>
void check(const option_table<Options, N>& table, const Options& options) {
  check_options(table.entries, &options);
}
template <class Options, std::size_t N>
std::string describe(const option_table<Options, N>& table, const Options& options) {
  return describe_options(table.entries, &options);
}

template <class Options, std::size_t N>
std::vector<option_info> list_options(const option_table<Options, N>& table) {
  const Options usual;
  return list_options(table.entries, &usual);
}

}  // namespace raydex
