// SPDX-License-Identifier: Apache-2.0
// Parses the values of the axes and multiplies them out.
#include "bench/lookups/sweep.hpp"

#include <optional>
#include <string_view>

#include "bench/lookups/report.hpp"
#include "bench/workloads/axis.hpp"

namespace raydex::bench {

static void read(std::string_view option, std::string_view text, order& out) {
  read_name(option, text, out, {order::unsorted, order::sorted});
}

static void read(std::string_view option, std::string_view text, miss& out) {
  read_name(option, text, out, {miss::inside, miss::outside});
}

static void read(std::string_view option, std::string_view text, distribution& out) {
  read_name(option, text, out,
            {distribution::uniform, distribution::clumped, distribution::skewed,
             distribution::lognormal, distribution::steps});
}

static void read(std::string_view option, std::string_view text, std::optional<distribution>& out) {
  read_name<std::optional<distribution>>(
      option, text, out,
      {std::nullopt, distribution::uniform, distribution::clumped, distribution::skewed,
       distribution::lognormal, distribution::steps});
}

void replace(axes& all, const axes& given) {
  constexpr std::vector<std::string> axes::*every[] = {
      &axes::keys,         &axes::probes,       &axes::batches,     &axes::key_bits,
      &axes::uniformity,   &axes::distribution, &axes::stride,      &axes::value_bits,
      &axes::multiplicity, &axes::insert_order, &axes::probe_order, &axes::hit_rate,
      &axes::miss,         &axes::zipf,         &axes::range_hits,  &axes::updated_from,
      &axes::waves,        &axes::growth,       &axes::array,       &axes::array_file,
      &axes::period,       &axes::values,       &axes::ranges,      &axes::position_bits,
      &axes::changes,      &axes::seed};
  static_assert(sizeof every / sizeof *every == sizeof(axes) / sizeof(std::vector<std::string>));
  for (const auto axis : every) {
    if (!(given.*axis).empty()) all.*axis = given.*axis;
  }
}

std::vector<workload> sweep(const axes& given) {
  refuse(given, "it is of minima; structures for these have names that begin with rmq_",
         {{"--array", &axes::array},
          {"--array-file", &axes::array_file},
          {"--period", &axes::period},
          {"--values", &axes::values},
          {"--ranges", &axes::ranges},
          {"--position-bits", &axes::position_bits},
          {"--changes", &axes::changes}});
  std::vector<workload> all(1);
  multiply(all, "--range-hits", &workload::range_hits, given.range_hits);
  for (workload& what : all) {
    if (what.range_hits != 0) what.uniformity = 0;
  }
  multiply(all, "--uniformity", &workload::uniformity, given.uniformity);
  multiply(all, "--distribution", &workload::shape, given.distribution);
  multiply(all, "--stride", &workload::stride, given.stride);
  multiply(all, "--value-bits", &workload::value_bits, given.value_bits);
  multiply(all, "--multiplicity", &workload::multiplicity, given.multiplicity);
  multiply(all, "--insert-order", &workload::insert_order, given.insert_order);
  multiply(all, "--probe-order", &workload::probe_order, given.probe_order);
  multiply(all, "--hit-rate", &workload::hit_rate, given.hit_rate);
  multiply(all, "--miss", &workload::misses, given.miss);
  multiply(all, "--zipf", &workload::zipf, given.zipf);
  multiply(all, "--updated-from", &workload::updated_from, given.updated_from);
  multiply(all, "--waves", &workload::waves, given.waves);
  multiply(all, "--growth", &workload::growth, given.growth);
  multiply(all, "--key-bits", &workload::key_bits, given.key_bits);
  multiply(all, "--batches", &workload::batches, given.batches);
  multiply(all, "--probes", &workload::probes, given.probes);
  multiply(all, "--keys", &workload::keys, given.keys);
  multiply(all, "--seed", &workload::seed, given.seed);
  for (const workload& what : all)
    check(what);
  return all;
}

std::uint64_t parse_number(std::string_view option, std::string_view text) {
  std::uint64_t number = 0;
  read(option, text, number);
  return number;
}

std::vector<result> parse_results(const std::vector<std::string>& names) {
  std::vector<result> results;
  for (const std::string& name : names) {
    read_name("--result", name, results.emplace_back(),
              {result::first, result::count, result::sum, result::rows});
  }
  return results;
}

}  // namespace raydex::bench
