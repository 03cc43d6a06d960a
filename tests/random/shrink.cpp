// SPDX-License-Identifier: Apache-2.0
#include "tests/random/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tests/random/bits.hpp"
#include "tests/random/options.hpp"

namespace raydex::test {

namespace {

// Calls `f` with every key of a case.
template <class Case, class F>
void for_each_key(Case& of, F&& f) {
  for (auto& one : of.keys)
    f(one);
  for (auto& step : of.steps) {
    for (auto& one : step.put)
      f(one);
    for (auto& one : step.erase)
      f(one);
    if (of.minima) continue;
    for (auto& one : step.ranges) {
      f(one.lower);
      f(one.upper);
    }
  }
}
// The same for the ends of the ranges of minima.
template <class Case, class F>
void for_each_position(Case& of, F&& f) {
  if (!of.minima) return;
  for (auto& step : of.steps) {
    for (auto& one : step.ranges) {
      f(one.lower);
      f(one.upper);
    }
  }
}

class shrinker {
 public:
  shrinker(const test_case& failing, backend where,
           const std::function<bool(const test_case&)>& fails, std::chrono::seconds limit)
      : best_(failing),
        where_(where),
        fails_(fails),
        end_(std::chrono::steady_clock::now() + limit) {}

  test_case run() {
    test_case before;
    do {
      before = best_;
      shorten_lists();
      drop_options();
      simplify_parts();
      best_.joins ? simplify_tables() : simplify_values();
    } while (best_ != before && !is_over());
    return best_;
  }

 private:
  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

  // Takes a case over if it differs and still fails.
  bool accept(const test_case& simpler) {
    if (simpler == best_ || is_over() || !fails_(simpler)) return false;
    best_ = simpler;
    return true;
  }

  // Leaves out stretches of a list, long ones first. `list_of(case)` is the list.
  template <class List>
  void shorten(List&& list_of) {
    for (std::size_t size = list_of(best_).size(); size > 0; size /= 2) {
      for (std::size_t begin = 0; begin < list_of(best_).size();) {
        test_case simpler = best_;
        auto& list = list_of(simpler);
        const auto from = list.begin() + static_cast<std::ptrdiff_t>(begin);
        list.erase(from, from + static_cast<std::ptrdiff_t>(std::min(size, list.size() - begin)));
        if (!accept(simpler)) begin += size;
        if (is_over()) return;
      }
    }
  }

  void shorten_lists() {
    shorten([](test_case & of) -> auto& { return of.steps; });
    shorten([](test_case & of) -> auto& { return of.keys; });
    for (std::size_t i = 0; i < best_.steps.size(); ++i) {
      shorten([i](test_case & of) -> auto& { return of.steps[i].answers; });
      shorten([i](test_case & of) -> auto& { return of.steps[i].ranges; });
      shorten([i](test_case & of) -> auto& { return of.steps[i].put; });
      shorten([i](test_case & of) -> auto& { return of.steps[i].erase; });
    }
    if (!best_.joins) return;
    shorten([](test_case & of) -> auto& { return of.joins->questions; });
    shorten([](test_case & of) -> auto& { return of.joins->build; });
    for (std::size_t i = 0; i < best_.joins->questions.size(); ++i) {
      shorten([i](test_case & of) -> auto& { return of.joins->questions[i].probes; });
      shorten([i](test_case & of) -> auto& { return of.joins->questions[i].aggregates; });
    }
  }

  void drop_options() {
    const option_map all = best_.options;
    for (const auto& [name, value] : all) {
      test_case simpler = best_;
      simpler.options.erase(name);
      if (is_legal(simpler.structure, where_, simpler.options)) accept(simpler);
    }
  }

  // Tries what `change` makes of the best case.
  template <class Change>
  void attempt(Change&& change) {
    test_case simpler = best_;
    change(simpler);
    accept(simpler);
  }

  void simplify_parts() {
    attempt([](test_case& of) { of.build_fails = {}; });
    attempt([](test_case& of) { of.rows = row_kind::implicit; });
    attempt([](test_case& of) {
      if (of.rows == row_kind::wide) of.rows = row_kind::narrow;
    });
    attempt([](test_case& of) { of.masked = false; });
    attempt([](test_case& of) { of.schedule = 0; });
    for (placing test_case::*column : {&test_case::key_cells, &test_case::row_cells,
                                       &test_case::probe_cells, &test_case::value_cells}) {
      attempt([&](test_case& of) { of.*column = {}; });
      attempt([&](test_case& of) { (of.*column).skew = 0; });
      attempt([&](test_case& of) { (of.*column).stride = 1; });
    }
    for (std::size_t i = 0; i < best_.steps.size(); ++i) {
      attempt([&](test_case& of) { of.steps[i].fails = {}; });
      attempt([&](test_case& of) { of.steps[i].threads = 1; });
      attempt([&](test_case& of) { of.steps[i].points = true; });
      attempt([&](test_case& of) { of.steps[i].summed = key_type::uint32; });
      attempt([&](test_case& of) { of.steps[i].erase_pairs = false; });
    }
  }

  // ---- joins

  void simplify_tables() {
    attempt([](test_case& of) { of.joins->hash_seed.reset(); });
    attempt([](test_case& of) { of.joins->missing_equal = false; });
    for (std::size_t i = best_.joins->by.size(); i-- > 0;) {
      attempt([&](test_case& of) {
        of.joins->by.erase(of.joins->by.begin() + static_cast<std::ptrdiff_t>(i));
        for_each_row(of, [&](table_row& row) {
          row.by.erase(row.by.begin() + static_cast<std::ptrdiff_t>(i));
        });
      });
    }
    for (std::size_t i = 0; i < best_.joins->questions.size(); ++i) {
      const auto question = [i](test_case & of) -> auto& {
        return of.joins->questions[i];
      };
      attempt([&](test_case& of) { question(of).fails = {}; });
      attempt([&](test_case& of) { question(of).threads = 1; });
      attempt([&](test_case& of) { question(of).part = 0; });
      attempt([&](test_case& of) { question(of).wide = false; });
      attempt([&](test_case& of) { question(of).kind = join_kind::inner; });
      attempt([&](test_case& of) { question(of).count = 1; });
      attempt([&](test_case& of) { question(of).first = false; });
    }
    attempt([](test_case& of) {
      for_each_row(of, [](table_row& row) { row.first.missing = row.second.missing = false; });
    });
    for (std::size_t i = 0; i < best_.joins->by.size(); ++i)
      rank_cells([i](table_row & row) -> auto& { return row.by[i]; });
    rank_values();
  }

  template <class F>
  static void for_each_row(test_case& of, F&& f) {
    for (table_row& row : of.joins->build)
      f(row);
    for (join_question& one : of.joins->questions)
      for (table_row& row : one.probes)
        f(row);
  }
  // Replaces different cells of a key by small ones.
  template <class Cell>
  void rank_cells(Cell&& cell_of) {
    attempt([&](test_case& of) {
      std::set<std::uint64_t> all;
      for_each_row(of, [&](table_row& row) { all.insert(cell_of(row).bits); });
      for_each_row(of, [&](table_row& row) {
        auto& bits = cell_of(row).bits;
        bits = static_cast<std::uint64_t>(std::distance(all.begin(), all.find(bits)));
      });
    });
  }
  // Replaces values by their ranks, if both columns have them in common.
  void rank_values() {
    if (best_.joins->second != best_.key) return;
    const auto less = [&](std::uint64_t a, std::uint64_t b) {
      return is_less(number_of(best_.key, a), number_of(best_.key, b));
    };
    for (const key_format format : {format_of<std::uint32_t>, best_.key}) {
      attempt([&](test_case& of) {
        std::set<std::uint64_t, decltype(less)> all(less);
        const auto each = [&](auto&& f) {
          for_each_row(of, [&](table_row& row) {
            f(row.first);
            f(row.second);
          });
        };
        each([&](cell& one) { all.insert(one.bits); });
        of.key = of.joins->second = format;
        each([&](cell& one) {
          const auto rank = std::distance(all.begin(), all.find(one.bits));
          one.bits = bits_of(format, static_cast<std::uint64_t>(rank));
        });
      });
    }
  }

  void simplify_values() {
    attempt([](test_case& of) { for_each_key(of, [](cell& one) { one.missing = false; }); });
    attempt([](test_case& of) { for_each_position(of, [](cell& one) { one.missing = false; }); });
    rank_keys(format_of<std::uint32_t>);
    rank_keys(best_.key);
    rank_rows();
    lessen([](auto& of, auto&& f) { for_each_key(of, f); }, &cell::row, format_of<std::uint64_t>);
    lessen([](auto& of, auto&& f) { for_each_position(of, f); }, &cell::bits, best_.position);
  }

  // Moves whole numbers towards 0; equal ones stay equal.
  template <class ForEach>
  void lessen(ForEach&& for_each_cell, std::uint64_t cell::*what, key_format format) {
    std::set<std::uint64_t> values;
    for_each_cell(best_, [&](const cell& one) { values.insert(one.*what); });
    if (values.size() > 100) return;
    for (const std::uint64_t value : values) {
      const number from = number_of(format, value);
      for (const number to : {number{0}, std::trunc(from / 2), from < 0 ? from + 1 : from - 1}) {
        if (std::abs(to) >= std::abs(from)) continue;
        const std::uint64_t lesser = bits_of(
            format, to < 0 ? ~static_cast<std::uint64_t>(-to) + 1 : static_cast<std::uint64_t>(to));
        attempt([&](test_case& of) {
          for_each_cell(of, [&](cell& one) {
            if (one.*what == value) one.*what = lesser;
          });
        });
      }
    }
  }

  // Replaces keys by their ranks, in a format.
  void rank_keys(key_format format) {
    const auto less = [&](std::uint64_t a, std::uint64_t b) {
      return is_less(number_of(best_.key, a), number_of(best_.key, b));
    };
    std::set<std::uint64_t, decltype(less)> keys(less);
    for_each_key(best_, [&](const cell& one) { keys.insert(one.bits); });
    const std::vector<std::uint64_t> order(keys.begin(), keys.end());
    attempt([&](test_case& of) {
      of.key = format;
      for_each_key(of, [&](cell& one) {
        const auto at = std::lower_bound(order.begin(), order.end(), one.bits, less);
        one.bits = bits_of(format, static_cast<std::uint64_t>(at - order.begin()));
      });
    });
  }

  void rank_rows() {
    std::set<std::uint64_t> rows;
    for_each_key(best_, [&](const cell& one) { rows.insert(one.row); });
    attempt([&](test_case& of) {
      for_each_key(of, [&](cell& one) {
        one.row = static_cast<std::uint64_t>(std::distance(rows.begin(), rows.find(one.row)));
      });
    });
  }

  test_case best_;
  backend where_;
  const std::function<bool(const test_case&)>& fails_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace

test_case shrink(const test_case& failing, backend where,
                 const std::function<bool(const test_case&)>& fails, std::chrono::seconds limit) {
  return shrinker(failing, where, fails, limit).run();
}

}  // namespace raydex::test
