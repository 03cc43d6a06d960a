// SPDX-License-Identifier: Apache-2.0
// Writes files: header, arrays, directory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "src/interface/index_file_format.hpp"
#include "src/interface/index_file_keeper.hpp"
#include "src/interface/index_file_sink.hpp"
#include "src/interface/watch.hpp"

namespace raydex {

class memory_writer final : public kept_parts {
 public:
  explicit memory_writer(file_sink& to) : to_(&to) {
    const file_header room{};
    append(std::as_bytes(std::span(&room, 1)));
  }
  bool loads() const override { return false; }
  bool verifies() const override { return false; }
  [[noreturn]] void refuse(const char* name, const std::string& why) const override {
    throw error(fmt::format("save: {}: {}", name, why));
  }

  // What the names of parts begin with from here on.
  void begin_names(std::string with) { prefix_ = std::move(with); }
  void minima(const char* name, const context& own, const column& /*array*/,
              std::unique_ptr<rmq>& over) override {
    const std::string before = prefix_;
    begin_names(before + name + ": ");
    index_keeper::keep(*over, own, *this);
    begin_names(before);
  }

  // Writes what is in host memory.
  void add(const char* name, std::span<const std::byte> bytes) {
    begin(name, bytes.size());
    put_from_host(bytes);
    end();
  }
  // Writes the array of a structure, as far behind a multiple of `values_step` as in memory: what
  // is beside it depends on that.
  void add_array(const context& on, const rmq& of) {
    const rmq_info& info = of.info();
    const auto* const first = static_cast<const std::byte*>(info.array);
    const std::uint64_t bytes = info.n * info.value.width;
    std::uint64_t before = reinterpret_cast<std::uintptr_t>(first) % values_step;
    number("before", before);
    begin(values_section, before + bytes);
    const std::array<std::byte, values_step> zeros{};
    put(std::span(zeros).first(before));
    put_from(on, first, bytes, [&](void* to, const void* from, std::size_t size) {
      index_keeper::read(of, on, to, from, size);
    });
    end();
  }

  template <class Info>
  void finish(const Info& info, std::string_view note) {
    add(note_section, std::as_bytes(std::span(note)));
    describe(directory_, info);
    directory_writer all;
    directory_.visit(all);
    align();
    const file_header header = header_of(size_, all.bytes());
    append(all.bytes());
    to_->finish(std::as_bytes(std::span(&header, 1)));
  }

 private:
  // What is summed up and then written, from the cache; and what comes from a device at a time.
  static constexpr std::size_t cached = std::size_t{1} << 18;
  static constexpr std::size_t from_device = std::size_t{1} << 24;

  std::uint64_t keep_number(const char* name, std::uint64_t value, std::uint64_t /*least*/,
                            std::uint64_t /*most*/) override {
    directory_.numbers.push_back({prefix_ + name, value});
    return value;
  }
  void save(const char* name, const context& on, const void* from, std::uint64_t bytes,
            host_copier* copy) override {
    begin(name, bytes);
    put_from(on, static_cast<const std::byte*>(from), bytes,
             [&](void* to, const void* at, std::size_t size) { copy(on, to, at, size); });
    end();
  }
  const void* load(const char* name, std::uint64_t /*bytes*/) override {
    refuse(name, "it is not loaded");
  }
  memory_resource& pages() override { refuse("pages", "there are none"); }

  void append(std::span<const std::byte> bytes) {
    to_->append(bytes);
    size_ += bytes.size();
  }
  void align() {
    static constexpr std::array<std::byte, memory_resource::alignment> zeros{};
    append(std::span(zeros).first(array_begin(size_) - size_));
  }
  void begin(const char* name, std::uint64_t bytes) {
    align();
    directory_.sections.push_back({prefix_ + name, size_, bytes, 0});
    sum_ = {};
  }
  void put(std::span<const std::byte> bytes) {
    watch::look();
    sum_.add(bytes);
    append(bytes);
  }
  void put_from_host(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += cached)
      put(bytes.subspan(at, std::min(cached, bytes.size() - at)));
  }
  // Of the memory of a backend, from which `copy(to, from, size)` copies to the host.
  template <class Copy>
  void put_from(const context& on, const std::byte* first, std::uint64_t bytes, const Copy& copy) {
    if (on.memory.space() == memory_space::host) return put_from_host({first, bytes});
    std::vector<std::byte> host(std::min<std::uint64_t>(bytes, from_device));
    for (std::uint64_t at = 0; at < bytes; at += host.size()) {
      const std::size_t size = std::min<std::uint64_t>(host.size(), bytes - at);
      copy(host.data(), first + at, size);
      put(std::span(host).first(size));
    }
  }
  void end() { directory_.sections.back().sum = sum_.sum(); }

  file_sink* to_;
  std::string prefix_;
  file_directory directory_;
  std::uint64_t size_ = 0;
  xxh64 sum_;
};

}  // namespace raydex
