// SPDX-License-Identifier: Apache-2.0
#include "raydex/rmq_cover.hpp"

#include <array>

#include "raydex/error.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/rmq_cover/plan.hpp"
#include "src/structures/shared/options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto rmq_cover_table = table_of<rmq_cover_options>(
    {"rmq_cover", searching_backends, true},
    std::array{choice<&rmq_cover_options::memory>(
        "memory", {{"fast", rmq_memory::fast}, {"small", rmq_memory::small}},
        "at most a quarter of the array's bytes, or a twenty-fifth")},
    minima_options<rmq_cover_options>);

rmq_cover::~rmq_cover() = default;

std::unique_ptr<rmq_cover> build_rmq_cover(backend where, const context& on, const column& values,
                                           const rmq_cover_options& options) try {
  const auto info = checked(rmq_cover_table, options, where, on, values);
  return builder_on(where, &structure_builders::build_rmq_cover)(info, on, values, options);
} catch (...) {
  rethrow_as_error();
}

rmq_estimate estimate_rmq_cover(backend /*where*/, std::uint64_t n, key_format value,
                                const rmq_cover_options& options) {
  const std::uint64_t bytes = dispatch_coded({value, nullptr, n}, [&]<class Value, class Place>() {
    return rmq_cover_plan<Value, Place>(n, options.memory).bytes();
  });
  return {.structure = {}, .resident_bytes = bytes, .build_peak_bytes = bytes};
}

extern constinit const structure_entry rmq_cover_entry =
    for_minima<rmq_cover_table, build_rmq_cover, estimate_rmq_cover>;

}  // namespace raydex
