// SPDX-License-Identifier: Apache-2.0
// Arrow's C data interface: what a PyCapsule of it holds, as numbers. Python reads types and makes
// columns of the buffers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrow_stream.hpp"
#include "bindings.hpp"

namespace raydex::python {

namespace {

template <class T>
T& in_capsule(nb::handle capsule, const char* name) {
  auto* const held = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (held == nullptr) throw nb::python_error();
  return *held;
}

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
  void take(nb::handle capsule, const char* name) { take(in_capsule<T>(capsule, name), name); }
  void take(T& held, const char* name) {
    if (held.release == nullptr)
      throw invalid_argument(std::string("column: its ") + name + " was taken by somebody else");
    base_ = held;
    held.release = nullptr;
  }

 private:
  T base_{};
};

// A field's type. With a dictionary its cells are indices of it. `extension`: the name of a type
// that is made of it, else empty.
struct field {
  std::string format;
  std::string name;
  std::string extension;
  std::shared_ptr<field> dictionary;
  std::vector<field> children;
};

// What metadata say of a key: their number, then each key and its value behind their sizes.
std::string metadata_of(const char* at, std::string_view key) {
  if (at == nullptr) return "";
  const auto number = [&] {
    std::int32_t read = 0;
    std::memcpy(&read, at, sizeof read);
    at += sizeof read;
    return read;
  };
  const auto text = [&] {
    const std::int32_t size = number();
    if (size < 0) throw invalid_argument("column: the metadata of its Arrow type are damaged");
    const std::string_view read(at, static_cast<std::size_t>(size));
    at += size;
    return read;
  };
  for (std::int32_t left = number(); left > 0; --left) {
    const std::string_view name = text();
    const std::string_view value = text();
    if (name == key) return std::string(value);
  }
  return "";
}

field read_field(const ArrowSchema& schema) {
  field read{schema.format,
             schema.name != nullptr ? schema.name : "",
             metadata_of(schema.metadata, "ARROW:extension:name"),
             nullptr,
             {}};
  if (schema.dictionary != nullptr)
    read.dictionary = std::make_shared<field>(read_field(*schema.dictionary));
  for (std::int64_t i = 0; i < schema.n_children; ++i)
    read.children.push_back(read_field(*schema.children[i]));
  return read;
}

// Refuses an array that is not laid out as its type is: nothing else tells before a pointer is
// read.
void check_layout(const field& type, const ArrowArray& array) {
  const auto refuse = [&](const char* why) {
    throw invalid_argument("column: its Arrow array of type '" + type.format + "' " + why +
                           "; it is damaged");
  };
  constexpr std::int64_t end = std::int64_t{1} << 56;  // so that offsets in bytes are numbers
  if (array.length < 0 || array.offset < 0 || array.length > end || array.offset > end)
    refuse("has a length or an offset that is none");
  const bool is_text =
      type.format == "u" || type.format == "U" || type.format == "z" || type.format == "Z";
  const bool is_view = type.format == "vu" || type.format == "vz";
  // A bitmap, and then offsets, cells or views; texts have bytes of their own.
  const std::int64_t wanted = type.format == "n" || type.format.starts_with("+") ? 0
                              : is_text || is_view                               ? 3
                                                                                 : 2;
  if (array.n_buffers < wanted || (array.n_buffers > 0 && array.buffers == nullptr))
    refuse("has too few buffers");
  const bool has_cells = array.length > 0;
  if (wanted > 0 && has_cells && array.buffers[1] == nullptr) refuse("has no cells");
  if ((type.dictionary != nullptr) != (array.dictionary != nullptr))
    refuse("has a dictionary that its type has not, or none");
  if (type.dictionary) check_layout(*type.dictionary, *array.dictionary);
  if (array.n_children != static_cast<std::int64_t>(type.children.size()) ||
      (array.n_children > 0 && array.children == nullptr))
    refuse("has another number of children than its type");
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    if (array.children[i] == nullptr) refuse("lacks a child");
    check_layout(type.children[i], *array.children[i]);
    if (type.format == "+s" && array.children[i]->length < array.offset + array.length)
      refuse("has more rows than a child");
  }
}

// An array, or a child of one; all of it is kept.
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
  chunk dictionary() const { return {owner, array->dictionary}; }
  // Where the bitmap of the cells that are there is, 0 without one, and the bit of the first cell.
  std::pair<address, std::int64_t> validity() const {
    if (array->null_count == 0 || array->length == 0 || array->n_buffers == 0 ||
        array->buffers[0] == nullptr)
      return {};
    return {reinterpret_cast<address>(array->buffers[0]) + static_cast<address>(array->offset / 8),
            array->offset % 8};
  }
};

nb::tuple import_array(nb::handle schema_capsule, nb::handle array_capsule) {
  owned<ArrowSchema> schema;
  schema.take(schema_capsule, "arrow_schema");
  const auto array = std::make_shared<owned<ArrowArray>>();
  array->take(array_capsule, "arrow_array");
  const field type = read_field(*schema.get());
  check_layout(type, *array->get());
  return nb::make_tuple(type, std::vector<chunk>{{array, array->get()}});
}

// The same of an array that is on a device: also its type and number, and the event after which its
// cells are written; 0 without one, and for the CPU.
nb::tuple import_device_array(nb::handle schema_capsule, nb::handle array_capsule) {
  owned<ArrowSchema> schema;
  schema.take(schema_capsule, "arrow_schema");
  constexpr const char* name = "arrow_device_array";
  auto& held = in_capsule<ArrowDeviceArray>(array_capsule, name);
  const auto array = std::make_shared<owned<ArrowArray>>();
  array->take(held.array, name);
  const address event =
      held.sync_event == nullptr ? 0 : *static_cast<const address*>(held.sync_event);
  const field type = read_field(*schema.get());
  check_layout(type, *array->get());
  return nb::make_tuple(type, std::vector<chunk>{{array, array->get()}}, held.device_type,
                        held.device_id, event);
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
  const field type = read_field(*schema.get());
  for (const chunk& one : chunks)
    check_layout(type, *one.array);
  return nb::make_tuple(type, chunks);
}

// Strings one after the other, as they are joined by.
class flat_strings {
 public:
  // Of so many.
  explicit flat_strings(std::size_t size)
      : offsets_(std::make_unique_for_overwrite<std::int64_t[]>(size + 1)) {
    offsets_[0] = 0;
    grow(together * size);
  }

  const char* bytes() const { return bytes_.get(); }
  const std::int64_t* offsets() const { return offsets_.get(); }

  void append(std::string_view text) {
    char* const at = room(text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    end(text.size());
  }
  // A string of up to 12 bytes; so many can be read.
  void append_short(const char* text, std::size_t size) {
    std::memcpy(room(size), text, together);
    end(size);
  }

 private:
  static constexpr std::size_t together = 12;

  // Where a string goes: `together` bytes can be written, or more if it has more.
  char* room(std::size_t bytes) {
    if (used_ + std::max(bytes, together) > room_) grow(2 * used_ + bytes);
    return bytes_.get() + used_;
  }
  void end(std::size_t bytes) {
    used_ += bytes;
    offsets_[++size_] = static_cast<std::int64_t>(used_);
  }
  void grow(std::size_t bytes) {
    room_ = bytes + together;
    auto larger = std::make_unique_for_overwrite<char[]>(room_);
    if (used_ != 0) std::memcpy(larger.get(), bytes_.get(), used_);
    bytes_ = std::move(larger);
  }

  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<std::int64_t[]> offsets_;
  std::size_t room_ = 0;  // bytes
  std::size_t used_ = 0;  // of them
  std::size_t size_ = 0;  // strings
};

bool is_valid(const ArrowArray& array, std::int64_t i) {
  const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  return bits == nullptr || (bits[i / 8] >> (i % 8) & 1) != 0;
}

template <class T>
T number_at(const void* numbers, std::int64_t i) {
  return static_cast<const T*>(numbers)[i];
}

[[noreturn]] void refuse_text(const char* part) {
  throw invalid_argument(std::string("column: ") + part + " of its Arrow strings are damaged");
}

// String i, counted from the begin of the buffers, if it is valid. Views are of 16 bytes: a size,
// then the string, or else four bytes of it, a buffer and an offset there.
std::string_view view_at(const ArrowArray& array, std::int64_t i) {
  const char* const at = static_cast<const char*>(array.buffers[1]) + 16 * i;
  std::int32_t view[4];
  std::memcpy(view, at, sizeof view);
  if (view[0] < 0) refuse_text("views");
  const auto size = static_cast<std::size_t>(view[0]);
  if (size <= 12) return {at + 4, size};
  // The last buffer has the sizes of those that views are of.
  const std::int64_t texts = array.n_buffers - 3;
  if (view[2] < 0 || view[2] >= texts || view[3] < 0) refuse_text("views");
  const auto* const sizes = static_cast<const std::int64_t*>(array.buffers[array.n_buffers - 1]);
  const auto* const text = static_cast<const char*>(array.buffers[2 + view[2]]);
  if (sizes == nullptr || text == nullptr || view[3] + std::int64_t{view[0]} > sizes[view[2]])
    refuse_text("views");
  return {text + view[3], size};
}
template <class Offset>
std::string_view string_at(const ArrowArray& array, std::int64_t i) {
  const auto begin = number_at<Offset>(array.buffers[1], i);
  const auto end = number_at<Offset>(array.buffers[1], i + 1);
  if (end > begin && array.buffers[2] == nullptr) refuse_text("offsets");
  return {static_cast<const char*>(array.buffers[2]) + begin,
          static_cast<std::size_t>(end - begin)};
}

// Whether the ends of strings follow each other; where their bytes end, nothing tells. Without
// bytes all of them are empty.
template <class Offset>
bool do_ascend(const ArrowArray& array, bool has_bytes) {
  const auto* const ends = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  // Their top bits, since SSE2 does not compare 64 bits: of ends, and of differences, which do not
  // overflow where no end is negative.
  using bits = std::make_unsigned_t<Offset>;
  bits signs = static_cast<bits>(ends[0]);
  for (std::int64_t i = 0; i < array.length; ++i) {
    const auto end = static_cast<bits>(ends[i + 1]);
    signs |= end | (end - static_cast<bits>(ends[i]));
  }
  return static_cast<Offset>(signs) >= 0 && (has_bytes || ends[array.length] == ends[0]);
}
bool is_wide(const std::string& format) {
  return format == "U" || format == "Z";
}
bool do_ascend(const ArrowArray& array, const std::string& format, bool has_bytes) {
  return is_wide(format) ? do_ascend<std::int64_t>(array, has_bytes)
                         : do_ascend<std::int32_t>(array, has_bytes);
}
void check_offsets(const ArrowArray& array, const std::string& format) {
  if (array.length == 0 || format.starts_with("v")) return;
  if (!do_ascend(array, format, true)) refuse_text("offsets");
}

// The strings of an array as they lie: where their bytes are, where the offsets, whether these have
// 64 bits, how many strings there are, and `validity`.
nb::tuple strings_of(const chunk& self, const std::string& format) {
  const ArrowArray& array = *self.array;
  const bool wide = is_wide(format);
  return nb::make_tuple(reinterpret_cast<address>(array.buffers[2]),
                        reinterpret_cast<address>(array.buffers[1]) +
                            static_cast<address>(array.offset) * (wide ? 8 : 4),
                        wide, array.length, self.validity());
}
// Refuses strings in host memory whose offsets are none.
void check_strings(const chunk& self, const std::string& format) {
  const nb::gil_scoped_release unlocked;
  if (!do_ascend(*self.array, format, self.array->buffers[2] != nullptr))
    throw invalid_argument("column: the offsets of its Arrow strings do not ascend; it is damaged");
}

void append_view(flat_strings& to, const ArrowArray& array, std::int64_t i) {
  const char* const at = static_cast<const char*>(array.buffers[1]) + 16 * i;
  std::int32_t size = 0;
  std::memcpy(&size, at, sizeof size);
  if (0 <= size && size <= 12) return to.append_short(at + 4, static_cast<std::size_t>(size));
  to.append(view_at(array, i));
}
template <class Offset>
void append_string(flat_strings& to, const ArrowArray& array, std::int64_t i) {
  to.append(string_at<Offset>(array, i));
}

using reads_index = std::int64_t (*)(const ArrowArray&, std::int64_t);

template <class T>
std::int64_t index_at(const ArrowArray& array, std::int64_t i) {
  return static_cast<std::int64_t>(number_at<T>(array.buffers[1], i));
}
reads_index index_reader(const std::string& format) {
  switch (format[0]) {
    case 'c':
      return index_at<std::int8_t>;
    case 'C':
      return index_at<std::uint8_t>;
    case 's':
      return index_at<std::int16_t>;
    case 'S':
      return index_at<std::uint16_t>;
    case 'i':
      return index_at<std::int32_t>;
    case 'I':
      return index_at<std::uint32_t>;
    default:
      return index_at<std::int64_t>;
  }
}

// A copy of chunks of strings, each appended by a function, or of indices of dictionaries of them.
template <auto Append>
flat_strings flatten(const std::vector<chunk>& chunks, const std::string& format,
                     reads_index read_index) {
  std::int64_t size = 0;
  for (const chunk& one : chunks)
    size += one.array->length;
  flat_strings all(static_cast<std::size_t>(size));
  for (const chunk& one : chunks) {
    const ArrowArray& array = *one.array;
    const ArrowArray& strings = read_index != nullptr ? *array.dictionary : array;
    check_offsets(strings, format);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
      const bool exists = is_valid(array, i);
      const std::int64_t own = exists && read_index != nullptr ? read_index(array, i) : 0;
      if (own < 0 || (own >= strings.length && exists && read_index != nullptr))
        refuse_text("indices of the dictionary");
      const std::int64_t at = read_index != nullptr ? strings.offset + own : i;
      if (exists && is_valid(strings, at)) {
        Append(all, strings, at);
      } else {
        all.append({});
      }
    }
  }
  return all;
}

// A copy of the chunks of a field of strings, or of indices of a dictionary of them, as one column
// of strings. Missing ones are empty.
flat_strings flatten(const field& type, const std::vector<chunk>& chunks) {
  const nb::gil_scoped_release unlocked;
  const std::string& format = type.dictionary ? type.dictionary->format : type.format;
  const reads_index read_index = type.dictionary ? index_reader(type.format) : nullptr;
  if (format.starts_with("v")) return flatten<append_view>(chunks, format, read_index);
  if (is_wide(format)) return flatten<append_string<std::int64_t>>(chunks, format, read_index);
  return flatten<append_string<std::int32_t>>(chunks, format, read_index);
}

}  // namespace

void bind_arrow(nb::module_& to) {
  nb::class_<field>(to, "ArrowField")
      .def_ro("format", &field::format)
      .def_ro("name", &field::name)
      .def_ro("extension", &field::extension)
      .def_ro("dictionary", &field::dictionary,
              nb::sig("def dictionary(self) -> ArrowField | None"))
      .def_ro("children", &field::children);
  nb::class_<chunk>(to, "ArrowChunk")
      .def_prop_ro("length", [](const chunk& self) { return self.array->length; })
      .def_prop_ro("offset", [](const chunk& self) { return self.array->offset; })
      .def_prop_ro("null_count", [](const chunk& self) { return self.array->null_count; })
      .def_prop_ro("buffers", &chunk::buffers)
      .def_prop_ro("validity", &chunk::validity)
      .def("strings", strings_of, nb::arg("format"),
           nb::sig("def strings(self, format: str) -> tuple[int, int, bool, int, tuple[int, int]]"))
      .def("check_strings", check_strings, nb::arg("format"))
      .def_prop_ro("dictionary", &chunk::dictionary)
      .def_prop_ro("children", &chunk::children);
  nb::class_<flat_strings>(to, "FlatStrings")
      .def_prop_ro("bytes",
                   [](const flat_strings& self) { return reinterpret_cast<address>(self.bytes()); })
      .def_prop_ro("offsets", [](const flat_strings& self) {
        return reinterpret_cast<address>(self.offsets());
      });
  to.def(
      "arrow_array", import_array, nb::arg("schema"), nb::arg("array"),
      nb::sig(
          "def arrow_array(schema: object, array: object) -> tuple[ArrowField, list[ArrowChunk]]"));
  to.def("arrow_device_array", import_device_array, nb::arg("schema"), nb::arg("array"),
         nb::sig("def arrow_device_array(schema: object, array: object) -> tuple[ArrowField, "
                 "list[ArrowChunk], int, int, int]"));
  to.def("arrow_stream", import_stream, nb::arg("stream"),
         nb::sig("def arrow_stream(stream: object) -> tuple[ArrowField, list[ArrowChunk]]"));
  to.def("arrow_flatten", nb::overload_cast<const field&, const std::vector<chunk>&>(flatten),
         nb::arg("field"), nb::arg("chunks"));
}

}  // namespace raydex::python
