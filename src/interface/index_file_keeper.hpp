// SPDX-License-Identifier: Apache-2.0
// What files do with what they keep, and users do not see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "raydex/aggregate.hpp"
#include "raydex/index.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/kept_parts.hpp"

namespace raydex {

class index_keeper {
 public:
  template <class One>
  static auto keep(One& one, const context& on, kept_parts& file) {
    return one.do_keep({one.memory(), on.stream}, file);
  }
  template <class One>
  static tracking_resource& memory(One& one) {
    return one.memory();
  }
  template <class One>
  static void measure(One& one) {
    one.measure();
  }
  static void describe(index& one, std::uint64_t n, std::uint64_t entries,
                       std::uint64_t max_row_id) {
    one.info_.n = n;
    one.info_.entries = entries;
    one.info_.max_row_id = max_row_id;
  }
  static void describe(rmq& one, const column& array) {
    one.info_.n = array.size;
    one.info_.array = array.data;
  }
  static void describe(aggregate& one, std::uint64_t entries) { one.info_.entries = entries; }
  // What may be saved: over an index that was not edited since.
  static const index& index_of(const aggregate& one) {
    one.check_unedited();
    return *one.over_;
  }
  // Has a structure keep what owns its array.
  static void own(rmq& one, std::shared_ptr<const void> array) { one.array_ = std::move(array); }
  static void read(const rmq& one, const context& on, void* to, const void* from,
                   std::size_t bytes) {
    one.do_read(on, to, from, bytes);
  }
  static void write(const rmq& one, const context& on, void* to, const void* from,
                    std::size_t bytes) {
    one.do_write(on, to, from, bytes);
  }
};

}  // namespace raydex
