// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tbb/parts.hpp"

namespace tbb {

template <class Range, class Value, class Function, class Join>
Value parallel_reduce(const Range& range, const Value& identity, const Function& f,
                      const Join& join) {
  const auto parts = raydex::test::parts_of(range);
  std::vector<Value> values(parts.size(), identity);
  raydex::test::on_threads(parts.size(),
                           [&](std::size_t part) { values[part] = f(parts[part], identity); });
  Value all = identity;
  for (const Value& value : values)
    all = join(all, value);
  return all;
}

template <class Range, class Value, class Function, class Join>
Value parallel_deterministic_reduce(const Range& range, const Value& identity, const Function& f,
                                    const Join& join) {
  return parallel_reduce(range, identity, f, join);
}

}  // namespace tbb
