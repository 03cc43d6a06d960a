// SPDX-License-Identifier: Apache-2.0
#include "optix/structure.hpp"

#include <cuda_runtime.h>

#include "cuda/check.hpp"
#include "optix/driver.hpp"

namespace raydex::optix {

namespace {

abi::device_address address_of(const void* at) {
  return reinterpret_cast<abi::device_address>(at);
}

}  // namespace

static_assert(abi::structure_alignment <= 256, "memory resources align to 256");

structure::structure(const context& where, const primitives& what, std::uint64_t size,
                     unsigned geometry, unsigned flags) {
  const abi::functions& call = driver();
  const abi::context_handle context = current_device().context;
  const abi::device_address data = address_of(what.data);
  const abi::device_address radius = address_of(what.radius);
  const auto count = static_cast<unsigned>(size);

  abi::build_input input{};
  switch (what.kind) {
    case core::primitive_kind::triangle:
      input.type = abi::input_type::triangles;
      input.triangles.vertices = &data;
      input.triangles.vertex_count = 3 * count;
      input.triangles.format = abi::vertex_format::float3;
      input.triangles.vertex_stride = sizeof(core::point3);
      input.triangles.flags = &geometry;
      input.triangles.records = 1;
      break;
    case core::primitive_kind::sphere:
      input.type = abi::input_type::spheres;
      input.spheres.centres = &data;
      input.spheres.centre_stride = sizeof(core::point3);
      input.spheres.count = count;
      input.spheres.radii = &radius;
      input.spheres.radius_stride = sizeof(float);
      input.spheres.one_radius = 1;
      input.spheres.flags = &geometry;
      input.spheres.records = 1;
      break;
    case core::primitive_kind::box:
      input.type = abi::input_type::boxes;
      input.boxes.boxes = &data;
      input.boxes.count = count;
      input.boxes.stride = sizeof(core::box3);
      input.boxes.flags = &geometry;
      input.boxes.records = 1;
      break;
  }

  abi::build_options options{};
  options.flags = flags;
  options.operation = abi::build_operation::build;
  abi::build_sizes sizes{};
  check(call.get_build_sizes(context, &options, &input, 1, &sizes), "optixAccelComputeMemoryUsage");
  const bool compact = (flags & abi::allow_compaction) != 0;
  memory_ = {where, sizes.structure};
  buffer<std::uint64_t> compacted(where, compact ? 1 : 0);
  {
    const buffer<std::byte> scratch(where, sizes.scratch);
    const abi::emission emission{address_of(compacted.data()), abi::emitted::compacted_size};
    check(call.build(context, where.stream, &options, &input, 1, address_of(scratch.data()),
                     sizes.scratch, address_of(memory_.data()), sizes.structure, &handle_,
                     compact ? &emission : nullptr, compact ? 1 : 0),
          "optixAccelBuild");
  }
  if (!compact) return;
  std::uint64_t bytes = 0;
  cuda::check(
      cudaMemcpyAsync(&bytes, compacted.data(), sizeof bytes, cudaMemcpyDeviceToHost, where.stream),
      "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
  if (bytes >= sizes.structure) return;
  buffer<std::byte> smaller(where, bytes);
  check(call.compact(context, where.stream, handle_, address_of(smaller.data()), bytes, &handle_),
        "optixAccelCompact");
  memory_ = std::move(smaller);
}

}  // namespace raydex::optix
