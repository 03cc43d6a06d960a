// SPDX-License-Identifier: Apache-2.0
// Draws cases of joins.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/random/drawer.hpp"

namespace raydex::test {

const std::vector<std::string>& drawn_joins() {
  static const std::vector<std::string> all{"equi_join",         "asof_join",       "range_join",
                                            "interval_join",     "inequality_join", "nearest_join",
                                            "interval_coverage", "window_join"};
  return all;
}

namespace {

class join_drawer : public drawer {
 public:
  explicit join_drawer(drawer begun) : drawer(std::move(begun)), join_(*made_.joins) {}

  test_case make() {
    draw_formats();
    made_.masked = one_in(8);
    made_.key_cells = draw_placing();
    made_.value_cells = draw_placing();
    made_.probe_cells = draw_placing();
    made_.build_fails = draw_fault();
    draw_options();
    uneven_ = one_in(40);
    const std::size_t size = uneven_ ? draw_long_size() : draw_size(false);
    draw_spread(size);
    for (const auto& format : join_.by)
      kinds_.push_back(draw_kinds(format, size));
    for (std::size_t i = 0; i < size; ++i) {
      join_.build.push_back({{draw_key(size), 0, is_missing()}, {}, draw_by()});
      add_second(join_.build.back(), size, false);
      pool_.push_back(join_.build.back().first);
    }
    if (one_in(4)) ascend();
    for (std::uint64_t left = uneven_ ? 1 : 1 + draw(3); left > 0; --left)
      join_.questions.push_back(draw_question(size));
    return finish();
  }

 private:
  bool is(const char* name) const { return made_.structure == name; }
  bool has_intervals() const {
    return is("interval_join") || is("nearest_join") || is("interval_coverage");
  }

  void draw_formats() {
    const bool numbers = is("asof_join") || is("window_join") || is("nearest_join") || one_in(2);
    made_.key = one_of(numbers ? number_formats() : all_formats());
    while (is("interval_coverage") && !is_integer(made_.key))
      made_.key = one_of(number_formats());
    join_.second = made_.key;
    if (is("window_join")) join_.second = one_of(number_formats());
    if (is("inequality_join") && !one_in(3)) join_.second = one_of(all_formats());
    const std::uint64_t columns = one_in(2) ? 0 : 1 + draw(is("equi_join") ? 3 : 2);
    for (std::uint64_t i = 0; i < columns; ++i) {
      if (one_in(5)) {
        join_.by.emplace_back();
      } else {
        join_.by.emplace_back(one_of(all_formats()));
      }
    }
  }

  void draw_options() {
    join_.closed = static_cast<closed_ends>(draw(4));
    join_.first = static_cast<comparison>(draw(4));
    join_.other = static_cast<comparison>(draw(4));
    join_.values = !one_in(8);
    join_.sums = join_.values && !one_in(4);
    join_.minima = join_.values && !one_in(4);
    join_.maxima = join_.values && !one_in(4);
    if (!is("equi_join")) return;
    join_.missing_equal = one_in(3);
    if (one_in(2)) join_.hash_seed = static_cast<std::uint32_t>(random_());
    std::vector<std::string> fitting{"auto"};
    const bool one_column = join_.by.empty() && !join_.missing_equal;
    const key_type type = one_column ? made_.key.type : key_type::uint64;
    for (const capability& can : capabilities()) {
      if (can.where == tested_.where && can.sparse &&
          std::ranges::find(can.keys, type) != can.keys.end())
        fitting.push_back(can.structure);
    }
    join_.structure = one_of(fitting);
  }

  // ---- rows

  // The values that cells of a column of a key mostly have.
  std::vector<std::uint64_t> draw_kinds(const std::optional<key_format>& format, std::size_t size) {
    std::vector<std::uint64_t> kinds(1 + draw(one_in(4) ? 1 + size / 3 : 6));
    const bool dense = one_in(2);
    for (std::uint64_t& bits : kinds)
      bits = draw_kind(format, dense);
    return kinds;
  }
  std::uint64_t draw_kind(const std::optional<key_format>& format, bool dense) {
    if (!format) return draw(200);
    if (dense) return bits_of(*format, draw(1000));
    return one_in(2) ? one_of(extremes_of(*format)) : random_() & mask_of(*format);
  }
  std::vector<cell> draw_by() {
    std::vector<cell> key;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const std::uint64_t bits = one_in(30) ? draw_kind(join_.by[i], false) : one_of(kinds_[i]);
      key.push_back({bits, 0, is_missing()});
    }
    return key;
  }

  // After the first cell.
  void add_second(table_row& row, std::size_t size, bool of_probes) {
    row.second.missing = is_missing();
    if (is("window_join") && !of_probes) {
      row.second.bits = draw_value();
    } else if (made_.second(of_probes) != made_.key) {
      row.second.bits = draw_kind(join_.second, one_in(2));
    } else {
      const std::uint64_t kind = draw(4);
      row.second.bits = row.first.bits;
      if (kind == 1) row.second.bits = near(row.first.bits);
      if (kind > 1) row.second.bits = draw_key(size);
      const auto number = [&](const cell& of) { return number_of(made_.key, of.bits); };
      if (has_intervals() && !one_in(8) && is_less(number(row.second), number(row.first)))
        std::swap(row.first.bits, row.second.bits);
    }
  }
  // What is aggregated: floating values whose sums are exact.
  std::uint64_t draw_value() {
    const key_format format = join_.second;
    const bool real = format.type == key_type::float32 || format.type == key_type::float64;
    if (one_in(12)) {
      const std::uint64_t bits = one_of(extremes_of(format));
      const number value = number_of(format, bits);
      if (!real || value == 0 || !std::isfinite(value)) return bits;
    }
    return bits_of(format, draw(4000));
  }

  void ascend() {
    std::stable_sort(
        join_.build.begin(), join_.build.end(), [&](const table_row& a, const table_row& b) {
          return is_less(number_of(made_.key, a.first.bits), number_of(made_.key, b.first.bits));
        });
  }

  // ---- questions

  drawn_distance draw_distance() {
    const std::uint64_t kind = draw(10);
    if (kind == 0) return {.real = INFINITY, .is_real = true};
    if (is_whole(made_.key)) {
      if (kind == 1) return {.whole = ~std::uint64_t{0}};
      if (kind == 2) return {.whole = random_() & mask_of(made_.key)};
      return {.whole = draw(kind < 6 ? 4 : 300)};
    }
    if (kind == 1) return {.real = std::numeric_limits<float>::max(), .is_real = true};
    if (kind < 6 || pool_.empty())
      return {.real = static_cast<double>(draw(40)) / 4, .is_real = true};
    const auto value = [&] {
      return static_cast<double>(number_of(made_.key, one_of(pool_).bits));
    };
    const double apart = std::abs(value() - value());
    return {.real = std::isnan(apart) ? 0 : apart, .is_real = true};
  }
  static bool is_integer(key_format format) {
    return is_whole(format) && format.type != key_type::bytes;
  }
  static bool is_whole(key_format format) {
    return format.type != key_type::float32 && format.type != key_type::float64;
  }

  std::vector<matching> fitting_questions() const {
    const bool numbers = made_.key.type != key_type::bytes;
    std::vector<matching> all;
    if (is("asof_join")) return {matching::asof};
    if (is("window_join")) return {matching::window, matching::ranges, matching::own_windows};
    if (is("inequality_join")) return {matching::both};
    if (is("nearest_join")) return {matching::nearest, matching::ties};
    if (is("interval_coverage")) return {matching::covered};
    if (is("interval_join")) return {matching::points, matching::relation};
    if (is("equi_join")) {
      all.push_back(matching::equal);
      const bool ordered = join_.structure == "auto" || has_order(join_.structure);
      if (!join_.by.empty() || join_.missing_equal) return all;
      all.push_back(matching::points);
      if (!ordered) return all;
    } else {
      all.push_back(matching::points);
    }
    all.insert(all.end(), {matching::ranges, matching::compared});
    if (numbers) all.push_back(matching::band);
    return all;
  }

  join_question draw_question(std::size_t size) {
    join_question made;
    made.how = one_of(fitting_questions());
    // The oracle compares each probe row with each build row.
    const std::size_t most = 1 + (tested_.emulated ? 100'000 : 300'000) / (size + 1);
    if (made.how == matching::own_windows && size > most) made.how = matching::window;
    const bool equal = made.how == matching::equal || made.how == matching::points;
    const bool any_kind = (is("equi_join") && equal) || is("range_join") || is("interval_join") ||
                          is("inequality_join");
    made.kind = static_cast<join_kind>(draw(any_kind ? 6 : 4));
    made.compared = static_cast<comparison>(draw(4));
    made.relation = static_cast<interval_relation>(draw(3));
    made.direction = static_cast<asof_direction>(draw(3));
    made.which = one_in(2) ? closeness::or_equal : closeness::strict;
    made.closed = static_cast<closed_ends>(draw(4));
    made.count = 1 + draw(one_in(3) ? 40 : 3);
    made.overlaps = made.how == matching::ties || one_in(2);
    made.first = is("interval_join") && one_in(4);
    const bool windows = made.how == matching::window || made.how == matching::own_windows;
    const bool within = made.how == matching::asof && one_in(2);
    if (windows || within || made.how == matching::band) made.before = draw_distance();
    if (windows) made.after = draw_distance();
    if (is("window_join")) draw_aggregates(made);
    made.part = random_();
    made.wide = one_in(3);
    made.fails = draw_fault();
    made.threads = draw_threads(made.fails);
    if (made.how == matching::own_windows) return made;
    const std::size_t probes = uneven_ ? 1 + draw(one_in(3) ? 2 : 60) : draw_size(false);
    for (std::size_t i = 0; i < std::min(probes, most); ++i) {
      made.probes.push_back({draw_end(size), {}, draw_by()});
      add_second(made.probes.back(), size, true);
    }
    return made;
  }

  void draw_aggregates(join_question& made) {
    std::vector<aggregated> all{aggregated::count, aggregated::first_row, aggregated::last_row};
    if (join_.sums) all.insert(all.end(), {aggregated::sum, aggregated::mean});
    if (join_.minima)
      all.insert(all.end(),
                 {aggregated::minimum, aggregated::argmin, aggregated::first, aggregated::last});
    if (join_.maxima) all.insert(all.end(), {aggregated::maximum, aggregated::argmax});
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + draw(all.size()));
    made.aggregates = all;
  }

  join_case& join_;  // of the case
  std::vector<std::vector<std::uint64_t>> kinds_;
};

}  // namespace

test_case draw_join(drawer begun) {
  return join_drawer(std::move(begun)).make();
}

}  // namespace raydex::test
