// SPDX-License-Identifier: Apache-2.0
#include "src/choice/paper_library.hpp"

#include <fmt/format.h>

#include <atomic>
#include <string>

#include "raydex/error.hpp"
#include "raydex/version.hpp"

namespace raydex {

namespace {

// Written while the library is loaded, by a thread that may hold the loader's lock: no other lock
// may be taken then.
std::atomic<const paper_library*> added{nullptr};

// Loads the library once. What it found missing stays missing, as long as the process lives.
const std::string& loading_problem() {
  static const std::string problem = load_papers();
  return problem;
}

}  // namespace

void add_papers(const paper_library& library) noexcept {
  if (library.version == RAYDEX_VERSION) added = &library;
}

const paper_library* find_papers() {
  if (added == nullptr) loading_problem();
  return added;
}

const paper_library& papers_for(std::string_view name) {
  if (const paper_library* const found = find_papers()) return *found;
  const std::string& problem = loading_problem();
  throw unavailable(
      fmt::format("{} is in libraydex_papers, which {}", name,
                  problem.empty() ? "is there, but of another version than libraydex" : problem));
}

const paper_builders* find_paper_builders(backend where, std::string_view name) {
  return papers_for(name).find_builders(where);
}

}  // namespace raydex
