// SPDX-License-Identifier: Apache-2.0
// The part of the driver's versioned ray-tracing interface that raydex uses: version 87, the one of
// OptiX 8.0. Declared here, so that no SDK is needed to build; a test compares it with the official
// headers where RAYDEX_OPTIX_SDK names them. What a struct has beyond our use is reserved, and
// zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/memory.hpp"

namespace raydex::optix::abi {

inline constexpr int version = 87;
inline constexpr const char* client = "OptiX 8.0, interface 87 (driver 535 or later)";

// Objects of the driver.
using context_handle = struct context_object*;
using module_handle = struct module_object*;
using group_handle = struct group_object*;
using pipeline_handle = struct pipeline_object*;
using traversable = unsigned long long;     // what a ray is traced against
using device_address = unsigned long long;  // memory of the device

using result = int;  // 0: success
inline constexpr result success = 0;
inline constexpr result out_of_device_memory = 7807;

// Alignments, in bytes.
inline constexpr std::size_t structure_alignment = 128;
inline constexpr std::size_t record_alignment = 16;
inline constexpr std::size_t record_header = 32;

// ---- numbers of the device
enum class property : int {
  most_primitives = 0x2003,  // in one structure
  rt_core_version = 0x2005   // times 10; 0: traversal in software
};

// ---- context
using log_function = void (*)(unsigned level, const char* tag, const char* text, void* user);
struct context_options {
  log_function log;
  void* user;
  int log_level;
  int validation;
};

// ---- acceleration structures
enum class input_type : int {
  triangles = 0x2141,
  boxes = 0x2142,
  instances = 0x2143,
  spheres = 0x2146
};
enum class vertex_format : int { none = 0, float3 = 0x2121 };
enum geometry_flags : unsigned {
  no_any_hit = 1U << 0,      // programs for any hit are not called
  single_any_hit = 1U << 1,  // they are called once a primitive at most
};
enum build_flags : unsigned {
  allow_update = 1U << 0,
  allow_compaction = 1U << 1,
  prefer_fast_trace = 1U << 2,
  prefer_fast_build = 1U << 3
};
enum class build_operation : int { build = 0x2161, update = 0x2162 };
enum class emitted : int { compacted_size = 0x2181 };

// Opacity micromaps of triangles; none.
struct no_micromap {
  int mode;
  device_address map, index;
  unsigned index_bytes, index_stride, index_offset, usages;
  const void* usage_counts;
};
// Displaced triangles; none.
struct no_displacement {
  int mode;
  device_address map, index, directions, bias_and_scale, flags;
  unsigned index_offset, index_stride, index_bytes;
  int direction_format;
  unsigned direction_stride;
  int bias_format;
  unsigned bias_stride, flag_stride, usages;
  const void* usage_counts;
};
struct triangle_input {
  const device_address* vertices;  // one buffer without motion
  unsigned vertex_count;
  vertex_format format;
  unsigned vertex_stride;
  device_address index;
  unsigned index_count;
  int index_format;
  unsigned index_stride;
  device_address transform;
  const unsigned* flags;  // one of geometry_flags a record
  unsigned records;
  device_address record_offsets;
  unsigned record_offset_bytes, record_offset_stride;
  unsigned first_primitive;
  int transform_format;
  no_micromap micromap;
  no_displacement displacement;
};
struct sphere_input {
  const device_address* centres;
  unsigned centre_stride;
  unsigned count;
  const device_address* radii;
  unsigned radius_stride;
  int one_radius;
  const unsigned* flags;
  unsigned records;
  device_address record_offsets;
  unsigned record_offset_bytes, record_offset_stride;
  unsigned first_primitive;
};
struct box_input {
  const device_address* boxes;
  unsigned count;
  unsigned stride;
  const unsigned* flags;
  unsigned records;
  device_address record_offsets;
  unsigned record_offset_bytes, record_offset_stride;
  unsigned first_primitive;
};
struct instance_input {
  device_address instances;
  unsigned count;
  unsigned stride;
};
struct build_input {
  input_type type;
  union {
    triangle_input triangles;
    sphere_input spheres;
    box_input boxes;
    instance_input instances;
    char reserved[1024];
  };
};
struct instance {
  float transform[12];  // rows of a 3 x 4 matrix
  unsigned id;
  unsigned record_offset;
  unsigned visibility;
  unsigned flags;
  traversable child;
  unsigned reserved[2];
};
struct build_options {
  unsigned flags;
  build_operation operation;
  unsigned short motion_keys, motion_flags;
  float motion_begin, motion_end;
};
struct build_sizes {
  std::size_t structure, scratch, update_scratch;
};
struct emission {
  device_address to;
  emitted what;
};

// ---- programs
enum class primitive_type : int { sphere = 0x2506 };
enum primitive_flags : unsigned {
  uses_boxes = 1U << 0,
  uses_spheres = 1U << 6,
  uses_triangles = 1U << 31
};
enum graph_flags : unsigned { single_structure = 1U << 0, one_level_of_instances = 1U << 1 };
struct module_options {
  int most_registers;
  int optimisation;
  int debug;
  const void* bound_values;
  unsigned bound_value_count;
  unsigned payload_type_count;
  const void* payload_types;
};
struct pipeline_options {
  int motion_blur;
  unsigned graph;
  int payload_words;
  int attribute_words;
  unsigned exceptions;
  const char* parameters;  // the name of their variable
  unsigned primitives;
  int micromaps;
};
struct link_options {
  unsigned trace_depth;
};
struct builtin_intersection {
  primitive_type type;
  int motion_blur;
  unsigned build_flags;
  unsigned curve_ends;
};
enum class group_kind : int { generation = 0x2421, miss = 0x2422, hit = 0x2424 };
struct group_description {
  struct one_program {
    module_handle from;
    const char* entry;
  };
  struct hit_programs {
    one_program closest, any, intersection;
  };
  group_kind kind;
  unsigned flags;
  union {
    one_program generation;
    one_program miss;
    hit_programs hit;
  };
};
struct group_options {
  const void* payload_type;
};
struct stack_sizes {
  unsigned generation, miss, closest_hit, any_hit, intersection, continuation, direct;
};
struct binding_table {
  device_address generation;
  device_address exception;
  device_address miss;
  unsigned miss_stride, miss_count;
  device_address hit;
  unsigned hit_stride, hit_count;
  device_address callables;
  unsigned callable_stride, callable_count;
};

// ---- the functions, in the order of the driver's table
using unused = void (*)();
struct functions {
  const char* (*error_name)(result);
  const char* (*error_text)(result);
  result (*create_context)(struct CUctx_st*, const context_options*, context_handle*);
  result (*destroy_context)(context_handle);
  result (*get_property)(context_handle, property, void*, std::size_t);
  unused set_log;
  unused cache[6];
  result (*create_module)(context_handle, const module_options*, const pipeline_options*,
                          const char*, std::size_t, char* log, std::size_t* log_size,
                          module_handle*);
  unused module_tasks[2];
  result (*destroy_module)(module_handle);
  result (*get_builtin_module)(context_handle, const module_options*, const pipeline_options*,
                               const builtin_intersection*, module_handle*);
  unused execute_task;
  result (*create_groups)(context_handle, const group_description*, unsigned, const group_options*,
                          char* log, std::size_t* log_size, group_handle*);
  result (*destroy_group)(group_handle);
  result (*get_stack_sizes)(group_handle, stack_sizes*, pipeline_handle);
  result (*create_pipeline)(context_handle, const pipeline_options*, const link_options*,
                            const group_handle*, unsigned, char* log, std::size_t* log_size,
                            pipeline_handle*);
  result (*destroy_pipeline)(pipeline_handle);
  result (*set_stack_sizes)(pipeline_handle, unsigned direct_from_traversal,
                            unsigned direct_from_state, unsigned continuation, unsigned depth);
  result (*get_build_sizes)(context_handle, const build_options*, const build_input*, unsigned,
                            build_sizes*);
  result (*build)(context_handle, stream_t, const build_options*, const build_input*, unsigned,
                  device_address scratch, std::size_t scratch_bytes, device_address structure,
                  std::size_t structure_bytes, traversable*, const emission*, unsigned);
  unused relocation[3];
  result (*compact)(context_handle, stream_t, traversable, device_address, std::size_t,
                    traversable*);
  unused other_structures[8];
  result (*pack_record)(group_handle, void*);
  result (*launch)(pipeline_handle, stream_t, device_address parameters, std::size_t,
                   const binding_table*, unsigned width, unsigned height, unsigned depth);
  unused denoiser[8];
};
static_assert(sizeof(functions) == 48 * sizeof(void*), "the driver checks the size of the table");

// What libnvoptix.so.1 exports as `optixQueryFunctionTable`.
using query_function = result (*)(int version, unsigned options, void* option_keys,
                                  const void** option_values, void* table, std::size_t table_bytes);

}  // namespace raydex::optix::abi
