// SPDX-License-Identifier: Apache-2.0
// An index as joins ask it: for positions of matches among its entries. Arguments are checked
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "raydex/index.hpp"

namespace raydex {

// Builds an index over a column.
using index_maker = std::function<std::unique_ptr<index>(const context& on, const column& keys)>;

class located_index {
 public:
  explicit located_index(const index& of) : of_(&of) {}

  const index_info& info() const { return of_->info(); }
  // How often its entries have changed.
  std::uint64_t changes() const { return of_->changes_; }

  // See `index`; batches may be empty.
  void check_kind(const probes& batch) const { of_->check_kind(batch); }
  void first(const context& on, const probes& batch, void* out) const {
    if (batch.size() != 0) of_->do_first(on, batch, out);
  }
  void count(const context& on, const probes& batch, std::uint64_t* out) const {
    if (batch.size() != 0) of_->do_count(on, batch, out);
  }
  void locate(const context& on, const probes& batch, void* begins, void* counts) const {
    if (batch.size() != 0) of_->do_locate(on, batch, begins, counts, true);
  }
  void rank(const context& on, const probes& batch, bool past, std::uint64_t* out) const {
    of_->do_rank(on, batch, past, out);
  }
  // A row of the closest key before each point, the last one by default, or the first one of that
  // after it.
  void closest(const context& on, const probes& batch, bool before, closeness which, void* out,
               bool last = true) const {
    of_->do_closest(on, batch, before, which, last, out);
  }
  const void* row_list(const context& on, buffer<std::byte>& made) const {
    return of_->do_row_list(on, made);
  }
  bool repeats(const context& on) const { return of_->do_count_repeated(on) != 0; }

 private:
  const index* of_;
};

}  // namespace raydex
