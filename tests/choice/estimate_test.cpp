// SPDX-License-Identifier: Apache-2.0
// What `estimate` says beside what the memory resource sees of builds and calls.
#include "raydex/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/choice/least_bytes.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

// A structure with options, and how close its figures are where all is known of a column.
struct tried {
  std::string structure;
  option_map options = {};
  bool exact = true;      // else a bound: the keys decide, or Embree
  bool in_order = false;  // takes keys in order alone
};

std::vector<tried> structures_here() {
  std::vector<tried> all{
      {"sorted_array"},
      {"sorted_array", {{"layout", "row"}}},
      {"pivot_tree", {}, false},
      {"pivot_tree", {{"nodes", "exact"}}},
      {"pivot_tree", {{"nodes", "quantised"}}},
      {"pivot_tree", {{"nodes", "narrow"}}},
      {"pivot_tree", {{"layout", "keys"}, {"nodes", "quantised"}}, true, true},
      {"pivot_tree", {{"search", "groups"}}},
      {"pivot_tree", {{"search", "groups"}, {"k", "3"}, {"levels", "2"}, {"layout", "column"}}},
      {"btree"},
      {"btree", {{"fill", "50"}}},
      {"eytzinger"},
      {"direct"},
      {"hash_open"},
      {"hash_open", {{"load", "40"}, {"bucket", "128"}}},
      {"hash_open", {{"placement", "choices"}}},
      {"hash_bucket"},
      {"hash_bucket", {{"occupancy", "50"}}},
  };
  if (test::tested_backend() != backend::cpu) return all;
  for (const char* const structure : {"cgrx", "rx"})
    all.push_back({structure, {}, false});
  all.push_back({"cgrx", {{"node", "32"}}, false});
  all.push_back({"cgrx", {{"layout", "packed"}}, false});
  all.push_back({"cgrx", {{"layout", "aligned"}, {"bucket", "64"}}, false});
  all.push_back({"cgrx", {{"mapping", "bits"}}, false});
  all.push_back({"rx", {{"primitive", "box"}}, false});
  all.push_back({"rx", {{"primitive", "sphere"}}, false});
  all.push_back({"rx", {{"duplicates", "keep"}}, false});
  return all;
}

// Those whose calls are tried: where kernels are emulated, of each structure the first one alone.
std::vector<tried> called_here() {
  std::vector<tried> all = structures_here();
  std::erase_if(all, [](const tried& one) { return one.in_order; });
  if (!test::tested_by_emulation()) return all;
  const auto same = [](const tried& a, const tried& b) { return a.structure == b.structure; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

// How many keys such indexes have.
std::size_t called_keys(std::size_t usual) {
  return test::tested_by_emulation() ? 5'003 : test::small_scale() ? 30'011 : usual;
}

std::string name_of(const tried& one) {
  std::string text = one.structure;
  for (const auto& [name, value] : one.options)
    text.append(" ").append(name).append("=").append(value);
  return text;
}

enum class spread { apart, dense, in_order, repeated, one_twice, equal };

template <class Key>
std::vector<Key> keys_of(spread how, std::size_t n) {
  auto random = test::generator(n);
  std::vector<Key> keys(n);
  std::iota(keys.begin(), keys.end(), Key{7});
  if (how == spread::apart) {
    for (Key& key : keys)
      key = static_cast<Key>(random());
    if (n > 1) {
      keys[0] = 0;
      keys[n - 1] = std::numeric_limits<Key>::max();
    }
  }
  if (how == spread::repeated)
    for (Key& key : keys)
      key = static_cast<Key>(test::below(random, n / 10 + 1));
  if (how == spread::equal) std::fill(keys.begin(), keys.end(), Key{7});
  if (how == spread::dense || how == spread::one_twice)
    std::shuffle(keys.begin(), keys.end(), random);
  if (how == spread::one_twice && n > 2) keys[n / 2] = keys[n / 3];
  return keys;
}

template <class Key>
column_facts facts_of(const std::vector<Key>& keys) {
  column_facts facts{.n = keys.size(), .key = format_of<Key>};
  facts.ascending = std::is_sorted(keys.begin(), keys.end());
  if (keys.empty()) return facts;
  std::vector<Key> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t span = std::uint64_t{sorted.back()} - sorted.front() + 1;
  facts.different =
      static_cast<std::uint64_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
  facts.span = span == 0 ? std::numeric_limits<std::uint64_t>::max() : span;
  return facts;
}

// 1 %, or what counts take, and on a GPU what roots of large trees differ by.
std::size_t tolerance(std::size_t bytes) {
  const bool on_gpu = test::tested_backend() != backend::cpu && !test::tested_by_emulation();
  return std::max<std::size_t>(bytes / 100, on_gpu ? 256 << 10 : 32 << 10);
}

class estimated_memory : public test::backend_test {
 protected:
  template <class Key>
  void compare(const std::vector<Key>& keys) const {
    const column_facts known = facts_of(keys);
    const auto there = at().upload(keys);
    for (const tried& one : structures_here()) {
      if (one.in_order && !known.ascending) continue;
      if (one.structure == "direct" && known.span > 4 * known.n) continue;
      SCOPED_TRACE(name_of(one) + ", " + std::to_string(keys.size()) + " keys");
      tracking_resource meter(context(at()).memory);
      const auto built = build(one.structure, at().where(), {meter, context(at()).stream},
                               column(there), std::nullopt, one.options);
      const memory_estimate all_known = estimate(one.structure, at().where(), known, one.options);
      EXPECT_EQ(all_known.structure, one.structure);
      check(meter.current(), all_known.resident_bytes, one.exact);
      check(meter.peak(), all_known.build_peak_bytes, one.exact);
      const memory_estimate most =
          estimate(one.structure, at().where(),
                   {.n = known.n, .key = known.key, .ascending = one.in_order}, one.options);
      check(meter.current(), most.resident_bytes, false);
      check(meter.peak(), most.build_peak_bytes, false);
      if (at().where() == backend::cpu) {
        EXPECT_GE(meter.peak(),
                  least_build_bytes(one.structure, {.n = known.n, .key = known.key}, one.options));
      }
    }
  }

  // `more`: what may come on top.
  static void check(std::size_t measured, std::uint64_t estimated, bool exact,
                    std::size_t more = 0) {
    EXPECT_LE(measured, estimated + tolerance(estimated) + more);
    if (exact) {
      EXPECT_GE(measured + tolerance(estimated), estimated);
    }
  }

  // Has an index answer points, each with one match.
  void compare_calls(const index& built, const probe_bytes& each, const column& keys,
                     bool exact) const {
    const std::uint64_t n = keys.size;
    const auto batch = points(keys);
    const bool narrow = built.info().row_ids == row_id_type::uint32;
    buffer<std::uint64_t> numbers(at(), n);
    buffer<std::uint32_t> narrow_rows(at(), narrow ? n : 0);
    buffer<bool> found(at(), n);
    const row_id_span rows = narrow ? row_id_span(narrow_rows) : row_id_span(numbers);
    const std::size_t of_long_matches = at().where() == backend::cpu ? 0 : 4 << 20;
    const auto call = [&](const char* name, std::uint64_t bytes, const auto& ask,
                          bool all_at_once = true) {
      SCOPED_TRACE(name);
      tracking_resource meter(context(at()).memory);
      ask(context{meter, context(at()).stream});
      check(meter.peak(), n * bytes, exact && all_at_once, of_long_matches);
    };
    const std::span out(numbers.data(), n);
    call("first", each.first, [&](const context& on) { built.first(on, batch, rows); });
    call("contains", each.contains,
         [&](const context& on) { built.contains(on, batch, std::span(found.data(), n)); });
    call("count", each.count, [&](const context& on) { built.count(on, batch, out); });
    call("sum", each.sum, [&](const context& on) { built.sum(on, batch, out); });
    call(
        "rows", each.rows + each.match,
        [&](const context& on) { EXPECT_EQ(built.rows(on, batch).total, n); },
        each.rows == 8);  // scratch is freed before matches come
    const auto offered = capabilities();
    const auto own = std::ranges::find(offered, built.info().structure, &capability::structure);
    if (!own->ranges || built.info().options.find("node=32") != std::string::npos) return;
    const auto as_ranges = ranges(keys, keys);
    const std::uint64_t scratch = std::max(each.first, each.sum);
    call(
        "first of ranges", scratch, [&](const context& on) { built.first(on, as_ranges, rows); },
        scratch == 0);
    call("count of ranges", each.count,
         [&](const context& on) { built.count(on, as_ranges, out); });
    call("sum of ranges", each.sum, [&](const context& on) { built.sum(on, as_ranges, out); });
    call("rank", each.rank, [&](const context& on) { built.rank(on, batch, out); });
    call("predecessor", each.closest,
         [&](const context& on) { built.predecessor(on, batch, rows); });
    call("successor", each.closest, [&](const context& on) { built.successor(on, batch, rows); });
  }

  template <class Key>
  void compare_all(std::size_t n) const {
    for (const spread how : {spread::apart, spread::dense, spread::in_order, spread::repeated,
                             spread::one_twice, spread::equal}) {
      SCOPED_TRACE(static_cast<int>(how));
      compare(keys_of<Key>(how, n));
    }
  }
};

TEST_F(estimated_memory, is_what_builds_take) {
  for (const std::size_t n : {0u, 1u, 2u, 1000u, 30'011u}) {
    compare_all<std::uint32_t>(n);
    compare_all<std::uint64_t>(n);
  }
}

TEST_F(estimated_memory, is_what_builds_of_many_keys_take) {
  if (test::small_scale() || test::tested_by_emulation()) GTEST_SKIP() << "takes too long";
  for (const spread how : {spread::apart, spread::in_order, spread::repeated}) {
    compare(keys_of<std::uint32_t>(how, 1'000'003));
    compare(keys_of<std::uint64_t>(how, 1'000'003));
  }
}

TEST_F(estimated_memory, is_what_wide_row_ids_take) {
  const auto keys = keys_of<std::uint32_t>(spread::dense, called_keys(30'011));
  column_facts known = facts_of(keys);
  known.row_ids = row_id_type::uint64;
  const auto there = at().upload(keys);
  std::vector<std::uint64_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), std::uint64_t{1} << 40);
  const auto rows_there = at().upload(rows);
  for (const tried& one : called_here()) {
    SCOPED_TRACE(name_of(one));
    tracking_resource meter(context(at()).memory);
    const auto built = build(one.structure, at().where(), {meter, context(at()).stream},
                             column(there), column(rows_there), one.options);
    const memory_estimate known_bytes = estimate(one.structure, at().where(), known, one.options);
    check(meter.current(), known_bytes.resident_bytes, one.exact);
    check(meter.peak(), known_bytes.build_peak_bytes, one.exact);
    EXPECT_GE(meter.peak(),
              least_build_bytes(
                  one.structure,
                  {.n = keys.size(), .key = known.key, .row_ids = row_id_type::uint64}, {}));
    compare_calls(*built, known_bytes.per_probe, column(there), false);
  }
}

TEST_F(estimated_memory, is_what_calls_take) {
  const auto keys = keys_of<std::uint64_t>(spread::dense, called_keys(200'003));
  const auto there = at().upload(keys);
  auto all = called_here();
  if (at().where() == backend::cpu) {
    all.push_back({"cgrx", {{"order", "sorted"}}, false});
    all.push_back({"rx", {{"order", "sorted"}}, false});
    all.push_back({"rx", {{"hits", "any"}}, false});
  }
  for (const tried& one : all) {
    SCOPED_TRACE(name_of(one));
    const auto built =
        build(one.structure, at().where(), at(), column(there), std::nullopt, one.options);
    const memory_estimate known =
        estimate(one.structure, at().where(), facts_of(keys), one.options);
    compare_calls(*built, known.per_probe, column(there), true);
  }
}

// Structures for minima with options.
std::vector<tried> minima_here() {
  std::vector<tried> all{
      {"rmq_scan"},
      {"rmq_cover"},
      {"rmq_cover", {{"memory", "small"}}},
      {"rmq_cover", {{"extreme", "maximum"}, {"ties", "rightmost"}}},
      {"rmq_lca"},
      {"rmq_lca", {{"extreme", "maximum"}}},
      {"rmq_hierarchy"},
      {"rmq_hierarchy", {{"chunk", "2"}, {"cutoff", "2"}}},
      {"rmq_hierarchy", {{"load", "coalesced"}, {"extreme", "maximum"}}},
  };
  if (test::tested_backend() != backend::cpu) return all;
  all.push_back({"rmq_rx", {}, false});
  all.push_back({"rmq_rx", {{"block", "32"}, {"build", "trace"}}, false});
  all.push_back({"rmq_hierarchy", {{"top", "rays"}}, false});
  all.push_back({"rmq_hierarchy", {{"top", "rays"}, {"chunk", "4"}, {"cutoff", "100"}}, false});
  return all;
}

// Some option values at random.
tried drawn_minima(std::mt19937_64& random) {
  tried one{"rmq_cover"};
  const auto flip = [&] { return test::below(random, 2) == 0; };
  if (flip()) one.structure = "rmq_hierarchy";
  if (flip()) one.options["extreme"] = "maximum";
  if (flip()) one.options["ties"] = "rightmost";
  if (one.structure == "rmq_cover") {
    if (flip()) one.options["memory"] = "small";
    return one;
  }
  if (flip()) one.options["chunk"] = std::to_string(1u << (1 + test::below(random, 10)));
  if (flip()) one.options["cutoff"] = std::to_string(2 + test::below(random, 300));
  if (flip()) one.options["load"] = "coalesced";
  return one;
}

class estimated_minima : public test::backend_test {
 protected:
  template <class T>
  void compare(const tried& one, const buffer<T>& array) const {
    SCOPED_TRACE(name_of(one) + ", " + std::to_string(array.size()) + " values");
    tracking_resource meter(context(at()).memory);
    const auto built = build_rmq(one.structure, at().where(), {meter, context(at()).stream},
                                 column(array), one.options);
    const rmq_estimate said =
        estimate_rmq(one.structure, at().where(), array.size(), format_of<T>, one.options);
    EXPECT_EQ(said.structure, one.structure);
    const auto check = [&](std::size_t measured, std::uint64_t bytes) {
      EXPECT_LE(measured, bytes + tolerance(bytes));
      if (one.exact) {
        EXPECT_GE(measured + tolerance(bytes), bytes);
      }
    };
    check(meter.current(), said.resident_bytes);
    check(meter.peak(), said.build_peak_bytes);
    EXPECT_EQ(built->info().resident_bytes, meter.current());
    EXPECT_EQ(built->info().build_peak_bytes, meter.peak());
    compare_calls(*built, said.per_probe);
  }

  void compare_calls(const rmq& built, const rmq_probe_bytes& each) const {
    const std::size_t n = test::tested_by_emulation() ? 500 : 2'000;
    const auto lower = at().upload(std::vector<std::uint32_t>(n, 0));
    const auto upper = at().upload(std::vector<std::uint32_t>(n, 700));
    const probes batch = ranges(column(lower), column(upper));
    buffer<std::uint64_t> out(at(), n);
    const auto call = [&](const char* name, std::uint64_t bytes, const auto& ask) {
      SCOPED_TRACE(name);
      tracking_resource meter(context(at()).memory);
      ask(context{meter, context(at()).stream});
      EXPECT_EQ(meter.peak(), n * bytes);
    };
    const value_span values(built.info().value, out.data(), n);
    call("extreme", each.extreme, [&](const context& on) {
      built.info().extreme == rmq_extreme::minimum ? built.minimum(on, batch, values)
                                                   : built.maximum(on, batch, values);
    });
    call("position", each.position,
         [&](const context& on) { built.position(on, batch, std::span(out.data(), n)); });
  }

  template <class T>
  buffer<T> array_of(std::size_t n) const {
    auto random = test::generator(n);
    std::vector<T> values(n);
    for (T& value : values)
      value = static_cast<T>(test::below(random, 1'000'000));
    return at().upload(values);
  }

  template <class T>
  void compare_all(std::size_t n) const {
    const buffer<T> array = array_of<T>(n);
    for (const tried& one : minima_here())
      compare(one, array);
  }
};

TEST_F(estimated_minima, are_what_builds_and_calls_take) {
  std::vector<std::size_t> sizes{0, 1, 2, 15, 16, 17, 511, 512, 513, 1023, 1025, 5003};
  if (!test::tested_by_emulation()) sizes.insert(sizes.end(), {16'384, 16'385, 100'003});
  for (const std::size_t n : sizes) {
    compare_all<std::uint32_t>(n);
    compare_all<double>(n);
  }
  for (const std::size_t n : {16u, 5003u}) {
    compare_all<std::int32_t>(n);
    compare_all<float>(n);
    compare_all<std::uint64_t>(n);
    compare_all<std::int64_t>(n);
  }
}

TEST_F(estimated_minima, are_what_others_take) {
  auto random = test::generator(3);
  const std::uint64_t most = test::tested_by_emulation() ? 5'000 : 200'000;
  for (int i = 0; i < 40; ++i) {
    const std::size_t n = test::below(random, i % 2 == 0 ? most / 50 : most);
    const tried one = drawn_minima(random);
    compare(one, array_of<float>(n));
    compare(one, array_of<std::int64_t>(n));
  }
}

TEST_F(estimated_minima, are_what_large_arrays_take) {
  if (test::small_scale() || test::tested_by_emulation()) GTEST_SKIP() << "takes too long";
  compare_all<float>(2'000'003);
  compare_all<std::int64_t>(1'000'003);
}

// Aggregates over an index, of values that are drawn.
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
    near(meter.current(), said.resident_bytes, true);
    near(meter.peak(), said.build_peak_bytes, true);
    EXPECT_EQ(built->info().resident_bytes, meter.current());
    const aggregate_estimate most =
        estimate_aggregate(info.where, keys, value_facts{.format = format_of<T>}, how.parts);
    near(meter.current(), most.resident_bytes, false);
    near(meter.peak(), most.build_peak_bytes, false);
    compare_calls<T>(*built, how, said.per_probe);
  }

  static void near(std::size_t measured, std::uint64_t bytes, bool exact) {
    EXPECT_LE(measured, bytes + tolerance(bytes));
    if (exact) {
      EXPECT_GE(measured + tolerance(bytes), bytes);
    }
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
      near(meter.current(), said.resident_bytes, true);
      near(meter.peak(), said.build_peak_bytes, true);
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

// As `rmq_memory` says, where there are more than some KiB.
TEST(estimate, has_covers_within_their_bounds) {
  for (const key_format value : {format_of<float>, format_of<std::int64_t>}) {
    for (unsigned power = 16; power <= 45; ++power) {
      for (const std::uint64_t n : {std::uint64_t{1} << power, (std::uint64_t{1} << power) - 1}) {
        SCOPED_TRACE(n);
        const std::uint64_t array = n * value.width;
        const auto fast = estimate_rmq("auto", backend::cuda, n, value);
        const auto small = estimate_rmq("rmq_cover", backend::cpu, n, value, {{"memory", "small"}});
        EXPECT_EQ(fast.structure, "rmq_cover");
        EXPECT_LE(fast.resident_bytes, array / 4);
        EXPECT_GE(fast.resident_bytes, array / 10);
        EXPECT_LE(small.resident_bytes, array / 25);
        EXPECT_GE(small.resident_bytes, array / 100);
      }
    }
  }
}

TEST(estimate, grows_with_values_up_to_more_than_memory_has) {
  for (const backend where : {backend::cpu, backend::cuda}) {
    for (const rmq_capability& one : rmq_capabilities()) {
      if (one.where != where || one.structure == "rmq_cover") continue;
      std::uint64_t before = 0;
      for (unsigned power = 0; power <= 45; ++power) {
        SCOPED_TRACE(one.structure + " of 2^" + std::to_string(power));
        const rmq_estimate bytes =
            estimate_rmq(one.structure, where, std::uint64_t{1} << power, format_of<double>);
        EXPECT_GE(bytes.resident_bytes, before);
        EXPECT_GE(bytes.build_peak_bytes, bytes.resident_bytes);
        before = bytes.resident_bytes;
      }
    }
  }
}

TEST(estimate, takes_what_auto_stands_for) {
  for (const key_type type : {key_type::uint32, key_type::int64, key_type::float64}) {
    const column_facts facts{.n = 1'000'000, .key = key_format(type)};
    const memory_estimate chosen = estimate("auto", backend::cpu, facts);
    const advice advised = advise({.n = facts.n, .key = facts.key, .ordered = true});
    EXPECT_EQ(chosen.structure, advised.structure);
    EXPECT_EQ(chosen.resident_bytes,
              estimate(advised.structure, backend::cpu, facts, advised.options).resident_bytes);
  }
}

TEST(estimate, grows_with_rows_up_to_more_than_memory_has) {
  for (const backend where : {backend::cpu, backend::cuda}) {
    for (const capability& one : capabilities()) {
      if (one.where != where) continue;
      std::uint64_t before = 0;
      for (unsigned power = 0; power <= 48; ++power) {
        const std::uint64_t n = std::uint64_t{1} << power;
        const memory_estimate bytes =
            estimate(one.structure, where, {.n = n, .key = format_of<std::uint64_t>});
        SCOPED_TRACE(one.structure + " of 2^" + std::to_string(power));
        EXPECT_GE(bytes.resident_bytes, std::max(before, 4 * n));
        EXPECT_GE(bytes.build_peak_bytes, bytes.resident_bytes);
        before = bytes.resident_bytes;
      }
    }
  }
}

TEST(estimate, refuses_what_cannot_be) {
  const column_facts facts{.n = 10, .key = format_of<std::uint32_t>};
  const auto refuse = [&](auto error, std::string_view structure, backend where,
                          const column_facts& keys, const option_map& options,
                          const std::vector<std::string>& words) {
    test::expect_error<decltype(error)>([&] { (void)estimate(structure, where, keys, options); },
                                        words);
  };
  const invalid_argument invalid("");
  const unsupported cannot("");
  column_facts wrong = facts;
  wrong.different = 11;
  refuse(invalid, "btree", backend::cpu, wrong, {}, {"different: 11 of 10 keys"});
  wrong.different = 10;
  wrong.span = 9;
  refuse(invalid, "direct", backend::cpu, wrong, {}, {"span: 9 places for 10 keys"});
  wrong = facts;
  wrong.n = (std::uint64_t{1} << 48) + 1;
  refuse(invalid, "btree", backend::cpu, wrong, {}, {"n: ", "at most 281474976710656"});
  wrong = facts;
  wrong.key.width = 3;
  for (const char* const structure : {"auto", "btree"})
    refuse(invalid, structure, backend::cpu, wrong, {}, {"no format"});
  wrong = facts;
  wrong.span = 41;
  refuse(cannot, "direct", backend::cpu, wrong, {}, {"limit=4"});
  wrong.key = format_of<float>;
  refuse(cannot, "direct", backend::cpu, wrong, {}, {"takes integers"});
  refuse(invalid, "tree", backend::cpu, facts, {}, {"'tree' is not one of auto, "});
  refuse(invalid, "rmq_scan", backend::cpu, facts, {}, {"is not one of"});
  refuse(invalid, "btree", backend::cpu, facts, {{"fill", "7"}}, {"fill"});
  refuse(cannot, "pivot_tree", backend::cpu, facts, {{"layout", "column"}}, {"search=groups"});
  refuse(cannot, "cgrx", backend::cuda, facts, {}, {"it is on cpu, optix"});
  for (const char* const structure : {"rx", "cgrx"})
    refuse(cannot, structure, backend::optix, facts, {}, {"the driver decides", "build the index"});
  refuse(cannot, "rx", backend::cpu, facts, {{"inverse", "on"}}, {"build the index"});
  refuse(cannot, "rx", backend::cpu, facts, {{"primitives", "rows"}}, {"build the index"});
}

TEST(estimate, refuses_minima_that_cannot_be) {
  const auto refuse = [&](auto error, std::string_view structure, backend where, std::uint64_t n,
                          key_format value, const option_map& options,
                          const std::vector<std::string>& words) {
    test::expect_error<decltype(error)>(
        [&] { (void)estimate_rmq(structure, where, n, value, options); }, words);
  };
  const invalid_argument invalid("");
  const unsupported cannot("");
  const key_format value = format_of<float>;
  refuse(invalid, "rmq_cover", backend::cpu, (std::uint64_t{1} << 45) + 1, value, {},
         {"n: ", "at most 35184372088832"});
  key_format wrong = value;
  wrong.width = 3;
  refuse(invalid, "rmq_cover", backend::cpu, 10, wrong, {}, {"no format"});
  refuse(invalid, "rmq_scan", backend::cpu, 10, key_format::bytes(4), {},
         {"minima are of numbers"});
  refuse(invalid, "btree", backend::cpu, 10, value, {}, {"'btree' is not one of auto, "});
  refuse(invalid, "rmq_cover", backend::cpu, 10, value, {{"memory", "much"}}, {"memory"});
  refuse(invalid, "rmq_hierarchy", backend::cpu, 10, value, {{"chunk", "3"}}, {"chunk"});
  refuse(cannot, "rmq_hierarchy", backend::cuda, 10, value, {{"top", "rays"}}, {"optix"});
  refuse(cannot, "rmq_rx", backend::cuda, 10, value, {}, {"it is on cpu, optix"});
  for (const char* const structure : {"rmq_rx", "rmq_hierarchy"}) {
    for (const std::uint64_t n : {0u, 10u})
      refuse(cannot, structure, backend::optix, n, value, {}, {"the driver decides"});
  }
}

}  // namespace
}  // namespace raydex
