// SPDX-License-Identifier: Apache-2.0
// From measurements to the structure that suits a use case.
#include "raydex/advise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "raydex/column.hpp"
#include "raydex/direct.hpp"
#include "raydex/error.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

// Speeds that differ by less are equal: measurements vary by as much.
constexpr double noise = 1.05;

// The value at a place of a curve through some of its points; beyond its ends that of the end.
class curve_at {
 public:
  explicit curve_at(double place) : place_(place) {}

  void add(double x, double y) {
    if (x <= place_ && x > below_.x) below_ = {x, y};
    if (x >= place_ && x < above_.x) above_ = {x, y};
  }

  std::optional<double> value() const {
    const bool has_below = std::isfinite(below_.x);
    const bool has_above = std::isfinite(above_.x);
    if (!has_below && !has_above) return std::nullopt;
    if (!has_above) return below_.y;
    if (!has_below || above_.x == below_.x) return above_.y;
    const double share = (place_ - below_.x) / (above_.x - below_.x);
    return below_.y + share * (above_.y - below_.y);
  }

 private:
  struct point {
    double x, y;
  };
  double place_;
  // The nearest points on both sides; at infinity while there are none.
  point below_{-std::numeric_limits<double>::infinity(), 0};
  point above_{std::numeric_limits<double>::infinity(), 0};
};

double log2_of(std::uint64_t number) {
  return std::log2(static_cast<double>(std::max<std::uint64_t>(number, 1)));
}

int other_width(int key_bits) {
  return key_bits == 32 ? 64 : 32;
}

bool needs_ranges(const use_case& use) {
  return use.ordered || use.range_hits != 0;
}

// A structure with its options, and what to expect of it.
struct candidate {
  const measured_speed* row;  // any row of it
  bool sparse;                // whether its keys may lie any distance apart
  double seconds = 0;         // of a lookup
  bool exact = true;          // whether such keys and probes were measured, or others stand in
  std::uint64_t bytes = 0;
};

bool is_of(const measured_speed& row, const candidate& one) {
  return row.where == one.row->where && row.structure == one.row->structure &&
         row.options == one.row->options;
}

std::string name(const candidate& one) {
  std::string text = one.row->structure;
  for (const auto& [option, value] : one.row->options)
    text += fmt::format(" {}={}", option, value);
  return text;
}

// The lookups that a measurement made.
struct question {
  int key_bits;
  std::uint64_t range_hits;
  bool sorted;
};

bool is_about(const measured_speed& row, const question& query) {
  return row.key_bits == query.key_bits && row.sorted_probes == query.sorted &&
         row.range_hits == query.range_hits;
}

// Seconds of a lookup. The time of a search grows by its levels, so it is the time, not its
// inverse, that is interpolated over log2 n.
std::optional<double> seconds_at(const speed_table& measured, const candidate& one, std::uint64_t n,
                                 const question& query) {
  curve_at over_n(log2_of(n));
  for (const measured_speed& row : measured.rows()) {
    if (is_of(row, one) && is_about(row, query)) over_n.add(log2_of(row.n), 1 / row.lookups_per_s);
  }
  return over_n.value();
}

// The same for ranges of any number of hits: between the nearest numbers that were measured, and
// beyond the last in proportion to it.
std::optional<double> seconds_of(const speed_table& measured, const candidate& one, std::uint64_t n,
                                 const question& query) {
  if (query.range_hits == 0) return seconds_at(measured, one, n, query);
  std::uint64_t below = 0;
  std::uint64_t above = std::numeric_limits<std::uint64_t>::max();
  for (const measured_speed& row : measured.rows()) {
    const std::uint64_t hits = row.range_hits;
    if (hits == 0 || !is_of(row, one) || !is_about(row, {query.key_bits, hits, query.sorted})) {
      continue;
    }
    if (hits <= query.range_hits) below = std::max(below, hits);
    if (hits >= query.range_hits) above = std::min(above, hits);
  }
  const auto hits_asked = static_cast<double>(query.range_hits);
  curve_at over_hits(hits_asked);
  for (const std::uint64_t hits : {below, above}) {
    if (hits == 0) continue;
    if (const auto seconds = seconds_at(measured, one, n, {query.key_bits, hits, query.sorted})) {
      over_hits.add(static_cast<double>(hits), *seconds);
    }
  }
  auto seconds = over_hits.value();
  const bool is_last = above == std::numeric_limits<std::uint64_t>::max();
  if (seconds && is_last && below != 0) *seconds *= hits_asked / static_cast<double>(below);
  return seconds;
}

// Whether keys lie close enough for a structure with a place for each of them, and stay so.
bool are_dense(const use_case& use) {
  return std::ranges::find(integer_keys, use.key.type) != integer_keys.end() && use.span != 0 &&
         use.span <= saturated_product(use.n, direct_options{}.limit) && !use.updates;
}

// Fills in the speed; leaves 0 seconds where nothing near enough was measured.
void estimate_speed(const speed_table& measured, std::uint64_t n, const question& query,
                    candidate& one) {
  for (const int bits : {query.key_bits, other_width(query.key_bits)}) {
    for (const bool sorted : {query.sorted, false}) {
      const auto seconds = seconds_of(measured, one, n, {bits, query.range_hits, sorted});
      if (!seconds) continue;
      one.seconds = *seconds;
      one.exact = bits == query.key_bits && sorted == query.sorted;
      return;
    }
  }
}

// Bytes of a place for each key: a row id, and where keys repeat or have gaps also the rank of each
// place and a row id an entry.
double bytes_of_places(const use_case& use, int row_id_bytes) {
  const auto n = static_cast<double>(use.n);
  return row_id_bytes * (use.span == use.n ? n : 2 * static_cast<double>(use.span) + n);
}

// Bytes that an index holds: in proportion to keys and row ids, as measured.
std::uint64_t resident_bytes(const use_case& use, const speed_table& measured,
                             const candidate& one) {
  const int bits = use.key.encoded_bits();
  // Every candidate has a row, of one width or the other.
  double factor = 1;
  for (const int width : {other_width(bits), bits}) {
    curve_at over_n(log2_of(use.n));
    for (const measured_speed& row : measured.rows()) {
      if (row.key_bits != width || !is_of(row, one)) continue;
      over_n.add(log2_of(row.n), row.bytes_per_key / (width / 8. + 4));
    }
    factor = over_n.value().value_or(factor);
  }
  const int row_id_bytes = use.n < not_found<std::uint32_t> ? 4 : 8;
  const double bytes =
      one.sparse ? std::round(factor * (bits / 8. + row_id_bytes) * static_cast<double>(use.n))
                 : bytes_of_places(use, row_id_bytes);
  return bytes < 0x1p64 ? static_cast<std::uint64_t>(bytes)
                        : std::numeric_limits<std::uint64_t>::max();
}

std::string needs(const use_case& use) {
  std::string all = fmt::format("{} keys", to_string(use.key));
  if (needs_ranges(use)) all += " and ranges";
  if (use.updates) all += " and updates";
  return all;
}

bool can_do(const capability& one, const use_case& use) {
  return one.duplicates && (one.sparse || are_dense(use)) && (one.points || use.range_hits != 0) &&
         (one.ranges || !needs_ranges(use)) && (one.updates || !use.updates) &&
         std::ranges::find(one.keys, use.key.type) != one.keys.end();
}

[[noreturn]] void refuse(const use_case& use, const std::vector<capability>& offered) {
  const auto other =
      std::ranges::find_if(offered, [&](const capability& one) { return can_do(one, use); });
  std::string remedy = "nor does any on other backends";
  if (other != offered.end()) {
    remedy = fmt::format("{} does on {}", other->structure, to_string(other->where));
  } else if (use.updates) {
    remedy = "build an index anew after changes, and ask without updates";
  }
  throw unsupported(fmt::format("no structure on backend {} takes {}; {}", to_string(use.where),
                                needs(use), remedy));
}

// The structures that can do what is needed.
std::vector<capability> find_able(const use_case& use, const std::vector<capability>& offered) {
  std::vector<capability> able;
  for (const capability& one : offered) {
    if (one.where == use.where && can_do(one, use)) able.push_back(one);
  }
  if (able.empty()) refuse(use, offered);
  return able;
}

// What was measured of them, in the order of the table.
std::vector<candidate> find_candidates(const use_case& use, const speed_table& measured,
                                       const std::vector<capability>& able) {
  std::vector<candidate> all;
  for (const measured_speed& row : measured.rows()) {
    const auto found = std::ranges::find(able, row.structure, &capability::structure);
    if (row.where != use.where || found == able.end()) continue;
    if (std::ranges::none_of(all, [&](const candidate& one) { return is_of(row, one); })) {
      all.push_back({.row = &row, .sparse = found->sparse});
    }
  }
  return all;
}

// Fills in what to expect of the candidates; leaves those whose speed is known, fastest first.
void estimate(const use_case& use, const speed_table& measured,
              std::vector<candidate>& candidates) {
  question query{use.key.encoded_bits(), use.range_hits, use.sorted_probes};
  const auto is_known = [](const candidate& one) { return one.seconds != 0; };
  // A lookup reads among all places, with a key or without.
  const auto size_of = [&](const candidate& one) {
    return one.sparse ? use.n : std::max(use.n, use.span);
  };
  for (candidate& one : candidates) {
    one.bytes = resident_bytes(use, measured, one);
    estimate_speed(measured, size_of(one), query, one);
  }
  if (use.range_hits != 0 && std::ranges::none_of(candidates, is_known)) {
    query.range_hits = 0;
    for (candidate& one : candidates) {
      estimate_speed(measured, size_of(one), query, one);
      one.exact = false;
    }
  }
  std::erase_if(candidates, std::not_fn(is_known));
  std::ranges::stable_sort(candidates, {}, &candidate::seconds);
}

std::string number_text(double number) {
  constexpr std::array<std::string_view, 4> units{"", " k", " M", " G"};
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < units.size(); ++unit)
    number /= 1000;
  return fmt::format("{:.3g}{}", number, units.at(unit));
}

std::string workload_text(const use_case& use) {
  const std::string size = use.n >= 1024 && std::has_single_bit(use.n)
                               ? fmt::format("2^{}", std::countr_zero(use.n))
                               : fmt::format("{}", use.n);
  const std::string rows =
      use.range_hits == 0 ? "points" : fmt::format("ranges of {} rows", use.range_hits);
  return fmt::format("{} {} on {} {} keys", use.sorted_probes ? "sorted" : "unsorted", rows, size,
                     to_string(use.key));
}

// `fitting` and `too_large`: the candidates within the memory limit and beyond it, fastest first.
std::string reason(const use_case& use, const candidate& chosen,
                   const std::vector<candidate>& fitting, const std::vector<candidate>& too_large) {
  std::string why;
  if (fitting.size() == 1) {
    why = fmt::format("the only one measured that takes {}{}", needs(use),
                      too_large.empty() ? "" : " within the memory limit");
  } else if (chosen.row != fitting.front().row) {
    why = fmt::format("as fast as {} within 5 %, and smaller", name(fitting.front()));
  } else {
    why = fmt::format("the fastest of {}, {:.2f} times {}", fitting.size(),
                      fitting[1].seconds / chosen.seconds, name(fitting[1]));
  }
  if (!too_large.empty() && too_large.front().seconds < chosen.seconds) {
    why += fmt::format(" ({} is faster, but holds {} bytes)", name(too_large.front()),
                       too_large.front().bytes);
  }
  return fmt::format("for {} it is {}: about {} lookups/s by measurements {}on {}, in {} bytes",
                     workload_text(use), why, number_text(1 / chosen.seconds),
                     chosen.exact ? "" : "of other keys or probes ", chosen.row->device,
                     chosen.bytes);
}

}  // namespace

advice advise(const use_case& use, const speed_table& measured,
              const std::vector<capability>& offered) try {
  check_format("key", use.key);
  const std::vector<capability> able = find_able(use, offered);
  std::vector<candidate> fitting = find_candidates(use, measured, able);
  estimate(use, measured, fitting);
  if (fitting.empty() && able.size() == 1 && use.memory_limit == 0) {
    return {.structure = able.front().structure,
            .options = {},
            .reason = fmt::format("on {} it is the only one that takes {}; it was not measured",
                                  to_string(use.where), needs(use))};
  }
  if (fitting.empty()) {
    std::vector<std::string_view> names;
    for (const capability& one : able)
      names.emplace_back(one.structure);
    throw unsupported(fmt::format(
        "nothing that takes {} was measured on backend {}; choose by name ({}), or give "
        "measurements",
        needs(use), to_string(use.where), fmt::join(names, ", ")));
  }
  std::vector<candidate> too_large;
  if (use.memory_limit != 0) {
    const auto fits = [&](const candidate& one) { return one.bytes <= use.memory_limit; };
    std::ranges::copy_if(fitting, std::back_inserter(too_large), std::not_fn(fits));
    std::erase_if(fitting, std::not_fn(fits));
  }
  if (fitting.empty()) {
    const candidate& least = *std::ranges::min_element(too_large, {}, &candidate::bytes);
    throw invalid_argument(
        fmt::format("memory limit: {} bytes are too few for {} {} keys; {} holds the fewest, {}",
                    use.memory_limit, use.n, to_string(use.key), name(least), least.bytes));
  }
  const double slowest = noise * fitting.front().seconds;
  const auto end = std::ranges::upper_bound(fitting, slowest, {}, &candidate::seconds);
  const candidate& chosen = *std::ranges::min_element(fitting.begin(), end, {}, &candidate::bytes);
  return {.structure = chosen.row->structure,
          .options = chosen.row->options,
          .reason = reason(use, chosen, fitting, too_large),
          .lookups_per_s = 1 / chosen.seconds,
          .resident_bytes = chosen.bytes};
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
