// SPDX-License-Identifier: Apache-2.0
// What is in a column: by a join without an index, or by an index if that is better.
#include "raydex/is_in.hpp"

#include "raydex/advise.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

void is_in(backend where, const context& on, const column& tests, const column& elements,
           std::span<bool> out) try {
  check_available(where);
  check_space(on, where);
  check_column("tests", tests);
  check_column("elements", elements);
  if (tests.format != elements.format) {
    throw invalid_argument("elements: they are " + to_string(elements.format) + ", but the tests " +
                           to_string(tests.format));
  }
  check_sizes("elements", points(elements), out.size());
  check_array("out", out);
  if (elements.size == 0) return;
  if (operation_on(where, &operation_table::is_in)(on, tests, elements, out.data())) return;
  const advice best = advise({.n = tests.size, .key = tests.format, .where = where});
  build(best.structure, where, on, tests, std::nullopt, best.options)
      ->contains(on, points(elements), out);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
