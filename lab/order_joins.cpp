// SPDX-License-Identifier: Apache-2.0
// raydex_order_joins: how long joins by order take with columns in the backend's memory: the build,
// the match, after which sizes and counts are known, and the rows, written to arrays that are
// there. Prints CSV, a line a join, with the median of each step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::string where = "cuda";
  double scale = 1;  // of all numbers of rows
  int repetitions = 7;
  std::vector<std::string> only;
};

class timer {
 public:
  timer(const session& on, const settings& s) : on_(on), settings_(s) {}

  std::uint64_t rows(double full) const {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(full * settings_.scale));
  }
  const session& on() const { return on_; }
  bool wants(const std::string& name) const {
    const auto& only = settings_.only;
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  }

  // Times `build()`, which makes the build side, `match(side)`, and what `prepare(found)` gives,
  // which writes an answer.
  template <class Build, class Match, class Prepare>
  void run(const std::string& name, std::uint64_t build_rows, std::uint64_t probe_rows,
           const Build& build, const Match& match, const Prepare& prepare) const {
    std::vector<double> taken[4];
    std::uint64_t rows = 0;
    std::size_t bytes = 0;
    for (int i = -1; i < settings_.repetitions; ++i) {  // the first one is not counted
      std::array<double, 4> ms{};
      std::invoke_result_t<Build> side;
      ms[0] = time_of([&] { side = build(); });
      decltype(match(*side)) found;
      ms[1] = time_of([&] { found = match(*side); });
      ms[2] = time_of([&] { found = match(*side); });  // what is built when first needed is there
      rows = found->size();
      bytes = side->info().resident_bytes;
      auto write = prepare(*found);
      ms[3] = time_of(write);
      for (std::size_t step = 0; i >= 0 && step < 4; ++step)
        taken[step].push_back(ms[step]);
    }
    print(name, build_rows, probe_rows, rows, taken, bytes);
  }
  // The same with the rows that `match` gives.
  template <class Build, class Match>
  void run(const std::string& name, std::uint64_t build_rows, std::uint64_t probe_rows,
           const Build& build, const Match& match) const {
    run(name, build_rows, probe_rows, build, match, [&](const joined& found) {
      const std::uint64_t pairs = found.size();
      return [this, &found, probes = buffer<std::uint32_t>(on_, pairs),
              builds = buffer<std::uint32_t>(on_, pairs)]() mutable {
        found.rows(on_, gather_maps(probes, builds));
      };
    });
  }

  // The same of a match that gives a row for each probe.
  template <class Build, class Match>
  void run_rows(const std::string& name, std::uint64_t build_rows, std::uint64_t probe_rows,
                const Build& build, const Match& match) const {
    std::vector<double> taken[4];
    std::size_t bytes = 0;
    for (int i = -1; i < settings_.repetitions; ++i) {
      std::invoke_result_t<Build> side;
      const double built = time_of([&] { side = build(); });
      const double first = time_of([&] { match(*side); });
      const double again = time_of([&] { match(*side); });
      bytes = side->info().resident_bytes;
      if (i < 0) continue;
      taken[0].push_back(built);
      taken[1].push_back(first);
      taken[2].push_back(again);
      taken[3].push_back(0);
    }
    print(name, build_rows, probe_rows, probe_rows, taken, bytes);
  }

 private:
  template <class F>
  double time_of(F&& f) const {
    on_.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    f();
    on_.synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  void print(const std::string& name, std::uint64_t build_rows, std::uint64_t probe_rows,
             std::uint64_t rows, std::vector<double> (&taken)[4], std::size_t bytes) const {
    double median[4];
    for (std::size_t step = 0; step < 4; ++step) {
      std::sort(taken[step].begin(), taken[step].end());
      median[step] = taken[step][taken[step].size() / 2];
    }
    fmt::print("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{}\n", settings_.where, name, build_rows,
               probe_rows, rows, median[0], median[1], median[2], median[3], bytes);
    std::fflush(stdout);
  }

  const session& on_;
  const settings& settings_;
};

// Half-open intervals on 24 chromosomes of equal length.
struct intervals {
  buffer<std::int32_t> chromosome;
  buffer<std::int32_t> lower;
  buffer<std::int32_t> upper;

  // With lengths of a lognormal distribution, and so many of them above each point on average.
  intervals(const session& on, std::uint64_t size, double mean, std::uint64_t seed) {
    constexpr std::int32_t length = 125'000'000;
    constexpr double sigma = 1.5;
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> lengths(std::log(mean) - sigma * sigma / 2, sigma);
    std::vector<std::int32_t> on_chromosome(size);
    std::vector<std::int32_t> from(size);
    std::vector<std::int32_t> to(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      on_chromosome[i] = static_cast<std::int32_t>(random() % 24);
      from[i] = static_cast<std::int32_t>(random() % length);
      to[i] = from[i] + 1 + static_cast<std::int32_t>(std::min(lengths(random), 1e9));
    }
    chromosome = on.upload(on_chromosome);
    lower = on.upload(from);
    upper = on.upload(to);
  }
};

void run_intervals(const timer& by) {
  const session& on = by.on();
  const intervals features(on, by.rows(1.2e6), 74'000, 1);
  const intervals reads(on, by.rows(9.9e6), 150, 2);
  const auto build = [&] {
    return build_interval_join(on.where(), on, column(features.lower), column(features.upper),
                               {column(features.chromosome)}, closed_ends::left);
  };
  const std::array<std::pair<std::string, interval_relation>, 3> relations{
      {{"overlaps", interval_relation::overlaps},
       {"encloses", interval_relation::encloses},
       {"within", interval_relation::within}}};
  for (const auto& [name, how] : relations) {
    if (!by.wants(name)) continue;
    by.run(name, features.lower.size(), reads.lower.size(), build,
           [&, how = how](const interval_join& side) {
             return side.match(on, column(reads.lower), column(reads.upper),
                               {column(reads.chromosome)}, how, join_kind::inner);
           });
  }
}

// Intervals about one point, and points there.
void run_deep(const timer& by, const std::string& name, double intervals, double points) {
  if (!by.wants(name)) return;
  const session& on = by.on();
  std::mt19937_64 random(3);
  std::vector<std::int32_t> lower(by.rows(intervals));
  std::vector<std::int32_t> upper(lower.size());
  for (std::size_t i = 0; i < lower.size(); ++i) {
    lower[i] = static_cast<std::int32_t>(random() % 1'000'000);
    upper[i] = 1'000'000 + static_cast<std::int32_t>(random() % 1'000'000);
  }
  std::vector<std::int32_t> at(static_cast<std::size_t>(points));
  for (auto& point : at)
    point = 1'000'000 - 1 + static_cast<std::int32_t>(random() % 667'000);
  const auto lower_there = on.upload(lower);
  const auto upper_there = on.upload(upper);
  const auto points_there = on.upload(at);
  by.run(
      name, lower.size(), at.size(),
      [&] { return build_interval_join(on.where(), on, column(lower_there), column(upper_there)); },
      [&](const interval_join& side) {
        return side.match(on, column(points_there), join_kind::inner);
      });
}

void run_inequalities(const timer& by) {
  if (!by.wants("inequalities")) return;
  const session& on = by.on();
  const std::uint64_t size = by.rows(1e6);
  // a < x and b > y: b lies a little after a, and y after x.
  std::mt19937_64 random(4);
  const auto column_of = [&](const auto& value) {
    std::vector<std::int32_t> all(size);
    for (auto& one : all)
      one = static_cast<std::int32_t>(value());
    return all;
  };
  const auto a = column_of([&] { return random() % 1'000'000'000; });
  const auto x = column_of([&] { return random() % 1'000'000'000; });
  std::size_t at = 0;
  const auto b = column_of([&] { return a[at++] + static_cast<int>(random() % 30'000); });
  at = 0;
  const auto y = column_of([&] { return x[at++] + static_cast<int>(random() % 10'000); });
  const auto a_there = on.upload(a);
  const auto b_there = on.upload(b);
  const auto x_there = on.upload(x);
  const auto y_there = on.upload(y);
  by.run(
      "inequalities", size, size,
      [&] {
        return build_inequality_join(on.where(), on, {column(a_there), comparison::less},
                                     {column(b_there), comparison::greater});
      },
      [&](const inequality_join& side) {
        return side.match(on, column(x_there), column(y_there), {}, join_kind::inner);
      });
}

template <class Key>
void run_band(const timer& by, const std::string& name) {
  if (!by.wants(name)) return;
  const session& on = by.on();
  const std::uint64_t size = by.rows(1e7);
  constexpr std::int64_t most = 1'000'000'000;
  std::mt19937_64 random(5);
  const auto drawn = [&] {
    std::vector<Key> keys(size);
    for (Key& key : keys)
      key = static_cast<Key>(random() % most);
    return on.upload(keys);
  };
  const auto built = drawn();
  const auto probed = drawn();
  // Ten of each probe.
  const auto distance = static_cast<std::int64_t>(5.0 * most / static_cast<double>(size));
  by.run(
      name, size, size, [&] { return build_range_join(on.where(), on, column(built)); },
      [&](const range_join& side) {
        return side.match_band(on, column(probed), distance, {}, join_kind::inner);
      });
}

// The nearest feature of each read and how far away it is, and what of the read features cover.
void run_near_intervals(const timer& by) {
  if (!by.wants("nearest") && !by.wants("coverage")) return;
  const session& on = by.on();
  const intervals features(on, by.rows(1.2e6), 1'000, 8);
  const intervals reads(on, by.rows(9.9e6), 150, 9);
  buffer<std::uint32_t> nearest(on, reads.lower.size());
  buffer<std::uint64_t> out(on, reads.lower.size());
  const auto measure = [&](const std::string& name, const auto& build, const auto& match) {
    if (by.wants(name))
      by.run_rows(
          name, features.lower.size(), reads.lower.size(),
          [&] {
            return build(on.where(), on, column(features.lower), column(features.upper),
                         key_parts{column(features.chromosome)});
          },
          [&](const auto& side) {
            match(side, column(reads.lower), column(reads.upper), {column(reads.chromosome)});
          });
  };
  measure("nearest", build_nearest_join,
          [&](const nearest_join& side, const column& lower, const column& upper,
              const key_parts& key) { side.match(on, lower, upper, key, {}, nearest, out); });
  measure("coverage", build_interval_coverage,
          [&](const interval_coverage& side, const column& lower, const column& upper,
              const key_parts& key) { side.match(on, lower, upper, key, out); });
}

// The row before each time, of its key and of all.
void run_asof(const timer& by, const std::string& name, double quote_rows, bool keyed) {
  if (!by.wants(name)) return;
  const session& on = by.on();
  constexpr std::int64_t days = 5LL * 86'400 * 1'000'000'000;
  std::mt19937_64 random(6);
  const auto times = [&](std::uint64_t size) {
    std::vector<std::int64_t> all(size);
    for (auto& time : all)
      time = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(random() % days);
    return on.upload(all);
  };
  const auto symbols = [&](std::uint64_t size) {
    std::vector<std::int32_t> all(size);
    for (auto& symbol : all)
      symbol = static_cast<std::int32_t>(random() % 8192);
    return on.upload(all);
  };
  const std::uint64_t quotes = by.rows(quote_rows);
  const std::uint64_t trades = by.rows(1ULL << 26);
  const auto quoted = times(quotes);
  const auto traded = times(trades);
  const auto quoted_symbols = symbols(quotes);
  const auto traded_symbols = symbols(trades);
  buffer<std::uint32_t> out(on, trades);
  const key_parts quote_keys = keyed ? key_parts{column(quoted_symbols)} : key_parts{};
  const key_parts trade_keys = keyed ? key_parts{column(traded_symbols)} : key_parts{};
  by.run_rows(
      name, quotes, trades,
      [&] { return build_asof_join(on.where(), on, column(quoted), quote_keys); },
      [&](const asof_join& side) { side.match(on, column(traded), trade_keys, {}, out); });
}

// Sums of the rows of a key in the hundred seconds before each: a match is the windows of the rows
// themselves, `rows_ms` their sums.
void run_windows(const timer& by, const std::string& name, bool ascending) {
  if (!by.wants(name)) return;
  const session& on = by.on();
  constexpr std::int64_t days = 5LL * 86'400 * 1'000'000'000;
  std::mt19937_64 random(7);
  const std::uint64_t size = by.rows(1ULL << 26);
  std::vector<std::int64_t> all_times(size);
  std::vector<std::int32_t> all_keys(size);
  std::vector<std::int32_t> all_values(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    all_times[i] = static_cast<std::int64_t>(random() % days);
    all_keys[i] = static_cast<std::int32_t>(random() % 8192);
    all_values[i] = static_cast<std::int32_t>(random() % 1000);
  }
  if (ascending) std::sort(all_times.begin(), all_times.end());
  const auto times = on.upload(all_times);
  const auto keys = on.upload(all_keys);
  const auto values = on.upload(all_values);
  buffer<std::int64_t> out(on, size);
  const key_parts key{column(keys)};
  by.run(
      name, size, size,
      [&] {
        return build_window_join(on.where(), on, column(times), key, column(values),
                                 {.sums = true, .minima = false, .maxima = false});
      },
      [&](const window_join& side) {
        return side.match_own(on, column(times), key, {.before = 100'000'000'000});
      },
      [&](const windowed& found) {
        return [&] { found.sum(on, std::span(out.data(), out.size())); };
      });
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) try {
  using namespace raydex;
  bench::settings s;
  CLI::App app{
      "Joins by order: intervals, nearest ones, coverage, two inequalities, bands, as-of, "
      "windows."};
  app.add_option("--backend", s.where, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--scale", s.scale, "of all numbers of rows");
  app.add_option("--repetitions", s.repetitions, "the median of these is printed");
  app.add_option("--only", s.only, "names of joins")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  const session on(s.where == "cpu" ? backend::cpu : backend::cuda);
  const bench::timer by(on, s);
  fmt::print(
      "backend,join,build_rows,probe_rows,rows,build_ms,first_match_ms,match_ms,rows_ms,bytes\n");
  bench::run_intervals(by);
  bench::run_deep(by, "points in deep intervals", 2e5, 2000);
  bench::run_deep(by, "a point in all intervals", 2e7, 1);
  bench::run_inequalities(by);
  bench::run_band<std::int64_t>(by, "band of int64");
  bench::run_band<std::int32_t>(by, "band of int32");
  bench::run_near_intervals(by);
  bench::run_asof(by, "as-of by a key", 0x1p27, true);
  bench::run_asof(by, "as-of", 0x1p27, false);
  bench::run_asof(by, "as-of of 2^28 rows by a key", 0x1p28, true);
  bench::run_asof(by, "as-of of 2^28 rows", 0x1p28, false);
  bench::run_windows(by, "windows of rows in no order", false);
  bench::run_windows(by, "windows of rows in order of time", true);
  return 0;
} catch (const std::exception& problem) {
  fmt::print(stderr, "raydex_order_joins: {}\n", problem.what());
  return 1;
}
