// SPDX-License-Identifier: Apache-2.0
// libraydex_papers as libraydex sees it: structures, and builders of variants, that only figures of
// papers ask for. It is loaded when somebody asks for them, and tells then what it has.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "raydex/export.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/structure_entry.hpp"

namespace raydex {

struct paper_library {
  std::string_view version;  // what it was built with: it takes parts of libraydex that may change
  std::span<const structure_entry* const> structures;
  const paper_builders* (*find_builders)(backend where) noexcept;  // null for one that is not built
};

// Called by the library when it is loaded. One of another version is left out.
RAYDEX_INTERNAL void add_papers(const paper_library& library) noexcept;

// What the library has; null where it is not installed.
const paper_library* find_papers();
// The same, for `what` of it. Throws `unavailable`.
const paper_library& papers_for(std::string_view name);

// The library's own description of itself.
const paper_library& described_papers() noexcept;

// Has it call `add_papers`. Returns why it cannot: how a sentence about the library goes on.
std::string load_papers();

}  // namespace raydex
