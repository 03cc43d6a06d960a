// SPDX-License-Identifier: Apache-2.0
// Calls a builder of libraydex_papers by its own name, and by that of its structure.
#include <array>
#include <cstdint>
#include <raydex/raydex.hpp>
#include <span>

int main() {
  const raydex::session cpu(raydex::backend::cpu);
  constexpr std::array<std::int32_t, 3> cells{3, 1, 2};
  const raydex::column keys{std::span<const std::int32_t>(cells)};
  const auto built = raydex::build_eytzinger(raydex::backend::cpu, cpu, keys);
  const auto named = raydex::build("eytzinger", raydex::backend::cpu, cpu, keys);
  return built->info().options == named->info().options ? 0 : 1;
}
