// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/task_group.h>

#include "tbb/parts.hpp"

namespace tbb {

template <class Range, class Body>
void parallel_for(const Range& range, const Body& body) {
  const auto parts = raydex::test::parts_of(range);
  raydex::test::on_threads(parts.size(), [&](std::size_t part) { body(parts[part]); });
}

template <class Range, class Body>
void parallel_for(const Range& range, const Body& body, task_group_context& /*context*/) {
  parallel_for(range, body);
}

template <class Index, class Function>
void parallel_for(Index first, Index last, const Function& f) {
  if (!(first < last)) return;
  parallel_for(blocked_range<Index>(first, last), [&](const blocked_range<Index>& part) {
    for (Index i = part.begin(); i < part.end(); ++i)
      f(i);
  });
}

}  // namespace tbb
