// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_lca.hpp"

#include <array>

#include "raydex/core/minima/rmq_lca.hpp"
#include "raydex/error.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto rmq_lca_table =
    table_of<rmq_lca_options>({"rmq_lca", searching_backends}, minima_options<rmq_lca_options>);

std::unique_ptr<rmq> build_rmq_lca(backend where, const context& on, const column& values,
                                   const rmq_lca_options& options) try {
  const auto info = checked(rmq_lca_table, options, where, on, values);
  return builder_on(where, &paper_builders::build_rmq_lca, "rmq_lca")(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

rmq_estimate estimate_rmq_lca(backend /*where*/, std::uint64_t n, key_format value,
                              const rmq_lca_options& /*options*/) {
  const std::uint64_t each = dispatch_coded({value, nullptr, n}, []<class Value, class Place>() {
    return sizeof(Place) + sizeof(core::lca_node<Value, Place>);
  });
  return {.structure = {}, .resident_bytes = n * each, .build_peak_bytes = n * each};
}

extern constinit const structure_entry rmq_lca_entry =
    for_minima<rmq_lca_table, build_rmq_lca, estimate_rmq_lca>;

}  // namespace raydex
