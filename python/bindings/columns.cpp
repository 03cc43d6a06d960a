// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <string_view>
#include <type_traits>

#include "bindings.hpp"

namespace raydex::python {

namespace {

key_format parse_format(const std::string& name) {
  for (const key_type type : {key_type::uint32, key_type::uint64, key_type::int32, key_type::int64,
                              key_type::float32, key_type::float64}) {
    if (to_string(key_format(type)) == name) return key_format(type);
  }
  constexpr std::string_view bytes = "bytes";
  if (name.size() == bytes.size() + 1 && name.starts_with(bytes)) {
    const auto format = key_format::bytes(static_cast<std::uint8_t>(name.back() - '0'));
    if (format.is_legal()) return format;
  }
  throw invalid_argument(
      "format: '" + name +
      "' is none of uint32, uint64, int32, int64, float, double, bytes1 to bytes8");
}

void make_column(column* self, const key_format& format, address data, std::uint64_t size,
                 std::uint64_t stride, address validity, std::uint64_t first_bit) {
  new (self) column(format, pointer<const void>(data), size,
                    {pointer<const std::uint8_t>(validity), first_bit});
  self->stride = stride;
}

void make_strings(string_column* self, address bytes, address offsets, bool wide,
                  std::uint64_t size, address validity, std::uint64_t first_bit) {
  new (self) string_column{pointer<const char>(bytes),
                           pointer<const void>(offsets),
                           wide,
                           size,
                           {pointer<const std::uint8_t>(validity), first_bit}};
}

// What NumPy says of an array in C, in a tenth of the time of `__array_interface__`: the layout of
// its array interface, version 3.
struct array_description {
  int two;
  int dimensions;
  char kind;
  int item_size;
  int flags;
  const Py_ssize_t* shape;
  const Py_ssize_t* strides;
  void* data;
  PyObject* description;
};

// Where the cells of an array begin; `capsule`: its `__array_struct__`.
address data_of(nb::handle capsule) {
  const auto* const array =
      static_cast<const array_description*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (array == nullptr) throw nb::python_error();
  return reinterpret_cast<address>(array->data);
}

// The column of an array of NumPy with cells of that format, its size, no stream, and nothing that
// keeps one, as `ArrayLibrary.plain` has it; None of an array that is not read as it lies.
nb::object read_array(nb::handle array, const key_format& format) {
  constexpr int legible = 0x100 | 0x200;  // aligned, and in the byte order of this machine
  static PyObject* const name = PyUnicode_InternFromString("__array_struct__");
  const nb::object capsule = nb::getattr(array, nb::handle(name));
  const auto* const described =
      static_cast<const array_description*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (described == nullptr) throw nb::python_error();
  const auto [kind, width] = [&]() -> std::pair<char, int> {
    switch (format.type) {
      case key_type::int32:
      case key_type::int64:
        return {'i', format.width};
      case key_type::uint32:
      case key_type::uint64:
        return {'u', format.width};
      case key_type::float32:
      case key_type::float64:
        return {'f', format.width};
      case key_type::bytes:
        break;
    }
    return {};
  }();
  if (described->dimensions != 1 || described->kind != kind || described->item_size != width ||
      (described->flags & legible) != legible)
    return nb::none();
  const auto size = static_cast<std::uint64_t>(described->shape[0]);
  column cells(format, described->data, size);
  if (size > 1) {
    const Py_ssize_t step = described->strides[0];
    if (step <= 0 || step % width != 0) return nb::none();
    cells.stride = static_cast<std::uint64_t>(step);
  }
  return nb::make_tuple(cells, size, 0, nb::none());
}

// An array that arrived in a DLPack capsule, which it keeps.
class tensor {
 public:
  explicit tensor(nb::ndarray<nb::ro> array) : array_(std::move(array)) {}

  address data() const { return reinterpret_cast<address>(array_.data()); }
  std::vector<std::int64_t> shape() const {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < array_.ndim(); ++i)
      sizes.push_back(static_cast<std::int64_t>(array_.shape(i)));
    return sizes;
  }
  // In cells.
  std::vector<std::int64_t> strides() const {
    std::vector<std::int64_t> steps;
    for (std::size_t i = 0; i < array_.ndim(); ++i)
      steps.push_back(array_.stride(i));
    return steps;
  }
  nb::tuple type() const {
    const nb::dlpack::dtype type = array_.dtype();
    return nb::make_tuple(static_cast<int>(type.code), static_cast<int>(type.bits),
                          static_cast<int>(type.lanes));
  }

 private:
  nb::ndarray<nb::ro> array_;
};

// An array of device memory that other libraries take over through `__dlpack__`. `type`: as NumPy
// has it, b, i, u or f.
nb::ndarray<nb::array_api> exported(address data, std::uint64_t size, const std::string& type,
                                    int bits, int device, nb::handle owner) {
  using code = nb::dlpack::dtype_code;
  const code kind = type == "b"   ? code::Bool
                    : type == "i" ? code::Int
                    : type == "u" ? code::UInt
                                  : code::Float;
  const std::size_t shape[] = {size};
  return nb::ndarray<nb::array_api>(
      pointer<void>(data), 1, shape, owner, nullptr,
      nb::dlpack::dtype{static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(bits), 1},
      nb::device::cuda::value, device);
}

using bytes = buffer<std::byte>;

// Whether a GPU is the current device of the thread, as the driver says: `ask` is the address of
// its `cuCtxGetDevice`, `device` its own handle of the GPU.
class device_check {
 public:
  device_check(address ask, int device)
      : ask_(pointer<std::remove_pointer_t<question>>(ask)), device_(device) {}

  bool is_current() const {
    int now = 0;
    return ask_ != nullptr && ask_(&now) == 0 && now == device_;
  }
  // From then on it is none. For processes that were forked, in which the driver must not be asked.
  void forget() { ask_ = nullptr; }

 private:
  using question = int (*)(int*);
  question ask_;
  int device_;
};

// The table of C functions by which a library shows its tensors, since DLPack 1.3. Of those that
// are not called here there is only the place.
struct exchange_functions {
  std::uint32_t major;
  std::uint32_t minor;
  const exchange_functions* older;
  void (*unused[3])();
  int (*describe)(PyObject* tensor, nb::dlpack::dltensor* description);
  int (*current_stream)(std::int32_t kind_of_device, std::int32_t device, void** stream);
};

nb::dlpack::dtype dlpack_type(const key_format& format) {
  switch (format.type) {
    case key_type::uint32:
      return nb::dtype<std::uint32_t>();
    case key_type::uint64:
      return nb::dtype<std::uint64_t>();
    case key_type::int32:
      return nb::dtype<std::int32_t>();
    case key_type::int64:
      return nb::dtype<std::int64_t>();
    case key_type::float32:
      return nb::dtype<float>();
    case key_type::float64:
      return nb::dtype<double>();
    case key_type::bytes:
      break;
  }
  return {};
}

// Reads the tensors of PyTorch on one GPU, or in host memory, in a tenth of the time that their
// attributes take. It knows no rules but which tensors are columns as they are; of all others it
// says nothing.
class tensor_reader {
 public:
  // `type`: torch.Tensor; `check` is of GPU `device`; without one it reads host memory.
  tensor_reader(nb::object type, device_check* check, std::int32_t device)
      : type_(std::move(type)), check_(nb::find(check)), is_current_(check), device_(device) {
    const nb::object capsule = nb::getattr(type_, "__dlpack_c_exchange_api__", nb::none());
    constexpr const char* name = "dlpack_exchange_api";
    if (PyCapsule_IsValid(capsule.ptr(), name) == 0) return;  // older than DLPack 1.3
    functions_ = static_cast<const exchange_functions*>(PyCapsule_GetPointer(capsule.ptr(), name));
    while (functions_ != nullptr && functions_->major != 1)
      functions_ = functions_->older;
  }

  // The column of a tensor with cells of that format, its size, the current stream, and what keeps
  // that stream, as `World.plain` has it.
  nb::object read(nb::handle tensor, const key_format& format) const {
    const bool on_gpu = is_current_ != nullptr;
    if (functions_ == nullptr || !tensor.type().is(type_) || (on_gpu && !is_current_->is_current()))
      return nb::none();
    nb::dlpack::dltensor described;
    void* stream = nullptr;
    if (functions_->describe(tensor.ptr(), &described) != 0 ||
        (on_gpu && functions_->current_stream(nb::device::cuda::value, device_, &stream) != 0)) {
      PyErr_Clear();
      return nb::none();
    }
    if (described.device.device_type !=
            (on_gpu ? nb::device::cuda::value : nb::device::cpu::value) ||
        described.device.device_id != device_ || described.ndim != 1 ||
        described.dtype != dlpack_type(format) || is_lazy(tensor)) {
      return nb::none();
    }
    const auto size = static_cast<std::uint64_t>(described.shape[0]);
    column cells(format, static_cast<const char*>(described.data) + described.byte_offset, size);
    if (size > 0 && described.data == nullptr) return nb::none();  // a tensor without memory
    if (reinterpret_cast<address>(cells.data) % format.width != 0) return nb::none();
    if (size > 1) {
      if (described.strides[0] <= 0) return nb::none();
      cells.stride = static_cast<std::uint64_t>(described.strides[0]) * format.width;
    }
    return nb::make_tuple(cells, size, reinterpret_cast<address>(stream), nb::none());
  }

 private:
  // Whether it is to be differentiated, or negated when it is read, which DLPack does not say.
  bool is_lazy(nb::handle tensor) const {
    const nb::object differentiated = tensor.attr(requires_grad_);
    const nb::object negated = tensor.attr(is_neg_)();
    return nb::cast<bool>(differentiated) || nb::cast<bool>(negated);
  }

  nb::object type_;
  nb::object check_;  // keeps the next one
  const device_check* is_current_;
  std::int32_t device_;
  const exchange_functions* functions_ = nullptr;
  nb::object requires_grad_ = nb::steal(PyUnicode_InternFromString("requires_grad"));
  nb::object is_neg_ = nb::steal(PyUnicode_InternFromString("is_neg"));
};

}  // namespace

void bind_columns(nb::module_& to) {
  nb::class_<key_format>(to, "Format")
      .def("__init__", [](key_format* self,
                          const std::string& name) { new (self) key_format(parse_format(name)); })
      .def("__str__", [](const key_format& self) { return to_string(self); });

  nb::class_<column>(to, "Column")
      .def("__init__", make_column, nb::arg("format"), nb::arg("data"), nb::arg("size"),
           nb::arg("stride") = 0, nb::arg("validity") = 0, nb::arg("first_bit") = 0)
      .def_prop_ro("size", [](const column& self) { return self.size; })
      .def_prop_ro("may_miss", [](const column& self) { return self.validity != nullptr; });
  nb::class_<string_column>(to, "Strings")
      .def("__init__", make_strings, nb::arg("bytes"), nb::arg("offsets"), nb::arg("wide"),
           nb::arg("size"), nb::arg("validity") = 0, nb::arg("first_bit") = 0)
      .def_prop_ro("size", [](const string_column& self) { return self.size; });

  to.def("data_of", data_of, nb::arg("array_struct"),
         nb::sig("def data_of(array_struct: object) -> int"));
  to.def("read_array", read_array, nb::arg("array"), nb::arg("format"),
         nb::sig("def read_array(array: object, format: Format) "
                 "-> tuple[Column, int, int, None] | None"));

  nb::class_<tensor>(to, "Tensor")
      .def(nb::init<nb::ndarray<nb::ro>>(), nb::arg("capsule"),
           nb::sig("def __init__(self, capsule: object) -> None"))
      .def_prop_ro("data", &tensor::data)
      .def_prop_ro("shape", &tensor::shape)
      .def_prop_ro("strides", &tensor::strides)
      .def_prop_ro("type", &tensor::type, nb::sig("def type(self) -> tuple[int, int, int]"));

  nb::class_<device_check>(to, "DeviceCheck")
      .def(nb::init<address, int>(), nb::arg("ask"), nb::arg("device"))
      .def("is_current", &device_check::is_current)
      .def("forget", &device_check::forget);
  nb::class_<tensor_reader>(to, "TensorReader")
      .def(
          nb::init<nb::object, device_check*, std::int32_t>(), nb::arg("type"),
          nb::arg("check").none(), nb::arg("device"),
          nb::sig("def __init__(self, type: type, check: DeviceCheck | None, device: int) -> None"))
      .def("read", &tensor_reader::read, nb::arg("tensor"), nb::arg("format"),
           nb::sig("def read(self, tensor: object, format: Format) "
                   "-> tuple[Column, int, int, None] | None"));

  nb::class_<bytes>(to, "Bytes")
      .def(
          "__init__",
          [](bytes* self, const session& from, address stream, std::uint64_t size) {
            new (self) bytes(context_of(from, stream), size);
          },
          nb::arg("session"), nb::arg("stream"), nb::arg("size"), without_gil())
      .def_static(
          "of_host",
          [](const session& at, address from, std::uint64_t size) {
            auto made = std::make_unique<bytes>(at, size);
            at.copy_in(made->data(), reinterpret_cast<const void*>(from), size);
            return made;
          },
          nb::arg("session"), nb::arg("begin"), nb::arg("size"), without_gil())
      .def_prop_ro("data", [](const bytes& self) { return reinterpret_cast<address>(self.data()); })
      .def_prop_ro("size", [](const bytes& self) { return self.size(); });
  to.def("exported", exported, nb::arg("data"), nb::arg("size"), nb::arg("type"), nb::arg("bits"),
         nb::arg("device"), nb::arg("owner"),
         nb::sig(
             "def exported(data: int, size: int, type: str, bits: int, device: int, owner: object) "
             "-> object"));
}

}  // namespace raydex::python
