// SPDX-License-Identifier: Apache-2.0
// Parses the values of the axes of minima and multiplies them out.
#include "bench/minima/rmq_sweep.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "bench/workloads/axis.hpp"
#include "files/npy.hpp"
#include "raydex/column.hpp"

namespace raydex::bench {

static void read(std::string_view option, std::string_view text, array_shape& out) {
  read_name(option, text, out,
            {array_shape::random, array_shape::distinct, array_shape::ascending,
             array_shape::descending, array_shape::sawtooth, array_shape::constant,
             array_shape::few, array_shape::mountain, array_shape::lcp});
}

static void read(std::string_view option, std::string_view text, range_kind& out) {
  read_name(option, text, out,
            {range_kind::large, range_kind::medium, range_kind::small, range_kind::mixed});
}

static void read(std::string_view option, std::string_view text, std::optional<array_file>& out) {
  const std::string name(text);
  const io::npy_array array = io::read_npy(name);
  if (array.shape.size() != 1 || array.dtype.type == key_type::bytes) {
    throw invalid_argument(
        fmt::format("{}: {}: it must hold numbers, in one dimension", option, name));
  }
  out = {.name = name, .value = array.dtype, .size = array.shape.front(), .cells = array.cells};
}

std::vector<rmq_workload> rmq_sweep(const axes& given) {
  refuse(given, "it is of keys, not of minima",
         {{"--batches", &axes::batches},
          {"--key-bits", &axes::key_bits},
          {"--uniformity", &axes::uniformity},
          {"--distribution", &axes::distribution},
          {"--stride", &axes::stride},
          {"--value-bits", &axes::value_bits},
          {"--multiplicity", &axes::multiplicity},
          {"--insert-order", &axes::insert_order},
          {"--probe-order", &axes::probe_order},
          {"--hit-rate", &axes::hit_rate},
          {"--miss", &axes::miss},
          {"--zipf", &axes::zipf},
          {"--range-hits", &axes::range_hits},
          {"--updated-from", &axes::updated_from},
          {"--waves", &axes::waves},
          {"--growth", &axes::growth}});
  if (!given.array_file.empty()) {
    refuse(given, "an array out of a file is as it is; leave it out, or leave --array-file out",
           {{"--array", &axes::array}, {"--period", &axes::period}, {"--values", &axes::values}});
  }
  std::vector<rmq_workload> all(1);
  multiply(all, "--array", &rmq_workload::shape, given.array);
  multiply(all, "--array-file", &rmq_workload::file, given.array_file);
  for (rmq_workload& what : all) {
    if (!what.file) continue;
    what.shape = array_shape::file;
    what.value = what.file->value;
    what.keys = what.file->size;
  }
  multiply(all, "--period", &rmq_workload::period, given.period);
  multiply(all, "--values", &rmq_workload::value, given.values);
  multiply(all, "--ranges", &rmq_workload::ranges, given.ranges);
  multiply(all, "--probes", &rmq_workload::probes, given.probes);
  multiply(all, "--keys", &rmq_workload::keys, given.keys);
  for (rmq_workload& what : all)
    what.position_bits = usual_position_bits(what.keys);
  multiply(all, "--position-bits", &rmq_workload::position_bits, given.position_bits);
  multiply(all, "--changes", &rmq_workload::changes, given.changes);
  multiply(all, "--seed", &rmq_workload::seed, given.seed);
  for (const rmq_workload& what : all)
    check(what);
  return all;
}

std::vector<rmq_result> parse_rmq_results(const std::vector<std::string>& names) {
  std::vector<rmq_result> results;
  for (const std::string& name : names)
    read_name("--result", name, results.emplace_back(), {rmq_result::min, rmq_result::argmin});
  return results;
}

const char* to_string(rmq_result asked) {
  return asked == rmq_result::min ? "min" : "argmin";
}

}  // namespace raydex::bench
