// SPDX-License-Identifier: Apache-2.0
// The programs of rays, compiled and linked by the driver for each way of using them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/traced.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"
#include "src/machines/optix/abi.hpp"

namespace raydex::optix {

// The PTX of programs.cu, made by the build: programs_SCENE_KEYBITS. In libraydex_papers that
// of row_programs.cu, likewise, and of rmq_programs.cu.
extern const std::string_view programs_rx_32;
extern const std::string_view programs_rx_64;
extern const std::string_view programs_rx_rows_32;
extern const std::string_view programs_rx_rows_64;
extern const std::string_view programs_cgrx_32;
extern const std::string_view programs_cgrx_64;
extern const std::string_view programs_rmq;

// Where the threads of a launch begin; texts that live as long as the process.
struct entry_point {
  std::string_view text;   // PTX
  const char* generation;  // the program in it that generates rays
};

// What programs are made for.
struct program_choice {
  entry_point entry;
  core::primitive_kind primitive;
  core::ray_hits hits;
  unsigned build_flags;  // of the structures
};

// Linked programs, and the records by which the driver finds them.
struct RAYDEX_INTERNAL pipeline {
  struct alignas(abi::record_alignment) record {
    std::byte header[abi::record_header];
  };
  abi::pipeline_handle handle;
  record records[3];  // generation, miss, hit

  // Runs a thread for each of `size` rays or lookups. `records_at` are the records in device
  // memory, as are `parameters`.
  void launch(stream_t stream, const void* records_at, const void* parameters,
              std::size_t parameter_bytes, std::uint64_t size) const;
};

// The pipeline for the current device, compiled on first use (a tenth of a second) and kept as long
// as the process lives.
RAYDEX_INTERNAL const pipeline& pipeline_for(const program_choice& choice);

}  // namespace raydex::optix
