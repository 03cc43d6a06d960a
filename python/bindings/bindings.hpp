// SPDX-License-Identifier: Apache-2.0
// What the files of the extension share. It takes plain numbers: Python makes columns of what users
// have, chooses the device and the stream, and allocates what is written.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex::python {

namespace nb = nanobind;

// Addresses and streams, as Python has them.
using address = std::uintptr_t;

// Has a call of the library end where Python is to raise, such as after Ctrl-C, and show how far it
// is. It looks at what Python has in the thread that calls, which alone handles signals.
class answering_python : interruptible {
 public:
  answering_python() : interruptible(is_to_raise) {}

  // Raises what is to be raised now, of a call that waits.
  static void look() {
    if (is_to_raise({})) throw interrupted();
  }

 private:
  // Leaves the exception with Python, see `translate`.
  static bool is_to_raise(const progress& at);
};

// No call of the library holds the lock of the interpreter.
using without_gil = nb::call_guard<nb::gil_scoped_release, answering_python>;
// Calls it so, for those who make objects of Python of what it returns.
template <class Call>
auto unlocked(const Call& call) {
  const nb::gil_scoped_release released;
  const answering_python watched;
  return call();
}

template <class T>
T* pointer(address to) {
  return reinterpret_cast<T*>(to);  // NOLINT(performance-no-int-to-ptr): Python has numbers
}

inline context context_of(const session& owner, address stream) {
  return {static_cast<context>(owner).memory, pointer<CUstream_st>(stream)};
}

// Points, or ranges where there is an upper end.
inline probes probes_of(const column& lower, const std::optional<column>& upper) {
  return upper ? ranges(lower, *upper) : points(lower);
}

template <class T>
std::span<T> span_at(address first, std::uint64_t size) {
  return {pointer<T>(first), size};
}

// Python has row ids of 64 bits; none is -1 there.
inline row_id_span row_ids_at(address first, std::uint64_t size, unsigned bits = 64) {
  return {bits == 32 ? row_id_type::uint32 : row_id_type::uint64, pointer<void>(first), size};
}

// Calls Python from a call of the library, which does not hold the lock of the interpreter. Nobody
// waits for a `handle` with that lock held, so that this may be done within one's locks.
template <class Result, class... Arguments>
Result ask_python(nb::handle call, Arguments... arguments) {
  const nb::gil_scoped_acquire locked;
  return nb::cast<Result>(call(arguments...));
}

// Words for so many bits, which `room` allocates: it is called with their number.
inline std::span<std::uint32_t> words_of_bits(std::uint64_t bits, nb::handle room) {
  const std::uint64_t words = bits / 32 + (bits % 32 != 0 ? 1 : 0);
  return span_at<std::uint32_t>(ask_python<address>(room, words), words);
}

// What is called before memory changes or goes: on a GPU it has `stream` wait for all others that
// work was queued on. None in host memory.
inline void before_change(nb::handle before) {
  const nb::gil_scoped_acquire locked;
  if (!before.is_none()) before();
}

// An index or the like that Python owns. Several threads may ask it; what changes it waits for
// them, and they for that. In a process that was forked from the one that made it, CUDA is gone,
// and an object with device memory is left alone.
template <class T>
class handle {
  // What several handles have, until one of them changes it; the last one of them frees it.
  struct version {
    explicit version(std::unique_ptr<T> made) : object(std::move(made)) {}
    std::unique_ptr<T> object;
    std::atomic<unsigned> holders{1};
  };

 public:
  handle(std::unique_ptr<T> made, const char* name, backend where)
      : version_(std::make_shared<version>(std::move(made))), name_(name), where_(where) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { leave(); }

  // Calls `ask` with the object, beside other threads that do.
  template <class Ask>
  auto shared(const Ask& ask) const {
    const auto lock = locked<std::shared_lock<mutex>>();
    return ask(static_cast<const T&>(checked()));
  }
  // Calls `change` with the object while no other thread uses it.
  template <class Change>
  auto alone(const Change& change) {
    const auto lock = locked<std::unique_lock<mutex>>();
    return change(checked());
  }
  // The same beside snapshots, which keep the object as it is: then `change` is called with what
  // `copy` makes of it, which takes its place if the call succeeds.
  template <class Change, class Copy>
  void alone(const Change& change, const Copy& copy) {
    const auto lock = locked<std::unique_lock<mutex>>();
    T& own = checked();
    if (version_->holders == 1) return change(own);
    auto copied = std::make_shared<version>(copy(static_cast<const T&>(own)));
    change(*copied->object);
    leave();
    version_ = std::move(copied);
  }
  // Another handle of the same object.
  std::unique_ptr<handle> snapshot() const {
    const auto lock = locked<std::shared_lock<mutex>>();
    checked();
    std::unique_ptr<handle> made(new handle(version_, name_, where_));
    ++version_->holders;
    return made;
  }
  // What tells the object from others, also from those that come later; within `shared`.
  std::shared_ptr<const void> identity() const { return version_; }
  // `before`: see `before_change`.
  void close(nb::handle before) {
    const auto lock = locked<std::unique_lock<mutex>>();
    if (version_ != nullptr) before_change(before);
    leave();
  }

 private:
  using mutex = std::shared_timed_mutex;

  handle(std::shared_ptr<version> own, const char* name, backend where)
      : version_(std::move(own)), name_(name), where_(where) {}

  template <class Lock>
  Lock locked() const {
    Lock lock(mutex_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(50)))
      answering_python::look();
    return lock;
  }

  T& checked() const {
    if (version_ == nullptr)
      throw invalid_argument(std::string(name_) + ": it is closed; build another one");
    return *version_->object;
  }

  void leave() {
    const auto left = std::exchange(version_, nullptr);
    if (left == nullptr || --left->holders != 0) return;
    if (where_ != backend::cpu && getpid() != process_) {
      static_cast<void>(left->object.release());
    } else {
      left->object.reset();
    }
  }

  std::shared_ptr<version> version_;
  const char* name_;
  backend where_;
  pid_t process_ = getpid();
  mutable mutex mutex_;
};

// Two structures over one array, or one of them: asked and changed as one.
struct extremes {
  std::unique_ptr<rmq> minima;
  std::unique_ptr<rmq> maxima;

  const rmq& rmq_of(bool largest) const { return largest ? *maxima : *minima; }
};

// What a file has.
inline nb::bytes bytes_of(const std::vector<std::byte>& all) {
  return nb::bytes(all.data(), all.size());
}
inline std::span<const std::byte> span_of(const nb::bytes& all) {
  return {reinterpret_cast<const std::byte*>(all.c_str()), all.size()};
}
inline std::string_view text_of(const nb::bytes& all) {
  return {all.c_str(), all.size()};
}

// The kind of join that a name says.
join_kind kind_of(const std::string& how);

using index_handle = handle<index>;
using rmq_handle = handle<extremes>;
using join_handle = handle<join>;
using joined_handle = handle<joined>;

// What was loaded, and its note.
nb::tuple handle_and_note(loaded_index made, backend where);
nb::tuple handle_and_note(loaded_rmq made, backend where);
nb::tuple handle_and_note(loaded_asof_join made, backend where);
// The index, the note, and the aggregate.
nb::tuple handle_and_note(loaded_aggregate made, backend where);

// Each adds what one file has.
void bind_errors(nb::module_& to);
void bind_columns(nb::module_& to);
void bind_arrow(nb::module_& to);
void bind_arrow_stream(nb::module_& to);
void bind_index(nb::module_& to);
void bind_aggregates(nb::module_& to);
void bind_joins(nb::module_& to);
void bind_minima(nb::module_& to);
void bind_partitions(nb::module_& to);
void bind_windows(nb::module_& to);
void bind_nearest(nb::module_& to);
void bind_composite_keys(nb::module_& to);
void bind_jax(nb::module_& to);

}  // namespace raydex::python
