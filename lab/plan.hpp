// SPDX-License-Identifier: Apache-2.0
/// @file
/// From experiments to measurements.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "io/speed_cache.hpp"
#include "lab/experiment.hpp"
#include "lab/family.hpp"

namespace raydex::bench {

/// A measurement, and who wants it.
template <family Family>
struct task {
  typename Family::result kind;
  io::structure_choice who;
  std::vector<std::string> experiments{};  ///< names
};

/// A workload with all measurements on it.
template <family Family>
struct measured_workload {
  typename Family::workload spec;
  std::vector<task<Family>> tasks{};
};

/// The entry of a list that `same` holds for, made if there is none.
template <class Entry, class Same>
Entry& find_or_add(std::vector<Entry>& all, Entry entry, const Same& same) {
  const auto found = std::ranges::find_if(all, same);
  return found != all.end() ? *found : all.emplace_back(std::move(entry));
}

/// The measurements of a family in all experiments, each once, by workload, so that its data are
/// generated once. Throws `invalid_argument`.
template <family Family>
std::vector<measured_workload<Family>> plan(const std::vector<experiment>& chosen) {
  std::vector<measured_workload<Family>> workloads;
  for (const experiment& e : chosen) {
    for (const trial& part : e.trials) {
      std::vector<io::structure_choice> candidates;
      for (const std::string& text : part.candidates) {
        std::ranges::copy_if(parse_candidates(text), std::back_inserter(candidates), Family::has,
                             &io::structure_choice::structure);
      }
      if (candidates.empty()) continue;
      const auto results = Family::parse_results(part.results);
      for (const auto& spec : Family::sweep(part.workloads)) {
        measured_workload<Family>& entry =
            find_or_add(workloads, {spec}, [&](const auto& s) { return s.spec == spec; });
        for (const auto kind : results) {
          for (const io::structure_choice& who : candidates) {
            task<Family>& wanted = find_or_add(entry.tasks, {kind, who}, [&](const auto& t) {
              return t.kind == kind && t.who == who;
            });
            if (std::ranges::find(wanted.experiments, e.name) == wanted.experiments.end())
              wanted.experiments.push_back(e.name);
          }
        }
      }
    }
  }
  return workloads;
}

}  // namespace raydex::bench
