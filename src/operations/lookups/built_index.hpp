// SPDX-License-Identifier: Apache-2.0
// Turns a view into an index: the queries of core/lookups/lookup.hpp, run by a backend's executor
// by a plan. `built_index_by` leaves to `Self::run(on, operation)` how an operation gets its
// matches; in `built_index` the view searches for them.
#pragma once

#include <type_traits>

#include "raydex/core/keys/sum.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/index.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/operations/lookups/spread_counts.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

template <class Key>
core::probe_set<Key> probes_of(const probes& batch) {
  return {{cells_of(batch.lower)}, {cells_of(batch.upper)}, batch.size(), batch.is_points};
}

// Whether values to add up are floating numbers; false if row ids are added up.
inline bool adds_floats(const column& values) {
  const key_type type = values.format.type;
  return values.data != nullptr && (type == key_type::float32 || type == key_type::float64);
}

// Whether a view's keys are in order: `check_kind` refuses ranges of others.
template <class View>
concept answers_ranges = !core::addressed<View> || core::ranked<View>;

// Writes the row ids of a view by rank.
template <class View>
struct put_row_id {
  View view;
  typename View::row_id_type* out;
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    out[rank] = view.row_id(static_cast<typename View::row_id_type>(rank));
  }
};

// Writes entries by rank.
template <class Entries>
struct put_entry {
  using row_id = typename Entries::row_id_type;

  Entries entries;
  std::uint64_t* codes;
  row_id* rows;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto rank = static_cast<row_id>(i);
    codes[i] = entries.key(rank);
    rows[i] = entries.row_id(rank);
  }
};

// Counts ranks whose key is equal to the one before.
template <class View>
struct count_repeated_ranks {
  View view;
  core::spread_count to;
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    const bool repeats = rank != 0 && view.repeats(static_cast<typename View::row_id_type>(rank));
    to.add(rank, repeats ? 1 : 0);
  }
};

template <class Self, class Base, class View, executor Executor>
class built_index_by : public Base {
 protected:
  using key = typename View::key_type;
  using row_id = typename View::row_id_type;

  built_index_by(memory_resource& upstream, const batch_plan& plan) : Base(upstream), plan_(plan) {}

  const batch_plan& plan() const { return plan_; }

  // Has the view answer, whatever `run` does.
  template <class Operation>
  void search(const context& on, const Operation& operation) const {
    Executor::run(on, plan_, operation);
  }

  // The view that queries run on.
  virtual View queried() const = 0;

  void do_first(const context& on, const probes& batch, void* out) const final {
    const View view = queried();
    const auto probes = probes_of<key>(batch);
    auto* rows = static_cast<row_id*>(out);
    if (batch.is_points) return run(on, core::first_of_points<View>{view, probes, rows});
    if constexpr (answers_ranges<View>) run(on, core::first_rows<View>{view, probes, rows});
  }

  void do_count(const context& on, const probes& batch, std::uint64_t* out) const final {
    if constexpr (requires { requires View::counts_alone; }) {
      run(on, core::count_rows<View>{queried(), probes_of<key>(batch), out});
    } else {
      run(on, core::locate_rows<View>{queried(), probes_of<key>(batch), out});
    }
  }

  void do_sum(const context& on, const probes& batch,
              const index::sum_request& request) const final {
    if (adds_floats(request.values)) {
      add_up<core::floating_sum>(on, batch, request);
    } else {
      add_up<core::integer_sum>(on, batch, request);
    }
  }

  void do_offsets(const context& on, const probes& batch, std::uint64_t* out) const final {
    // The scan may still fail for want of scratch; `out` is then written in part.
    if (batch.size() != 0) do_count(on, batch, out + 1);
    Executor::clear(on, out);
    if (batch.size() != 0) Executor::inclusive_sum(on, out + 1, batch.size());
  }

  void do_rows(const context& on, const probes& batch, const std::uint64_t* offsets,
               void* out) const final {
    run(on, core::list_rows<View>{queried(), probes_of<key>(batch), offsets,
                                  static_cast<row_id*>(out)});
  }

  void check_ranks(const char* call) const final {
    if constexpr (!core::ranked<View>) Base::check_ranks(call);
  }

  void do_rank(const context& on, const probes& batch, bool past, std::uint64_t* out) const final {
    if constexpr (core::ranked<View>) {
      search(on, core::rank_points<View>{queried(), probes_of<key>(batch), past, out});
    } else {
      Base::do_rank(on, batch, past, out);
    }
  }

  void do_closest(const context& on, const probes& batch, bool before, closeness which, bool last,
                  void* out) const final {
    if constexpr (core::ranked<View>) {
      const View view = queried();
      buffer<std::uint64_t> ranks(on, batch.size());
      const bool past = before != (which == closeness::strict);
      search(on, core::rank_points<View>{view, probes_of<key>(batch), past, ranks.data()});
      Executor::for_each(
          on, core::closest_rows<View>{view, ranks.data(), before, last, static_cast<row_id*>(out)},
          batch.size());
    } else {
      Base::do_closest(on, batch, before, which, last, out);
    }
  }

  void do_locate(const context& on, const probes& batch, void* begins, void* counts,
                 bool single_rows) const final {
    if constexpr (core::addressed<View>) {
      run(on, core::locate_rows<View>{queried(), probes_of<key>(batch), nullptr,
                                      static_cast<row_id*>(begins), static_cast<row_id*>(counts),
                                      single_rows});
    } else {
      Base::do_locate(on, batch, begins, counts, single_rows);
    }
  }

  const void* do_row_list(const context& on, buffer<std::byte>& made) const final {
    if constexpr (core::addressed<View> && !core::ranked<View>) {
      return queried().rows;
    } else {
      return Base::do_row_list(on, made);
    }
  }

  std::uint64_t do_count_repeated(const context& on) const final {
    if constexpr (requires(const View& view) { view.different; }) {
      return queried().different ? 0 : 1;
    } else if constexpr (core::ranked<View>) {
      const View view = queried();
      spread_counts<1, Executor> repeats(on);
      Executor::for_each(on, count_repeated_ranks<View>{view, repeats[0]}, view.size());
      return repeats.sums(on)[0];
    } else if constexpr (core::addressed<View>) {
      return queried().rows == nullptr ? 0 : 1;
    } else {
      return Base::do_count_repeated(on);
    }
  }

  void do_row_ids(const context& on, void* out) const final {
    if constexpr (core::ranked<View>) {
      const auto rows = core::rows_of(queried());
      Executor::for_each(
          on, put_row_id<std::remove_const_t<decltype(rows)>>{rows, static_cast<row_id*>(out)},
          rows.size());
    } else {
      Base::do_row_ids(on, out);
    }
  }

  void do_entries(const context& on, std::uint64_t* codes, void* rows) const override {
    if constexpr (core::ranked<View>) {
      Executor::for_each(on, put_entry<View>{queried(), codes, static_cast<row_id*>(rows)},
                         this->info_.entries);
    } else {
      Base::do_entries(on, codes, rows);
    }
  }

  template <class Operation>
  void run(const context& on, const Operation& operation) const {
    static_cast<const Self*>(this)->run(on, operation);
  }

  std::uint64_t do_read(const context& on, const std::uint64_t* number) const final {
    return Executor::read(on, number);
  }

 private:
  template <class Sum>
  void add_up(const context& on, const probes& batch, const index::sum_request& request) const {
    run(on, core::sum_rows<View, Sum>{queried(),
                                      probes_of<key>(batch),
                                      {cells_of(request.values)},
                                      static_cast<typename Sum::result*>(request.out)});
  }

  batch_plan plan_;
};

template <class Base, class View, executor Executor>
class built_index : public built_index_by<built_index<Base, View, Executor>, Base, View, Executor> {
 protected:
  built_index(memory_resource& upstream, const batch_plan& plan)
      : built_index::built_index_by(upstream, plan) {}

 private:
  friend typename built_index::built_index_by;

  template <class Operation>
  void run(const context& on, const Operation& operation) const {
    this->search(on, operation);
  }
};

}  // namespace raydex
