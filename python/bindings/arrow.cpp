// SPDX-License-Identifier: Apache-2.0
// Arrow's C data interface: what a PyCapsule of it holds, as numbers. Python reads types and makes
// columns of the buffers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <vector>

#include "bindings.hpp"

// As the specification of Arrow has them; these names and layouts never change.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
// NOLINTEND(readability-identifier-naming)

namespace raydex::python {

namespace {

// One of Arrow's structures, released when it goes.
template <class T>
class owned {
 public:
  owned() = default;
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() {
    if (base_.release != nullptr) base_.release(&base_);
  }
  T* operator->() noexcept { return &base_; }
  T* get() noexcept { return &base_; }

  // Moves out what a capsule holds, which is released there then.
  void take(nb::handle capsule, const char* name) {
    auto* const held = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (held == nullptr) throw nb::python_error();
    if (held->release == nullptr)
      throw invalid_argument(std::string("column: its ") + name + " was taken by somebody else");
    base_ = *held;
    held->release = nullptr;
  }

 private:
  T base_{};
};

// A field's type.
struct field {
  std::string format;
  std::string name;
  bool has_dictionary = false;
  std::vector<field> children;
};

field read_field(const ArrowSchema& schema) {
  field read{
      schema.format, schema.name != nullptr ? schema.name : "", schema.dictionary != nullptr, {}};
  for (std::int64_t i = 0; i < schema.n_children; ++i)
    read.children.push_back(read_field(*schema.children[i]));
  return read;
}

// An array, or a child of one, of which all is kept.
struct chunk {
  std::shared_ptr<owned<ArrowArray>> owner;
  const ArrowArray* array;

  std::vector<address> buffers() const {
    std::vector<address> all;
    for (std::int64_t i = 0; i < array->n_buffers; ++i)
      all.push_back(reinterpret_cast<address>(array->buffers[i]));
    return all;
  }
  std::vector<chunk> children() const {
    std::vector<chunk> all;
    for (std::int64_t i = 0; i < array->n_children; ++i)
      all.push_back({owner, array->children[i]});
    return all;
  }
};

nb::tuple import_array(nb::handle schema_capsule, nb::handle array_capsule) {
  owned<ArrowSchema> schema;
  schema.take(schema_capsule, "arrow_schema");
  const auto array = std::make_shared<owned<ArrowArray>>();
  array->take(array_capsule, "arrow_array");
  return nb::make_tuple(read_field(*schema.get()), std::vector<chunk>{{array, array->get()}});
}

nb::tuple import_stream(nb::handle capsule) {
  owned<ArrowArrayStream> stream;
  stream.take(capsule, "arrow_array_stream");
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* const text = stream->get_last_error(stream.get());
    throw invalid_argument(std::string("column: its Arrow stream failed: ") +
                           (text != nullptr ? text : std::strerror(code)));
  };
  owned<ArrowSchema> schema;
  std::vector<chunk> chunks;
  {
    const nb::gil_scoped_release unlocked;  // a query may run here
    check(stream->get_schema(stream.get(), schema.get()));
    for (;;) {
      const auto array = std::make_shared<owned<ArrowArray>>();
      check(stream->get_next(stream.get(), array->get()));
      if ((*array)->release == nullptr) break;
      chunks.push_back({array, array->get()});
    }
  }
  return nb::make_tuple(read_field(*schema.get()), chunks);
}

// Strings one after the other, as they are joined by.
struct flat_strings {
  std::vector<char> bytes;
  std::vector<std::int64_t> offsets{0};

  void append(const char* text, std::size_t size) {
    bytes.insert(bytes.end(), text, text + size);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
};

bool is_valid(const ArrowArray& array, std::int64_t i) {
  const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  return bits == nullptr || (bits[i / 8] >> (i % 8) & 1) != 0;
}

// Views of 16 bytes: a size, then the string, or else four bytes of it, a buffer and a place there.
void append_views(const ArrowArray& array, flat_strings& to) {
  const auto* const views = static_cast<const char*>(array.buffers[1]);
  for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
    std::int32_t view[4];
    std::memcpy(view, views + 16 * i, sizeof view);
    const auto size = static_cast<std::size_t>(is_valid(array, i) ? view[0] : 0);
    if (size <= 12) {
      to.append(views + 16 * i + 4, size);
    } else {
      to.append(static_cast<const char*>(array.buffers[2 + view[2]]) + view[3], size);
    }
  }
}

template <class Offset>
void append_strings(const ArrowArray& array, flat_strings& to) {
  const auto* const offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  const auto* const bytes = static_cast<const char*>(array.buffers[2]);
  for (std::int64_t i = 0; i < array.length; ++i) {
    const bool valid = is_valid(array, array.offset + i);
    to.append(bytes + offsets[i],
              valid ? static_cast<std::size_t>(offsets[i + 1] - offsets[i]) : 0);
  }
}

// A copy of string chunks as one column of them. `format`: of the chunks' field.
flat_strings flatten(const std::string& format, const std::vector<chunk>& chunks) {
  const nb::gil_scoped_release unlocked;
  flat_strings all;
  for (const chunk& one : chunks) {
    if (format.starts_with("v")) {
      append_views(*one.array, all);
    } else if (format == "U" || format == "Z") {
      append_strings<std::int64_t>(*one.array, all);
    } else {
      append_strings<std::int32_t>(*one.array, all);
    }
  }
  return all;
}

template <class T>
address begin_of(const std::vector<T>& of) {
  return reinterpret_cast<address>(of.data());
}

}  // namespace

void bind_arrow(nb::module_& to) {
  nb::class_<field>(to, "ArrowField")
      .def_ro("format", &field::format)
      .def_ro("name", &field::name)
      .def_ro("has_dictionary", &field::has_dictionary)
      .def_ro("children", &field::children);
  nb::class_<chunk>(to, "ArrowChunk")
      .def_prop_ro("length", [](const chunk& self) { return self.array->length; })
      .def_prop_ro("offset", [](const chunk& self) { return self.array->offset; })
      .def_prop_ro("null_count", [](const chunk& self) { return self.array->null_count; })
      .def_prop_ro("buffers", &chunk::buffers)
      .def_prop_ro("children", &chunk::children);
  nb::class_<flat_strings>(to, "FlatStrings")
      .def_prop_ro("bytes", [](const flat_strings& self) { return begin_of(self.bytes); })
      .def_prop_ro("offsets", [](const flat_strings& self) { return begin_of(self.offsets); });
  to.def(
      "arrow_array", import_array, nb::arg("schema"), nb::arg("array"),
      nb::sig(
          "def arrow_array(schema: object, array: object) -> tuple[ArrowField, list[ArrowChunk]]"));
  to.def("arrow_stream", import_stream, nb::arg("stream"),
         nb::sig("def arrow_stream(stream: object) -> tuple[ArrowField, list[ArrowChunk]]"));
  to.def("arrow_flatten", flatten, nb::arg("format"), nb::arg("chunks"));
}

}  // namespace raydex::python
