// SPDX-License-Identifier: Apache-2.0
// What `estimate_aggregate` says beside what the memory resource sees of builds and calls.
#include "raydex/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/choice/estimates.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class estimated_aggregates : public test::backend_test {
 protected:
  struct made_of {
    const index& over;
    aggregate_options parts;
    bool missing;
    bool finite;
  };

  template <class T>
  void compare(const made_of& how, std::size_t cells) const {
    const index_info& info = how.over.info();
    SCOPED_TRACE(std::to_string(info.entries) + " entries, values " +
                 std::string(to_string(format_of<T>)) + (how.missing ? ", some missing" : "") +
                 (how.finite ? ", finite" : ""));
    auto random = test::generator(cells);
    std::vector<T> values(cells);
    for (T& value : values)
      value = static_cast<T>(test::below(random, 1000));
    const bool floating = std::is_floating_point_v<T>;
    if (floating && !how.finite && cells != 0)
      values[cells / 16 * 8] = std::numeric_limits<T>::infinity();  // not missing
    const auto there = at().upload(values);
    const auto present = at().upload(std::vector<std::uint8_t>(cells / 8 + 1, 0x5b));
    tracking_resource meter(context(at()).memory);
    const auto built =
        build_aggregate({meter, context(at()).stream}, how.over,
                        how.missing ? column(there, present.data()) : column(there), how.parts);
    const column_facts keys{.n = info.entries, .row_ids = info.row_ids};
    const value_facts known{
        .format = format_of<T>, .missing = how.missing, .finite = how.finite || !floating};
    const aggregate_estimate said = estimate_aggregate(info.where, keys, known, how.parts);
    expect_near(meter.current(), said.resident_bytes, true);
    expect_near(meter.peak(), said.build_peak_bytes, true);
    EXPECT_EQ(built->info().resident_bytes, meter.current());
    const aggregate_estimate most =
        estimate_aggregate(info.where, keys, value_facts{.format = format_of<T>}, how.parts);
    expect_near(meter.current(), most.resident_bytes, false);
    expect_near(meter.peak(), most.build_peak_bytes, false);
    compare_calls<T>(*built, how, said.per_probe);
  }

  template <class T>
  void compare_calls(const aggregate& built, const made_of& how,
                     const aggregate_probe_bytes& each) const {
    const index_info& info = how.over.info();
    const probe_bytes of_index =
        estimate(info.structure, info.where,
                 {.n = info.entries, .key = info.key, .row_ids = info.row_ids})
            .per_probe;
    const std::uint64_t locating = std::max(of_index.first, of_index.count);
    const std::size_t n = test::tested_by_emulation() ? 300 : 5'000;
    const auto points_there = at().upload(std::vector<std::uint32_t>(n, 40));
    const probes batch = points(column(points_there));
    buffer<std::uint64_t> out(at(), n);
    const auto call = [&](const char* name, std::uint64_t bytes, const auto& ask) {
      SCOPED_TRACE(name);
      tracking_resource meter(context(at()).memory);
      ask(context{meter, context(at()).stream});
      EXPECT_LE(meter.peak(),
                n * (bytes + locating) + (at().where() == backend::cpu ? 0 : 4 << 20));
      EXPECT_GE(meter.peak(), n * bytes);
    };
    call("count_values", each.count_values,
         [&](const context& on) { built.count_values(on, batch, std::span(out.data(), n)); });
    const value_span extreme(format_of<T>, out.data(), n);
    if (how.parts.sums) {
      using sum =
          std::conditional_t<std::is_floating_point_v<T>, double,
                             std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
      buffer<sum> sums(at(), n);
      buffer<double> means(at(), n);
      call("sum", each.sum,
           [&](const context& on) { built.sum(on, batch, std::span(sums.data(), n)); });
      call("mean", each.sum,
           [&](const context& on) { built.mean(on, batch, std::span(means.data(), n)); });
    }
    if (how.parts.minima)
      call("minimum", each.extreme, [&](const context& on) { built.minimum(on, batch, extreme); });
    if (how.parts.maxima)
      call("maximum", each.extreme, [&](const context& on) { built.maximum(on, batch, extreme); });
    if (how.parts.first_rows) {
      const row_id_span rows(info.row_ids, out.data(), n);
      call("first", each.first, [&](const context& on) { built.first(on, batch, rows); });
    }
  }

  template <class T>
  void compare_all(const index& over, std::size_t cells) const {
    for (unsigned drawn = 0; drawn < 16; ++drawn) {
      const aggregate_options parts{.sums = (drawn & 1) != 0,
                                    .minima = (drawn & 2) != 0,
                                    .maxima = (drawn & 4) != 0,
                                    .first_rows = (drawn & 8) != 0};
      compare<T>({over, parts, drawn % 3 == 0, drawn % 5 != 0}, cells);
    }
  }

  // Without values, counts and first rows alone.
  void compare_without_values(const index& over) const {
    for (const bool first_rows : {false, true}) {
      tracking_resource meter(context(at()).memory);
      const aggregate_options parts{.first_rows = first_rows};
      const auto built = build_aggregate({meter, context(at()).stream}, over, std::nullopt, parts);
      const index_info& info = over.info();
      const aggregate_estimate said = estimate_aggregate(
          info.where, {.n = info.entries, .row_ids = info.row_ids}, std::nullopt, parts);
      expect_near(meter.current(), said.resident_bytes, true);
      expect_near(meter.peak(), said.build_peak_bytes, true);
      EXPECT_EQ(said.per_probe.sum + said.per_probe.extreme + said.per_probe.count_values, 0);
    }
  }
};

TEST_F(estimated_aggregates, are_what_builds_and_calls_take) {
  std::vector<std::size_t> sizes{0, 1, 2, 8, 9, 513, 5'003};
  if (!test::tested_by_emulation()) sizes.push_back(test::small_scale() ? 30'011 : 200'003);
  for (const std::size_t n : sizes) {
    const auto keys = at().upload(keys_of<std::uint32_t>(spread::repeated, n));
    const auto narrow = build("sorted_array", at().where(), at(), column(keys));
    compare_without_values(*narrow);
    compare_all<std::uint32_t>(*narrow, n);
    compare_all<double>(*narrow, n);
    if (n > 10'000) continue;
    compare_all<float>(*narrow, n);
    compare_all<std::int64_t>(*narrow, n);
    std::vector<std::uint64_t> rows(n);
    std::iota(rows.begin(), rows.end(), std::uint64_t{0});
    const auto rows_there = at().upload(rows);
    const auto wide = build("sorted_array", at().where(), at(), column(keys), column(rows_there));
    compare_without_values(*wide);
    compare_all<std::int32_t>(*wide, n);
    compare_all<double>(*wide, n);
    compare_all<std::uint64_t>(*wide, n);
    if (at().where() != backend::cpu) continue;
    for (const char* const structure : {"cgrx", "rx"})
      compare_all<float>(*build(structure, at().where(), at(), column(keys)), n);
  }
}

TEST(estimate, refuses_aggregates_of_strings) {
  test::expect_error<invalid_argument>(
      [] {
        (void)estimate_aggregate(backend::cpu, {.n = 10},
                                 value_facts{.format = key_format::bytes(3)});
      },
      {"aggregates are of numbers"});
  test::expect_error<invalid_argument>(
      [] { (void)estimate_aggregate(backend::cpu, {.n = (std::uint64_t{1} << 45) + 1}); }, {"n: "});
}

}  // namespace
}  // namespace raydex
