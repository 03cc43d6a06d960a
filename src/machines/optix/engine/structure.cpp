// SPDX-License-Identifier: Apache-2.0
#include "src/machines/optix/engine/driver.hpp"

#include <cuda_runtime.h>

#include "src/machines/cuda/check.hpp"

namespace raydex::optix {

namespace {

abi::device_address address_of(const void* at) {
  return reinterpret_cast<abi::device_address>(at);
}

// Primitives as the driver takes them.
struct described {
  explicit described(const primitives& shapes)
      : data(address_of(shapes.data)), radius(address_of(shapes.radius)), flags(shapes.flags) {
    const auto count = static_cast<unsigned>(shapes.size);
    switch (shapes.kind) {
      case core::primitive_kind::triangle:
        input.type = abi::input_type::triangles;
        input.triangles.vertices = &data;
        input.triangles.vertex_count = 3 * count;
        input.triangles.format = abi::vertex_format::float3;
        input.triangles.vertex_stride = sizeof(core::point3);
        input.triangles.flags = &flags;
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
        input.spheres.flags = &flags;
        input.spheres.records = 1;
        break;
      case core::primitive_kind::box:
        input.type = abi::input_type::boxes;
        input.boxes.boxes = &data;
        input.boxes.count = count;
        input.boxes.stride = sizeof(core::box3);
        input.boxes.flags = &flags;
        input.boxes.records = 1;
        break;
    }
  }
  described(const described&) = delete;  // the input points into it
  described& operator=(const described&) = delete;

  abi::device_address data;
  abi::device_address radius;
  unsigned flags;
  abi::build_input input{};
};

}  // namespace

static_assert(abi::structure_alignment <= 256, "memory resources align to 256");

structure::structure(const context& on, const primitives& shapes, unsigned flags) {
  const described over(shapes);
  const abi::functions& call = driver();
  const abi::context_handle context = current_device().context;
  abi::build_options options{};
  options.flags = flags;
  options.operation = abi::build_operation::build;
  abi::build_sizes sizes{};
  check(call.get_build_sizes(context, &options, &over.input, 1, &sizes),
        "optixAccelComputeMemoryUsage");
  const bool compact = (flags & abi::allow_compaction) != 0;
  memory_ = {on, sizes.structure};
  buffer<std::uint64_t> compacted(on, compact ? 1 : 0);
  {
    const buffer<std::byte> scratch(on, sizes.scratch);
    const abi::emission emission{address_of(compacted.data()), abi::emitted::compacted_size};
    check(call.build(context, on.stream, &options, &over.input, 1, address_of(scratch.data()),
                     sizes.scratch, address_of(memory_.data()), sizes.structure, &handle_,
                     compact ? &emission : nullptr, compact ? 1 : 0),
          "optixAccelBuild");
  }
  if (!compact) return;
  std::uint64_t bytes = 0;
  cuda::check(
      cudaMemcpyAsync(&bytes, compacted.data(), sizeof bytes, cudaMemcpyDeviceToHost, on.stream),
      "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(on.stream), "cudaStreamSynchronize");
  if (bytes >= sizes.structure) return;
  buffer<std::byte> smaller(on, bytes);
  check(call.compact(context, on.stream, handle_, address_of(smaller.data()), bytes, &handle_),
        "optixAccelCompact");
  memory_ = std::move(smaller);
}

}  // namespace raydex::optix
