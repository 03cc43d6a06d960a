// SPDX-License-Identifier: Apache-2.0
// The memory of an index in a file. A structure names each of its numbers and arrays once, in
// `do_keep`; the same lines save an index, and make an empty one that of a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

// What a backend copies to the host with, and waits.
using host_copier = void(const context& on, void* to, const void* from, std::size_t bytes);

class RAYDEX_INTERNAL kept_memory {
 public:
  kept_memory() = default;
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;
  virtual ~kept_memory();

  // Whether an index is loaded, not saved.
  virtual bool loads() const = 0;
  // Whether nothing that an array holds may be followed before it is checked.
  virtual bool verifies() const = 0;

  // A number of `least` to `most`. Who saves writes nothing to it: others query the index
  // meanwhile.
  template <class Number>
  void number(const char* name, Number& value,
              std::uint64_t most = std::numeric_limits<Number>::max(), std::uint64_t least = 0) {
    const std::uint64_t kept = keep_number(name, static_cast<std::uint64_t>(value), least, most);
    if (loads()) value = static_cast<Number>(kept);
  }

  // So many elements of an array of the index's memory; they have been written, all of them. One in
  // host memory becomes pages of the file: who writes there writes a copy of the page.
  template <class Executor, class T>
  void array(const char* name, const context& own, buffer<T>& all, std::uint64_t size) {
    const std::uint64_t bytes = saturated_product(size, sizeof(T));
    if (!loads()) {
      const std::uint64_t there = all.bytes();
      return save(name, own, all.data(), std::min(bytes, there), Executor::copy_out);
    }
    all = {};
    if (bytes == 0) return;
    const void* const at = load(name, bytes);
    if (own.memory.space() == memory_space::host) {
      all = {{pages(), own.stream}, size};
    } else {
      all = {own, size};
      Executor::copy_in(own, all.data(), at, bytes);
    }
  }

  // One that is saved, and not loaded.
  template <class Executor, class T>
  void array(const char* name, const context& own, const buffer<T>& all) {
    save(name, own, all.data(), all.bytes(), Executor::copy_out);
  }

  // Throws `invalid_argument` about a part of the file.
  [[noreturn]] virtual void refuse(const char* name, const std::string& why) const = 0;
  // The same where a check found something in an array.
  void check(const char* name, bool is_right) const {
    if (!is_right) refuse(name, "it holds what no index has there");
  }

 private:
  virtual std::uint64_t keep_number(const char* name, std::uint64_t value, std::uint64_t least,
                                    std::uint64_t most) = 0;
  virtual void save(const char* name, const context& on, const void* from, std::uint64_t bytes,
                    host_copier* copy) = 0;
  // An array of that size in the file.
  virtual const void* load(const char* name, std::uint64_t bytes) = 0;
  // What has the array that was loaded last as the memory that it allocates next.
  virtual memory_resource& pages() = 0;
};

}  // namespace raydex
