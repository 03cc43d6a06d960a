// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace tbb {

// Sorts with one thread; other threads write the data before and read it after.
template <class Container>
void parallel_sort(Container& container) {
  std::sort(container.begin(), container.end());
}
template <class Iterator>
void parallel_sort(Iterator first, Iterator last) {
  std::sort(first, last);
}

}  // namespace tbb
