// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tbb/parts.hpp"

namespace tbb {

template <class Range, class Value, class Scan, class Join>
Value parallel_scan(const Range& range, const Value& identity, const Scan& scan, const Join& join) {
  const auto parts = raydex::test::parts_of(range);
  std::vector<Value> before(parts.size() + 1, identity);
  raydex::test::on_threads(parts.size(), [&](std::size_t part) {
    before[part + 1] = scan(parts[part], identity, false);
  });
  for (std::size_t part = 0; part < parts.size(); ++part)
    before[part + 1] = join(before[part], before[part + 1]);
  raydex::test::on_threads(parts.size(),
                           [&](std::size_t part) { scan(parts[part], before[part], true); });
  return before.back();
}

}  // namespace tbb
