// SPDX-License-Identifier: Apache-2.0
// See join_oracle.hpp.
#include "tests/random/join_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace raydex::test {

namespace {

bool is_less_equal(number a, number b) {
  return !is_less(b, a);
}

bool compares(number build, number probe, comparison how) {
  switch (how) {
    case comparison::less:
      return is_less(build, probe);
    case comparison::less_equal:
      return is_less_equal(build, probe);
    case comparison::greater:
      return is_less(probe, build);
    case comparison::greater_equal:
      break;
  }
  return is_less_equal(probe, build);
}

// Equal where cells are: zeros, and NaN.
std::string key_text(const std::optional<key_format>& format, const cell& of) {
  if (of.missing) return "missing";
  if (!format) return string_of(of);
  const number value = number_of(*format, of.bits);
  if (std::isnan(value)) return "nan";
  return fmt::format("{:a}", value == 0 ? number{0} : value);
}

}  // namespace

std::string string_of(const cell& of) {
  std::string text(of.bits % 41, 'x');
  const std::uint64_t kind = of.bits / 41 % 5;
  if (!text.empty()) text.back() = "x\0y\xffz"[kind];
  // What differs still comes in front.
  return of.bits < 205 ? text : fmt::format("{}-{}", of.bits, text);
}

walked_join::walked_join(const test_case& tried)
    : case_(tried), build_(read(tried.joins->build, false)) {}

walked_join::side walked_join::read(const std::vector<table_row>& rows, bool are_probes) const {
  const join_case& join = *case_.joins;
  side all;
  for (const table_row& row : rows) {
    const auto value = [](key_format format, const cell& of) {
      return of.missing ? std::nullopt : std::optional(number_of(format, of.bits));
    };
    all.first.push_back(value(case_.key, row.first));
    all.second.push_back(value(case_.second(are_probes), row.second));
    std::string key;
    bool missing = false;
    for (std::size_t i = 0; i < join.by.size(); ++i) {
      missing |= row.by[i].missing;
      const std::string text = key_text(join.by[i], row.by[i]);
      key += fmt::format("{}:{};", text.size(), text);
    }
    if (case_.structure == "equi_join" && join.by.empty()) {
      missing = row.first.missing;
      key = key_text(case_.key, row.first);
    }
    all.keys.push_back(missing && !join.missing_equal ? std::nullopt : std::optional(key));
  }
  return all;
}

walked_rows walked_join::rows(const join_question& asked) const {
  if (asked.how == matching::ties) return tied_rows(asked);
  const std::vector<table_row>& builds = case_.joins->build;
  const bool own = asked.how == matching::own_windows;
  const side probes = own ? build_ : read(asked.probes, true);
  const bool by_rows = asked.how == matching::equal;
  const bool by_second =
      asked.how == matching::relation && asked.relation == interval_relation::within;
  const bool descends =
      asked.how == matching::both && (case_.joins->first == comparison::greater ||
                                      case_.joins->first == comparison::greater_equal);
  std::vector<std::size_t> order(builds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& values = by_second ? build_.second : build_.first;
  if (!by_rows) {
    std::erase_if(order, [&](std::size_t b) { return !values[b]; });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return descends ? is_less(*values[b], *values[a]) : is_less(*values[a], *values[b]);
    });
  }
  const bool keyed = by_rows || case_.structure != "equi_join";
  walked_rows found(probes.keys.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    for (const std::size_t b : order) {
      if (keyed && (!probes.keys[p] || !build_.keys[b] || *probes.keys[p] != *build_.keys[b]))
        continue;
      if (matches(asked, probes, p, b) && !(asked.first && !found[p].empty()))
        found[p].push_back(b);
    }
  }
  return found;
}

bool walked_join::matches(const join_question& asked, const side& probes, std::size_t p,
                          std::size_t b) const {
  if (asked.how == matching::equal) return true;
  if (!probes.first[p]) return false;
  const number first = *probes.first[p];
  const number value = *build_.first[b];
  // What windows do not have belongs to none.
  if (case_.structure == "window_join" && case_.joins->values && !build_.second[b]) return false;
  switch (asked.how) {
    case matching::points:
      if (case_.structure == "interval_join") return is_related(asked, first, first, b);
      return is_equal(value, first);
    case matching::compared:
      return compares(value, first, asked.compared);
    case matching::band:
      return !std::isnan(first) && !std::isnan(value) &&
             apart(value, first) <= distance(*asked.before);
    case matching::window:
    case matching::own_windows:
      return is_in_window(asked, first, b);
    default:
      break;
  }
  if (!probes.second[p]) return false;
  const number second = *probes.second[p];
  if (asked.how == matching::ranges)
    return is_less_equal(first, value) && is_less_equal(value, second);
  if (asked.how == matching::both) {
    return build_.second[b] && compares(value, first, case_.joins->first) &&
           compares(*build_.second[b], second, case_.joins->other);
  }
  return is_less_equal(first, second) && is_related(asked, first, second, b);
}

bool walked_join::is_related(const join_question& asked, number lower, number upper,
                             std::size_t b) const {
  if (!build_.first[b] || !build_.second[b]) return false;
  const number begin = *build_.first[b];
  const number end = *build_.second[b];
  if (is_less(end, begin)) return false;
  const closed_ends closed = case_.joins->closed;
  const bool begins_with = closed == closed_ends::both || closed == closed_ends::left;
  const bool ends_with = closed == closed_ends::both || closed == closed_ends::right;
  if (asked.how == matching::points) {
    return (begins_with ? is_less_equal(begin, lower) : is_less(begin, lower)) &&
           (ends_with ? is_less_equal(lower, end) : is_less(lower, end));
  }
  switch (asked.relation) {
    case interval_relation::within:
      return is_less_equal(lower, begin) && is_less_equal(end, upper);
    case interval_relation::encloses:
      return is_less_equal(begin, lower) && is_less_equal(upper, end);
    case interval_relation::overlaps:
      break;
  }
  return closed == closed_ends::both ? is_less_equal(begin, upper) && is_less_equal(lower, end)
                                     : is_less(begin, upper) && is_less(lower, end);
}

bool walked_join::is_in_window(const join_question& asked, number at, std::size_t b) const {
  const number time = *build_.first[b];
  if (std::isnan(time) || std::isnan(at)) return false;
  const bool at_left = asked.closed == closed_ends::both || asked.closed == closed_ends::left;
  const bool at_right = asked.closed == closed_ends::both || asked.closed == closed_ends::right;
  const auto is_near = [&](const drawn_distance& given, bool closed) {
    const number most = distance(given);
    if (std::isinf(most)) return true;
    return closed ? apart(time, at) <= most : apart(time, at) < most;
  };
  return (time > at || is_near(*asked.before, at_left)) &&
         (time < at || is_near(*asked.after, at_right));
}

// As their type rounds it; NaN is 0 from itself.
number walked_join::apart(number a, number b) const {
  if (is_equal(a, b)) return 0;
  switch (case_.key.type) {
    case key_type::float32:
      return std::abs(static_cast<float>(a) - static_cast<float>(b));
    case key_type::float64:
      return std::abs(static_cast<double>(a) - static_cast<double>(b));
    default:
      return std::abs(a - b);
  }
}

number walked_join::distance(const drawn_distance& given) const {
  if (!given.is_real) return static_cast<number>(given.whole);
  return case_.key.type == key_type::float32 ? static_cast<number>(static_cast<float>(given.real))
                                             : static_cast<number>(given.real);
}

bool walked_join::is_interval(const side& of, std::size_t row) {
  return of.first[row] && of.second[row] && !is_less(*of.second[row], *of.first[row]);
}
bool walked_join::are_of_one_key(const side& probes, std::size_t p, std::size_t b) const {
  return probes.keys[p] && build_.keys[b] && *probes.keys[p] == *build_.keys[b];
}

std::vector<std::vector<walked_join::neighbour>> walked_join::nearest(
    const join_question& asked) const {
  const side probes = read(asked.probes, true);
  std::vector<std::vector<neighbour>> found(asked.probes.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    if (!is_interval(probes, p)) continue;
    // By lower end those that share a point and those behind, by upper end those before.
    std::vector<std::uint64_t> shared;
    std::vector<std::uint64_t> before;
    std::vector<std::uint64_t> after;
    for (std::size_t b = 0; b < case_.joins->build.size(); ++b) {
      if (!is_interval(build_, b) || !are_of_one_key(probes, p, b)) continue;
      const bool ended = is_less(*build_.second[b], *probes.first[p]);
      const bool begins = is_less(*probes.second[p], *build_.first[b]);
      (ended ? before : begins ? after : shared).push_back(b);
    }
    const auto by_lower = [&](std::uint64_t a, std::uint64_t b) {
      return is_less(*build_.first[a], *build_.first[b]);
    };
    std::stable_sort(shared.begin(), shared.end(), by_lower);
    std::stable_sort(after.begin(), after.end(), by_lower);
    std::stable_sort(before.begin(), before.end(), [&](std::uint64_t a, std::uint64_t b) {
      return is_less(*build_.second[b], *build_.second[a]);
    });
    if (!asked.overlaps) shared.clear();
    if (asked.direction == asof_direction::forward) before.clear();
    if (asked.direction == asof_direction::backward) after.clear();
    for (const std::uint64_t row : shared)
      found[p].push_back({row, 0});
    std::vector<neighbour> first;
    std::vector<neighbour> second;
    for (const std::uint64_t row : before)
      first.push_back({row, apart(*build_.second[row], *probes.first[p])});
    for (const std::uint64_t row : after)
      second.push_back({row, apart(*build_.first[row], *probes.second[p])});
    std::merge(first.begin(), first.end(), second.begin(), second.end(),
               std::back_inserter(found[p]), [&](const neighbour& a, const neighbour& b) {
                 if (is_less(a.apart, b.apart)) return true;
                 return !is_less(b.apart, a.apart) && a.row < b.row;
               });
  }
  return found;
}

walked_rows walked_join::tied_rows(const join_question& asked) const {
  walked_rows tied;
  for (const auto& all : nearest(asked)) {
    auto& rows = tied.emplace_back();
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k < asked.count || is_equal(all[k].apart, all[asked.count - 1].apart))
        rows.push_back(all[k].row);
    }
    std::sort(rows.begin(), rows.end());
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint64_t a, std::uint64_t b) {
      return is_less(*build_.first[a], *build_.first[b]);
    });
  }
  return tied;
}

std::vector<number> walked_join::covered(const join_question& asked) const {
  const side probes = read(asked.probes, true);
  std::vector<number> all;
  for (std::size_t p = 0; p < asked.probes.size(); ++p) {
    number sum = 0;
    for (std::size_t b = 0; b < case_.joins->build.size() && is_interval(probes, p); ++b) {
      if (!is_interval(build_, b) || !are_of_one_key(probes, p, b)) continue;
      const number begin = std::max(*build_.first[b], *probes.first[p]);
      const number end = std::min(*build_.second[b], *probes.second[p]);
      if (begin < end) sum += end - begin;
    }
    // Numbers of 64 bits are exact; sums that begin to round are far above.
    all.push_back(sum >= 0x1p64L - 0x1p48L ? std::numeric_limits<number>::infinity() : sum);
  }
  return all;
}

std::vector<std::uint64_t> walked_join::closest(const join_question& asked) const {
  const side probes = read(asked.probes, true);
  std::vector<std::uint64_t> taken;
  for (std::size_t p = 0; p < asked.probes.size(); ++p) {
    std::uint64_t before = no_row;
    std::uint64_t after = no_row;
    const auto time = [&](std::uint64_t row) { return *build_.first[row]; };
    for (std::uint64_t b = 0; probes.first[p] && b < case_.joins->build.size(); ++b) {
      if (!build_.first[b] || !probes.keys[p] || probes.keys[p] != build_.keys[b]) continue;
      const bool equal = is_equal(time(b), *probes.first[p]) && asked.which == closeness::or_equal;
      // Of equal times the last one before a probe, and the first one after it.
      if ((equal || is_less(time(b), *probes.first[p])) &&
          (before == no_row || !is_less(time(b), time(before))))
        before = b;
      if ((equal || is_less(*probes.first[p], time(b))) &&
          (after == no_row || is_less(time(b), time(after))))
        after = b;
    }
    if (asked.direction == asof_direction::forward) before = no_row;
    if (asked.direction == asof_direction::backward) after = no_row;
    const auto far = [&](std::uint64_t row) { return apart(time(row), *probes.first[p]); };
    std::uint64_t row = before;
    if (after != no_row && (before == no_row || is_less(far(after), far(before)))) row = after;
    if (row != no_row && asked.before && !(far(row) <= distance(*asked.before))) row = no_row;
    taken.push_back(row);
  }
  return taken;
}

joined_pairs pairs_of(const walked_rows& found, join_kind kind, std::uint64_t builds) {
  joined_pairs all;
  const bool right = kind == join_kind::right || kind == join_kind::full;
  std::vector<bool> matched(right ? builds : 0);
  for (std::size_t p = 0; p < found.size(); ++p) {
    std::vector<std::uint64_t> rows = found[p];
    for (const std::uint64_t row : right ? rows : std::vector<std::uint64_t>{})
      matched[row] = true;
    const bool any = !rows.empty();
    if (kind == join_kind::semi && any) rows.resize(1);
    if (kind == join_kind::anti) rows.clear();
    const bool alone =
        kind == join_kind::left || kind == join_kind::full || kind == join_kind::anti;
    if (alone && !any) rows.push_back(no_row);
    all.probes.insert(all.probes.end(), rows.size(), p);
    all.builds.insert(all.builds.end(), rows.begin(), rows.end());
    all.counts.push_back(rows.size());
  }
  for (std::uint64_t row = 0; row < matched.size(); ++row) {
    if (matched[row]) continue;
    all.probes.push_back(no_row);
    all.builds.push_back(row);
    ++all.unmatched;
  }
  return all;
}

}  // namespace raydex::test
