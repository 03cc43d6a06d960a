// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iostream>
#include <raydex/raydex.hpp>
#include <vector>

int main() {
  // Memory and a stream on the GPU; on the CPU if there is no GPU.
  const raydex::session session;
  const auto prices = session.upload(std::vector<std::int32_t>{50, 20, 40, 20, 30});
  const auto index = raydex::build("auto", session.where(), session, raydex::column(prices));

  const auto lower = session.upload(std::vector<std::int32_t>{20, 35, 60});
  const auto upper = session.upload(std::vector<std::int32_t>{20, 50, 70});
  raydex::buffer<std::uint64_t> counts(session, lower.size());
  index->count(session, raydex::ranges(raydex::column(lower), raydex::column(upper)), counts);
  for (const std::uint64_t count : session.download(counts)) {
    std::cout << count << " rows\n";
  }
}
