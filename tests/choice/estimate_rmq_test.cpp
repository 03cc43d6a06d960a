// SPDX-License-Identifier: Apache-2.0
// What `estimate_rmq` says beside what the memory resource sees of builds and calls.
#include "raydex/estimate.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/choice/estimates.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

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
    expect_near(meter.current(), said.resident_bytes, one.exact);
    expect_near(meter.peak(), said.build_peak_bytes, one.exact);
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
