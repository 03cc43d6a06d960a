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
#include "tests/choice/estimates.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

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
      expect_near(meter.current(), all_known.resident_bytes, one.exact);
      expect_near(meter.peak(), all_known.build_peak_bytes, one.exact);
      const memory_estimate most =
          estimate(one.structure, at().where(),
                   {.n = known.n, .key = known.key, .ascending = one.in_order}, one.options);
      expect_near(meter.current(), most.resident_bytes, false);
      expect_near(meter.peak(), most.build_peak_bytes, false);
      if (at().where() == backend::cpu) {
        EXPECT_GE(meter.peak(),
                  least_build_bytes(one.structure, {.n = known.n, .key = known.key}, one.options));
      }
    }
  }

  // `more`: what may come on top.
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
      expect_near(meter.peak(), n * bytes, exact && all_at_once, of_long_matches);
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
    expect_near(meter.current(), known_bytes.resident_bytes, one.exact);
    expect_near(meter.peak(), known_bytes.build_peak_bytes, one.exact);
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

}  // namespace
}  // namespace raydex
