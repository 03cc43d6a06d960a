// SPDX-License-Identifier: Apache-2.0
// What comes before a build: options, checks, and the choice of the machine's builder.
#include "tests/adding_a_structure/sampled_array.hpp"

#include <array>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/structure_entry.hpp"

namespace raydex {

// The library makes these, and `builder_on`, from its line in src/structures/structures.cmake.
namespace cpu {
keys_builder<sampled_array, sampled_array_options> build_sampled_array;
}
namespace cuda {
keys_builder<sampled_array, sampled_array_options> build_sampled_array;
}

constexpr auto sampled_array_table = table_of<sampled_array_options>(
    {"sampled_array", searching_backends},
    std::array{number<&sampled_array_options::sample>("sample", {2, 4096},
                                                      "entries for each key of the directory")});

sampled_array::sampled_array(memory_resource& upstream) : index(upstream) {}
sampled_array::~sampled_array() = default;

void sampled_array::check_view(std::size_t key_bits, row_id_type row_ids) const {
  check_entries(*this, key_bits, row_ids, layout::column, storage_.entries);
}

std::unique_ptr<sampled_array> build_sampled_array(backend where, const context& on,
                                                   const column& keys,
                                                   const std::optional<column>& row_ids,
                                                   const sampled_array_options& options) try {
  const auto info = checked(sampled_array_table, options, where, on, keys, row_ids);
  return (where == backend::cpu ? cpu::build_sampled_array : cuda::build_sampled_array)(
      info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
