// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iostream>
#include <raydex/raydex.hpp>
#include <span>
#include <vector>

int main() {
  // Memory and a stream on the GPU; on the CPU, where there is no GPU.
  const raydex::session session(raydex::parse_backend("auto"));
  const auto upload = [&](std::vector<std::int32_t> cells) {
    return session.upload<std::int32_t>(cells);
  };
  const auto column = [](const raydex::buffer<std::int32_t>& cells) {
    return raydex::column(std::span<const std::int32_t>(cells.data(), cells.size()));
  };

  const auto prices = upload({50, 20, 40, 20, 30});
  const auto index = raydex::build("auto", session.where(), session, column(prices));

  const auto lower = upload({20, 35, 60}), upper = upload({20, 50, 70});
  raydex::buffer<std::uint64_t> counts(session, lower.size());
  index->count(session, raydex::ranges(column(lower), column(upper)),
               {counts.data(), counts.size()});
  for (const std::uint64_t count : session.download(counts)) {
    std::cout << count << " rows\n";
  }
}
