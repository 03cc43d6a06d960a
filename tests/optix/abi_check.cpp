// SPDX-License-Identifier: Apache-2.0
// Our declarations of OptiX equal the official headers, which RAYDEX_OPTIX_SDK names (the folder
// with include/optix.h of OptiX 8.0). Compiled only if that is set; nothing runs.
#include <optix.h>
#include <optix_function_table.h>

#include <cstddef>

#include "raydex/core/rays/key_scene.hpp"
#include "src/machines/optix/abi.hpp"

namespace abi = raydex::optix::abi;

#define SAME_TYPE(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs))
#define SAME_MEMBER(ours, member, theirs, their_member)                    \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member)); \
  static_assert(sizeof(ours::member) == sizeof(theirs::their_member))
#define SAME_VALUE(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))

SAME_VALUE(abi::version, OPTIX_ABI_VERSION);
SAME_VALUE(abi::success, OPTIX_SUCCESS);
SAME_VALUE(abi::out_of_device_memory, OPTIX_ERROR_DEVICE_OUT_OF_MEMORY);
SAME_VALUE(abi::structure_alignment, OPTIX_ACCEL_BUFFER_BYTE_ALIGNMENT);
SAME_VALUE(abi::record_alignment, OPTIX_SBT_RECORD_ALIGNMENT);
SAME_VALUE(abi::record_header, OPTIX_SBT_RECORD_HEADER_SIZE);
SAME_VALUE(abi::property::most_primitives, OPTIX_DEVICE_PROPERTY_LIMIT_MAX_PRIMITIVES_PER_GAS);
SAME_VALUE(abi::property::rt_core_version, OPTIX_DEVICE_PROPERTY_RTCORE_VERSION);
SAME_VALUE(abi::input_type::triangles, OPTIX_BUILD_INPUT_TYPE_TRIANGLES);
SAME_VALUE(abi::input_type::boxes, OPTIX_BUILD_INPUT_TYPE_CUSTOM_PRIMITIVES);
SAME_VALUE(abi::input_type::instances, OPTIX_BUILD_INPUT_TYPE_INSTANCES);
SAME_VALUE(abi::input_type::spheres, OPTIX_BUILD_INPUT_TYPE_SPHERES);
SAME_VALUE(abi::vertex_format::none, OPTIX_VERTEX_FORMAT_NONE);
SAME_VALUE(abi::vertex_format::float3, OPTIX_VERTEX_FORMAT_FLOAT3);
SAME_VALUE(abi::no_any_hit, OPTIX_GEOMETRY_FLAG_DISABLE_ANYHIT);
SAME_VALUE(abi::single_any_hit, OPTIX_GEOMETRY_FLAG_REQUIRE_SINGLE_ANYHIT_CALL);
SAME_VALUE(abi::allow_update, OPTIX_BUILD_FLAG_ALLOW_UPDATE);
SAME_VALUE(abi::allow_compaction, OPTIX_BUILD_FLAG_ALLOW_COMPACTION);
SAME_VALUE(abi::prefer_fast_trace, OPTIX_BUILD_FLAG_PREFER_FAST_TRACE);
SAME_VALUE(abi::prefer_fast_build, OPTIX_BUILD_FLAG_PREFER_FAST_BUILD);
SAME_VALUE(abi::build_operation::build, OPTIX_BUILD_OPERATION_BUILD);
SAME_VALUE(abi::build_operation::update, OPTIX_BUILD_OPERATION_UPDATE);
SAME_VALUE(abi::emitted::compacted_size, OPTIX_PROPERTY_TYPE_COMPACTED_SIZE);
SAME_VALUE(abi::primitive_type::sphere, OPTIX_PRIMITIVE_TYPE_SPHERE);
SAME_VALUE(abi::uses_boxes, OPTIX_PRIMITIVE_TYPE_FLAGS_CUSTOM);
SAME_VALUE(abi::uses_spheres, OPTIX_PRIMITIVE_TYPE_FLAGS_SPHERE);
SAME_VALUE(abi::uses_triangles, static_cast<unsigned>(OPTIX_PRIMITIVE_TYPE_FLAGS_TRIANGLE));
SAME_VALUE(abi::single_structure, OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_GAS);
SAME_VALUE(abi::one_level_of_instances, OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_LEVEL_INSTANCING);
SAME_VALUE(abi::group_kind::generation, OPTIX_PROGRAM_GROUP_KIND_RAYGEN);
SAME_VALUE(abi::group_kind::miss, OPTIX_PROGRAM_GROUP_KIND_MISS);
SAME_VALUE(abi::group_kind::hit, OPTIX_PROGRAM_GROUP_KIND_HITGROUP);

SAME_TYPE(abi::context_options, OptixDeviceContextOptions);
SAME_TYPE(abi::no_micromap, OptixBuildInputOpacityMicromap);
SAME_TYPE(abi::no_displacement, OptixBuildInputDisplacementMicromap);
SAME_TYPE(abi::build_input, OptixBuildInput);
SAME_MEMBER(abi::build_input, triangles, OptixBuildInput, triangleArray);
SAME_TYPE(abi::triangle_input, OptixBuildInputTriangleArray);
SAME_MEMBER(abi::triangle_input, vertices, OptixBuildInputTriangleArray, vertexBuffers);
SAME_MEMBER(abi::triangle_input, vertex_count, OptixBuildInputTriangleArray, numVertices);
SAME_MEMBER(abi::triangle_input, format, OptixBuildInputTriangleArray, vertexFormat);
SAME_MEMBER(abi::triangle_input, vertex_stride, OptixBuildInputTriangleArray, vertexStrideInBytes);
SAME_MEMBER(abi::triangle_input, flags, OptixBuildInputTriangleArray, flags);
SAME_MEMBER(abi::triangle_input, records, OptixBuildInputTriangleArray, numSbtRecords);
SAME_TYPE(abi::sphere_input, OptixBuildInputSphereArray);
SAME_MEMBER(abi::sphere_input, centres, OptixBuildInputSphereArray, vertexBuffers);
SAME_MEMBER(abi::sphere_input, centre_stride, OptixBuildInputSphereArray, vertexStrideInBytes);
SAME_MEMBER(abi::sphere_input, count, OptixBuildInputSphereArray, numVertices);
SAME_MEMBER(abi::sphere_input, radii, OptixBuildInputSphereArray, radiusBuffers);
SAME_MEMBER(abi::sphere_input, radius_stride, OptixBuildInputSphereArray, radiusStrideInBytes);
SAME_MEMBER(abi::sphere_input, one_radius, OptixBuildInputSphereArray, singleRadius);
SAME_MEMBER(abi::sphere_input, flags, OptixBuildInputSphereArray, flags);
SAME_MEMBER(abi::sphere_input, records, OptixBuildInputSphereArray, numSbtRecords);
SAME_TYPE(abi::box_input, OptixBuildInputCustomPrimitiveArray);
SAME_MEMBER(abi::box_input, boxes, OptixBuildInputCustomPrimitiveArray, aabbBuffers);
SAME_MEMBER(abi::box_input, count, OptixBuildInputCustomPrimitiveArray, numPrimitives);
SAME_MEMBER(abi::box_input, stride, OptixBuildInputCustomPrimitiveArray, strideInBytes);
SAME_MEMBER(abi::box_input, flags, OptixBuildInputCustomPrimitiveArray, flags);
SAME_MEMBER(abi::box_input, records, OptixBuildInputCustomPrimitiveArray, numSbtRecords);
SAME_TYPE(raydex::core::box3, OptixAabb);
SAME_TYPE(abi::instance_input, OptixBuildInputInstanceArray);
SAME_MEMBER(abi::instance_input, count, OptixBuildInputInstanceArray, numInstances);
SAME_TYPE(abi::instance, OptixInstance);
SAME_MEMBER(abi::instance, id, OptixInstance, instanceId);
SAME_MEMBER(abi::instance, record_offset, OptixInstance, sbtOffset);
SAME_MEMBER(abi::instance, visibility, OptixInstance, visibilityMask);
SAME_MEMBER(abi::instance, child, OptixInstance, traversableHandle);
SAME_TYPE(abi::build_options, OptixAccelBuildOptions);
SAME_MEMBER(abi::build_options, operation, OptixAccelBuildOptions, operation);
SAME_TYPE(abi::build_sizes, OptixAccelBufferSizes);
SAME_MEMBER(abi::build_sizes, update_scratch, OptixAccelBufferSizes, tempUpdateSizeInBytes);
SAME_MEMBER(abi::build_sizes, scratch, OptixAccelBufferSizes, tempSizeInBytes);
SAME_TYPE(abi::emission, OptixAccelEmitDesc);
SAME_MEMBER(abi::emission, what, OptixAccelEmitDesc, type);
SAME_TYPE(abi::module_options, OptixModuleCompileOptions);
SAME_TYPE(abi::pipeline_options, OptixPipelineCompileOptions);
SAME_MEMBER(abi::pipeline_options, graph, OptixPipelineCompileOptions, traversableGraphFlags);
SAME_MEMBER(abi::pipeline_options, payload_words, OptixPipelineCompileOptions, numPayloadValues);
SAME_MEMBER(abi::pipeline_options, attribute_words, OptixPipelineCompileOptions,
            numAttributeValues);
SAME_MEMBER(abi::pipeline_options, parameters, OptixPipelineCompileOptions,
            pipelineLaunchParamsVariableName);
SAME_MEMBER(abi::pipeline_options, primitives, OptixPipelineCompileOptions, usesPrimitiveTypeFlags);
SAME_TYPE(abi::link_options, OptixPipelineLinkOptions);
SAME_TYPE(abi::builtin_intersection, OptixBuiltinISOptions);
SAME_MEMBER(abi::builtin_intersection, build_flags, OptixBuiltinISOptions, buildFlags);
SAME_TYPE(abi::group_description, OptixProgramGroupDesc);
SAME_MEMBER(abi::group_description, generation, OptixProgramGroupDesc, raygen);
SAME_TYPE(abi::group_description::one_program, OptixProgramGroupSingleModule);
SAME_TYPE(abi::group_description::hit_programs, OptixProgramGroupHitgroup);
static_assert(offsetof(abi::group_description::hit_programs, any) ==
              offsetof(OptixProgramGroupHitgroup, moduleAH));
SAME_TYPE(abi::group_options, OptixProgramGroupOptions);
SAME_TYPE(abi::stack_sizes, OptixStackSizes);
SAME_MEMBER(abi::stack_sizes, any_hit, OptixStackSizes, cssAH);
SAME_MEMBER(abi::stack_sizes, intersection, OptixStackSizes, cssIS);
SAME_TYPE(abi::binding_table, OptixShaderBindingTable);
SAME_MEMBER(abi::binding_table, miss, OptixShaderBindingTable, missRecordBase);
SAME_MEMBER(abi::binding_table, hit, OptixShaderBindingTable, hitgroupRecordBase);
SAME_TYPE(abi::functions, OptixFunctionTable);
SAME_MEMBER(abi::functions, create_context, OptixFunctionTable, optixDeviceContextCreate);
SAME_MEMBER(abi::functions, get_property, OptixFunctionTable, optixDeviceContextGetProperty);
SAME_MEMBER(abi::functions, create_module, OptixFunctionTable, optixModuleCreate);
SAME_MEMBER(abi::functions, get_builtin_module, OptixFunctionTable, optixBuiltinISModuleGet);
SAME_MEMBER(abi::functions, create_groups, OptixFunctionTable, optixProgramGroupCreate);
SAME_MEMBER(abi::functions, get_stack_sizes, OptixFunctionTable, optixProgramGroupGetStackSize);
SAME_MEMBER(abi::functions, create_pipeline, OptixFunctionTable, optixPipelineCreate);
SAME_MEMBER(abi::functions, set_stack_sizes, OptixFunctionTable, optixPipelineSetStackSize);
SAME_MEMBER(abi::functions, get_build_sizes, OptixFunctionTable, optixAccelComputeMemoryUsage);
SAME_MEMBER(abi::functions, build, OptixFunctionTable, optixAccelBuild);
SAME_MEMBER(abi::functions, compact, OptixFunctionTable, optixAccelCompact);
SAME_MEMBER(abi::functions, pack_record, OptixFunctionTable, optixSbtRecordPackHeader);
SAME_MEMBER(abi::functions, launch, OptixFunctionTable, optixLaunch);
