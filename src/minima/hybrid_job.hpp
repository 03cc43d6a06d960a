// SPDX-License-Identifier: Apache-2.0
// How a range is answered by a hierarchy whose last level rays are asked for.
#pragma once

#include <cstdint>

#include "raydex/core/minima/rmq_rx.hpp"
#include "src/minima/answer_range.hpp"

namespace raydex {

// A stretch of a batch, whose rays and scans are in one kernel (`run`), or in one each: first those
// of the base, then `operator()`. Without a scene, in a kernel that only scans.
template <class View, class Asked>
struct hybrid_job : core::rmq_ray_job {
  using place = typename View::place_type;

  answer_range<View, Asked> answer;
  place first_entry = 0;  // which rays number 0

  // Answers range `i` of the stretch.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t i) const {
    put(i, find(tracer, i));
  }
  // The same, once rays have been traced.
  RAYDEX_HD void operator()(std::uint64_t i) const { put(i, out[i]); }
  // The same without rays.
  RAYDEX_HD void scan(std::uint64_t i) const { put(i, core::rmq_ray_scene::none); }

 private:
  // Answers by the entry of the last level that rays found, if they did.
  RAYDEX_HD void put(std::uint64_t i, std::uint64_t entry) const {
    const View& view = answer.view;
    place first = 0;
    place last = 0;
    typename Asked::found found{};
    const bool is_any = ranges.read(begin + i, view.array, first, last);
    if (is_any) {
      const bool is_traced = entry != core::rmq_ray_scene::none;
      found = Asked::search(view, first, last,
                            is_traced ? static_cast<place>(first_entry + entry) : View::none);
    }
    answer.put(begin + i, is_any, found);
  }
};

}  // namespace raydex
