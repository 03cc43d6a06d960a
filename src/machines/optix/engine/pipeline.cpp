// SPDX-License-Identifier: Apache-2.0
#include "src/machines/optix/engine/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "raydex/error.hpp"
#include "src/interface/watch.hpp"
#include "src/machines/optix/engine/driver.hpp"
#include "src/machines/optix/engine/launch.hpp"

namespace raydex::optix {

namespace {

// A call that explains itself in a text.
template <class Call>
void check_logged(const char* name, Call&& call) {
  std::string log(4096, '\0');
  std::size_t size = log.size();
  const abi::result code = call(log.data(), &size);
  if (code == abi::success) return;
  throw optix_error(name, code, fmt::format("{}: {}", driver().error_text(code), log.c_str()));
}

unsigned flag_of(core::primitive_kind primitive) {
  switch (primitive) {
    case core::primitive_kind::triangle:
      return abi::uses_triangles;
    case core::primitive_kind::sphere:
      return abi::uses_spheres;
    default:
      return abi::uses_boxes;
  }
}

pipeline make(const program_choice& choice) {
  const abi::functions& call = driver();
  const abi::context_handle context = current_device().context;
  const abi::module_options module_options{};
  abi::pipeline_options options{};
  options.graph = abi::single_structure;
  options.payload_words = payload_words;
  options.attribute_words = 2;
  options.parameters = "parameters";
  options.primitives = flag_of(choice.primitive);

  abi::module_handle programs = nullptr;
  check_logged("optixModuleCreate", [&](char* log, std::size_t* size) {
    return call.create_module(context, &module_options, &options, choice.entry.text.data(),
                              choice.entry.text.size(), log, size, &programs);
  });

  abi::group_description descriptions[3]{};
  descriptions[0].kind = abi::group_kind::generation;
  descriptions[0].generation = {programs, choice.entry.generation};
  descriptions[1].kind = abi::group_kind::miss;
  descriptions[1].miss = {programs, "__miss__nothing"};
  descriptions[2].kind = abi::group_kind::hit;
  abi::group_description::hit_programs& hit = descriptions[2].hit;
  if (choice.hits == core::ray_hits::closest) {
    hit.closest = {programs, "__closesthit__take"};
  } else {
    hit.any = {programs, "__anyhit__count"};
  }
  if (choice.primitive == core::primitive_kind::box) {
    hit.intersection = {programs, "__intersection__box"};
  } else if (choice.primitive == core::primitive_kind::sphere) {
    const abi::builtin_intersection spheres{abi::primitive_type::sphere, 0, choice.build_flags, 0};
    check(call.get_builtin_module(context, &module_options, &options, &spheres,
                                  &hit.intersection.from),
          "optixBuiltinISModuleGet");
  }

  const abi::group_options group_options{};
  abi::group_handle groups[3];
  check_logged("optixProgramGroupCreate", [&](char* log, std::size_t* size) {
    return call.create_groups(context, descriptions, 3, &group_options, log, size, groups);
  });
  const abi::link_options link_options{1};
  pipeline made{};
  check_logged("optixPipelineCreate", [&](char* log, std::size_t* size) {
    return call.create_pipeline(context, &options, &link_options, groups, 3, log, size,
                                &made.handle);
  });

  // Rays are traced by the generating program alone.
  unsigned from_generation = 0;
  unsigned from_ray = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    abi::stack_sizes sizes{};
    check(call.get_stack_sizes(groups[i], &sizes, made.handle), "optixProgramGroupGetStackSize");
    from_generation = std::max(from_generation, sizes.generation);
    from_ray =
        std::max({from_ray, sizes.miss, sizes.closest_hit, sizes.any_hit + sizes.intersection});
    check(call.pack_record(groups[i], &made.records[i]), "optixSbtRecordPackHeader");
  }
  check(call.set_stack_sizes(made.handle, 0, 0, from_generation + from_ray, 1),
        "optixPipelineSetStackSize");
  return made;
}

}  // namespace

void pipeline::launch(stream_t stream, const void* records_at, const void* parameters,
                      std::size_t parameter_bytes, std::uint64_t size) const {
  watch::look();
  const auto address = [](const void* at) { return reinterpret_cast<abi::device_address>(at); };
  const auto* at = static_cast<const record*>(records_at);
  abi::binding_table table{};
  table.generation = address(at);
  table.miss = address(at + 1);
  table.miss_stride = sizeof(record);
  table.miss_count = 1;
  table.hit = address(at + 2);
  table.hit_stride = sizeof(record);
  table.hit_count = 1;
  check(driver().launch(handle, stream, address(parameters), parameter_bytes, &table,
                        static_cast<unsigned>(size), 1, 1),
        "optixLaunch");
}

const pipeline& pipeline_for(const program_choice& choice) {
  static std::mutex lock;
  const auto key = std::tuple(current_device().context, choice.entry.text.data(),
                              std::string_view(choice.entry.generation), choice.primitive,
                              choice.hits, choice.build_flags);
  static std::map<std::remove_const_t<decltype(key)>, pipeline> made;
  const std::lock_guard guard(lock);
  auto found = made.find(key);
  if (found == made.end()) found = made.emplace(key, make(choice)).first;
  return found->second;
}

}  // namespace raydex::optix
