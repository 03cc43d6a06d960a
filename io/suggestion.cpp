// SPDX-License-Identifier: Apache-2.0
#include "io/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include "io/quoted.hpp"

namespace raydex::io {

namespace {

std::string lower(std::string_view word) {
  std::string lowered(word);
  for (char& c : lowered)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

// The restricted Damerau-Levenshtein distance.
std::size_t changes_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
  }
  return now[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  // Nobody mistypes a word as long as that.
  constexpr std::size_t longest = 64;
  if (word.size() > longest) return {};
  const std::string meant = lower(word);
  // What it is called elsewhere is spelt unlike the word that is meant.
  constexpr std::pair<std::string_view, std::string_view> others[] = {{"gpu", "cuda"},
                                                                      {"outer", "full"}};
  for (const auto& [other, own] : others)
    if (meant == other && std::ranges::find(known, own) != known.end()) return std::string(own);
  std::size_t fewest = (word.size() + 2) / 3 + 1;
  std::string found;
  for (const std::string& one : known) {
    if (one.size() > longest) continue;
    const std::size_t changes = changes_between(meant, lower(one));
    if (changes >= fewest) continue;
    fewest = changes;
    found = one;
  }
  return found;
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? meant : fmt::format("; did you mean {}?", in_quotes(meant));
}

}  // namespace raydex::io
