// SPDX-License-Identifier: Apache-2.0
// The part of XLA's interface of foreign functions in C that raydex uses, as jaxlib has had it
// since 0.4.38. Declared here, so that no jaxlib is needed to build; a test compares it with the
// header of the jaxlib that is there. Structs only grow at their ends, and say their sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace raydex::python::xla {

// What a struct may be followed by.
struct extension {
  std::size_t struct_size;
  int type;
  extension* next;
};
inline constexpr int metadata_type = 1;

struct version {
  std::size_t struct_size;
  extension* extensions;
  int major;
  int minor;
};
// What these declarations are of, the oldest one: runtimes before 0.2 take no other, later ones it,
// too.
inline constexpr int own_minor = 1;

using error = struct error_object;

enum class error_code : int { invalid_argument = 3, resource_exhausted = 8, internal = 13 };

struct error_description {
  std::size_t struct_size;
  extension* extensions;
  const char* message;
  error_code code;
};

enum class type : int { int32 = 4, int64 = 5, uint32 = 8, uint64 = 9, float32 = 11, float64 = 12 };

struct buffer {
  std::size_t struct_size;
  extension* extensions;
  xla::type type;
  void* data;
  std::int64_t dimensions;
  std::int64_t* sizes;
};

struct scalar {
  xla::type type;
  void* value;
};

// Arguments, and results.
struct values {
  std::size_t struct_size;
  extension* extensions;
  std::int64_t size;
  int* types;
  void** at;
};
inline constexpr int buffer_value = 1;

struct attributes {
  std::size_t struct_size;
  extension* extensions;
  std::int64_t size;
  int* types;
  void* names;
  void** at;
};
inline constexpr int scalar_attribute = 3;

struct stream_request {
  std::size_t struct_size;
  extension* extensions;
  void* context;  // of the call
  void* stream;   // the answer: a CUstream
};

struct functions {
  std::size_t struct_size;
  extension* extensions;
  xla::version version;
  const void* internal;
  error* (*create_error)(error_description* description);
  void (*of_errors[2])();
  void (*register_handler)();
  error* (*get_stream)(stream_request* request);
};

struct call {
  std::size_t struct_size;
  extension* extensions;
  const xla::functions* functions;
  void* context;
  int stage;
  values arguments;
  values results;
  xla::attributes attributes;
};

// What a handler says of itself when it is registered.
struct metadata {
  std::size_t struct_size;
  xla::version version;
  std::uint32_t traits;
};

struct metadata_extension {
  extension base;
  xla::metadata* metadata;
};

}  // namespace raydex::python::xla
