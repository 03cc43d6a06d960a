// SPDX-License-Identifier: Apache-2.0
// What libraydex_papers has, and how libraydex learns of it.
#include <array>

#include "raydex/version.hpp"
#include "src/choice/paper_library.hpp"
#include "src/structures/papers_entries.hpp"

namespace raydex {

namespace {

constexpr paper_library papers{.version = RAYDEX_VERSION,
                               .structures = papers_entries,
                               .find_builders = find_own_paper_builders};

// Whether the library was linked or is being loaded.
[[maybe_unused]] const bool told = (add_papers(papers), true);

}  // namespace

const paper_library& described_papers() noexcept {
  return papers;
}

}  // namespace raydex
