// SPDX-License-Identifier: Apache-2.0
#include "lab/experiment.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "raydex/error.hpp"

namespace raydex::bench {

static std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<io::structure_choice> parse_candidates(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  std::vector<io::structure_choice> all{{.structure = std::string(words.front()), .options = {}}};
  for (const std::string_view word : std::span(words).subspan(1)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw invalid_argument(fmt::format("option '{}' is not of the form name=value", word));
    }
    std::vector<io::structure_choice> more;
    for (const io::structure_choice& base : all) {
      for (const std::string_view value : split(word.substr(equals + 1), ',')) {
        more.push_back(base);
        more.back().options[std::string(word.substr(0, equals))] = value;
      }
    }
    all = std::move(more);
  }
  return all;
}

std::string to_text(const option_map& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

}  // namespace raydex::bench
