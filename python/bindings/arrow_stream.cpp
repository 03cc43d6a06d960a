// SPDX-License-Identifier: Apache-2.0
// A stream of Arrow's C interface whose batches Python makes, each when it is its turn.
#include "arrow_stream.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace raydex::python {

namespace {

// What Python owns, in the hands of a library that lets go of it on any thread, and perhaps after
// Python has ended.
class kept {
 public:
  explicit kept(nb::object object) : object_(std::move(object)) {}
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  ~kept() {
    if (!nb::is_alive()) {
      object_.release();
      return;
    }
    const nb::gil_scoped_acquire locked;
    object_.reset();
  }
  const nb::object& operator*() const { return object_; }

 private:
  nb::object object_;
};

// The name of a column, and its type as Arrow writes it.
using named_type = std::pair<std::string, std::string>;

// A structure of Arrow with what it points to, which goes when it is released. Of a table also
// those of its columns, which a reader may take for itself.
template <class T, class Memory>
class owner {
 public:
  owner(Memory own, std::size_t n_children) : memory(std::move(own)), children(n_children) {
    for (T& one : children)
      places_.push_back(&one);
  }
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  ~owner() {
    for (T& one : children)
      if (one.release != nullptr) one.release(&one);
  }

  // Has `to` own this.
  static void give(std::unique_ptr<owner> owned, T& to) {
    to.n_children = static_cast<std::int64_t>(owned->places_.size());
    to.children = owned->places_.data();
    to.private_data = owned.release();
    to.release = [](T* self) {
      delete static_cast<owner*>(self->private_data);
      self->release = nullptr;
    };
  }

  Memory memory;
  std::vector<T> children;

 private:
  std::vector<T*> places_;
};

using schema_owner = owner<ArrowSchema, named_type>;

void put_schema(const named_type& type, const std::vector<named_type>& columns, ArrowSchema& to) {
  auto owned = std::make_unique<schema_owner>(type, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    put_schema(columns[i], {}, owned->children[i]);
  to.name = owned->memory.first.c_str();
  to.format = owned->memory.second.c_str();
  to.flags = columns.empty() ? ARROW_FLAG_NULLABLE : 0;
  schema_owner::give(std::move(owned), to);
}

// Where a column of a batch is, where its bitmap, or 0, and how many cells are missing.
using placed_column = std::tuple<address, address, std::int64_t>;

// A bitmap and cells, and what has their memory.
struct buffers {
  std::array<const void*, 2> places{};
  std::shared_ptr<kept> of;
};
using array_owner = owner<ArrowArray, buffers>;

void put_column(const placed_column& column, std::int64_t length, const std::shared_ptr<kept>& of,
                ArrowArray& to) {
  const auto [at, validity, null_count] = column;
  auto owned = std::make_unique<array_owner>(
      buffers{{pointer<const void>(validity), pointer<const void>(at)}, of}, 0);
  to.length = length;
  to.null_count = null_count;
  to.n_buffers = 2;
  to.buffers = owned->memory.places.data();
  array_owner::give(std::move(owned), to);
}

class stream {
 public:
  stream(std::vector<named_type> columns, nb::object batches)
      : columns_(std::move(columns)), batches_(std::move(batches)) {}

  void schema(ArrowSchema& to) const {
    to = {};
    put_schema({"", "+s"}, columns_, to);
  }

  // Makes the next batch; at the end one that is released.
  void next(ArrowArray& to) {
    to = {};
    const nb::gil_scoped_acquire locked;
    nb::object batch = nb::steal(PyIter_Next((*batches_).ptr()));
    if (!batch.is_valid()) {
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      return;
    }
    const auto length = nb::cast<std::int64_t>(batch[0]);
    const auto columns = nb::cast<std::vector<placed_column>>(batch[1]);
    const auto memory = std::make_shared<kept>(std::move(batch));
    auto owned = std::make_unique<array_owner>(buffers{}, columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i)
      put_column(columns[i], length, memory, owned->children[i]);
    to.length = length;
    to.n_buffers = 1;  // no bitmap: each row is there
    to.buffers = owned->memory.places.data();
    array_owner::give(std::move(owned), to);
  }

  // Calls `make`, whose exceptions become a number and a text.
  template <class Make>
  int tried(const Make& make) {
    try {
      make();
      return 0;
    } catch (nb::python_error& raised) {
      const nb::gil_scoped_acquire locked;
      return number_of(raised);
    } catch (const std::bad_alloc&) {
      error_ = "no memory for a batch";
      return ENOMEM;
    } catch (const std::exception& raised) {
      error_ = raised.what();
      return EIO;
    }
  }
  const char* error() const { return error_.c_str(); }

 private:
  int number_of(nb::python_error& raised) {
    try {
      const char* const text = nb::str(raised.value()).c_str();
      error_ = text == nullptr ? "" : text;
    } catch (nb::python_error&) {
      error_ = "an exception without a text";
    }
    if (raised.matches(PyExc_KeyboardInterrupt)) {
      PyErr_SetInterrupt();  // the reader has a number alone, and who called it shall hear of it
      error_ = "interrupted";
      return ECANCELED;
    }
    if (raised.matches(PyExc_MemoryError)) return ENOMEM;
    return raised.matches(PyExc_ValueError) ? EINVAL : EIO;
  }

  std::vector<named_type> columns_;
  kept batches_;
  std::string error_;
};

stream& of(ArrowArrayStream* self) {
  return *static_cast<stream*>(self->private_data);
}

void release_stream(ArrowArrayStream* self) {
  delete &of(self);
  self->release = nullptr;
}

constexpr const char* name_of_streams = "arrow_array_stream";

void end_capsule(PyObject* capsule) {
  auto* const held = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, name_of_streams));
  if (held->release != nullptr) held->release(held);  // nobody took it
  delete held;
}

// A capsule with a stream of a table of these columns. `batches`: an iterator over tuples of a
// length, a `placed_column` for each column, and what has their memory.
nb::object stream_of(std::vector<named_type> columns, nb::object batches) {
  auto held = std::make_unique<ArrowArrayStream>();
  held->get_schema = [](ArrowArrayStream* self, ArrowSchema* to) {
    return of(self).tried([&] { of(self).schema(*to); });
  };
  held->get_next = [](ArrowArrayStream* self, ArrowArray* to) {
    return of(self).tried([&] { of(self).next(*to); });
  };
  held->get_last_error = [](ArrowArrayStream* self) { return of(self).error(); };
  held->release = release_stream;
  auto made = std::make_unique<stream>(std::move(columns), std::move(batches));
  nb::object capsule = nb::steal(PyCapsule_New(held.get(), name_of_streams, end_capsule));
  if (!capsule.is_valid()) throw nb::python_error();
  held.release()->private_data = made.release();
  return capsule;
}

}  // namespace

void bind_arrow_stream(nb::module_& to) {
  to.def("arrow_stream_of", stream_of, nb::arg("columns"), nb::arg("batches"));
}

}  // namespace raydex::python
