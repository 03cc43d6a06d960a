// SPDX-License-Identifier: Apache-2.0
// What libraydex_papers has, and how libraydex learns of it; compiled for each library that its
// objects are linked to, since no other file of it asks which backends are built.
#include "raydex/version.hpp"
#include "src/choice/paper_library.hpp"
#include "src/structures/papers_entries.hpp"

namespace raydex {

namespace {

const paper_builders* find_builders(backend where) noexcept {
  switch (where) {
    case backend::cpu:
      return &cpu::papers_builders;
#if defined(RAYDEX_WITH_CUDA)
    case backend::cuda:
      return &cuda::papers_builders;
#endif
#if defined(RAYDEX_WITH_OPTIX)
    case backend::optix:
      return &optix::papers_builders;
#endif
    default:
      return nullptr;
  }
}

constexpr paper_library papers{
    .version = RAYDEX_VERSION, .structures = papers_entries, .find_builders = find_builders};

// Whether the library was linked or is being loaded.
[[maybe_unused]] const bool registered = (add_papers(papers), true);

}  // namespace

const paper_library& described_papers() noexcept {
  return papers;
}

}  // namespace raydex
