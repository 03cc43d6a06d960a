// SPDX-License-Identifier: Apache-2.0
// What indexes have in common whose lookups are rays. As `built_index_by`, it leaves to
// `Self::run(where, operation)` how an operation gets its matches.
#pragma once

#include <cstdint>

#include "raydex/core/rays/traced.hpp"
#include "raydex/repairs.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/operations/lookups/built_index.hpp"

namespace raydex {

template <class Self, class Base, class View, executor Executor>
class built_ray_index : public built_index_by<Self, Base, View, Executor>, public counts_repairs {
 protected:
  using typename built_index_by<Self, Base, View, Executor>::key;
  using typename built_index_by<Self, Base, View, Executor>::row_id;

  // Matches are answered by a plan.
  explicit built_ray_index(const context& on, const batch_plan& plan = {})
      : built_ray_index::built_index_by(on.memory, plan), repairs_(held_on(on.stream), 1) {
    Executor::clear(held_on(on.stream), repairs_.data());
  }

  // Counts the lookups that rays did not answer rightly.
  std::uint64_t* repairs() const { return repairs_.data(); }
  // Memory of the index.
  context held_on(stream_t stream) { return {this->memory(), stream}; }

 private:
  // Lookups are traced once: what they found is kept from when it is counted until it is listed.
  matches do_matches(const context& on, const probes& batch) const final {
    matches found{
        .offsets = {on, batch.size() + 1}, .rows = {}, .type = this->info().row_ids, .total = 0};
    std::uint64_t* const offsets = found.offsets.data();
    Executor::clear(on, offsets);
    if (batch.size() == 0) return found;
    const View view = this->queried();
    const auto probes = probes_of<key>(batch);
    buffer<typename View::position_type> begins(on, batch.size());
    this->run(on, core::locate_rows<View>{view, probes, offsets + 1, begins.data()});
    Executor::inclusive_sum(on, offsets + 1, batch.size());
    found.total = Executor::read(on, offsets + batch.size());
    found.rows = {on, saturated_product(found.total, sizeof(row_id))};
    const auto listed = core::over_rows(
        core::list_rows<View>{view, probes, offsets, reinterpret_cast<row_id*>(found.rows.data())});
    this->search(on, core::answer_located<std::remove_const_t<decltype(listed)>, row_id>{
                         listed.view, {batch.size()}, listed, begins.data(), nullptr, listed.out});
    return found;
  }

  std::uint64_t do_repairs(stream_t stream) const final {
    // Nothing is allocated for it.
    return Executor::read(const_cast<built_ray_index*>(this)->held_on(stream), repairs_.data());
  }

  mutable buffer<std::uint64_t> repairs_;  // queries count
};

}  // namespace raydex
