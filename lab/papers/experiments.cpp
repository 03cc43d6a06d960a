// SPDX-License-Identifier: Apache-2.0
#include "lab/papers/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "io/quoted.hpp"
#include "io/suggestion.hpp"
#include "lab/papers/papers.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {

static bool matches(std::string_view wanted, std::string_view name) {
  return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1))
                               : name == wanted;
}

const std::vector<experiment>& experiments() {
  static const std::vector<experiment> all = [] {
    std::vector<experiment> found;
    for (const auto paper : {papers::lightweight, papers::rx, papers::cgrx, papers::gpu_rmq})
      std::ranges::move(paper(), std::back_inserter(found));
    return found;
  }();
  return all;
}

std::vector<experiment> find_experiments(const std::vector<std::string>& names) {
  std::vector<experiment> chosen;
  for (const std::string& wanted : names) {
    const std::size_t before = chosen.size();
    std::ranges::copy_if(experiments(), std::back_inserter(chosen),
                         [&](const experiment& e) { return matches(wanted, e.name); });
    if (chosen.size() == before) {
      std::vector<std::string> known;
      for (const experiment& e : experiments())
        known.push_back(e.name);
      throw invalid_argument(
          fmt::format("--experiment: there is no {}{}; --list-experiments shows all",
                      io::in_quotes(wanted), io::suggestion(wanted, known)));
    }
  }
  return chosen;
}

}  // namespace raydex::bench
