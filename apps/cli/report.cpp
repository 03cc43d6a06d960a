// SPDX-License-Identifier: Apache-2.0
// `--report`: what a query took, as JSON.
#include "apps/cli/report.hpp"

#include <nlohmann/json.hpp>
#include <sstream>
#include <variant>

namespace raydex::cli {

namespace {

// `a=b c=d` as an object.
nlohmann::ordered_json options_object(const std::string& options) {
  auto object = nlohmann::ordered_json::object();
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    object[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return object;
}

const char* name_of(key_comparison keys) {
  switch (keys) {
    case key_comparison::packed:
      return "packed";
    case key_comparison::hashed:
      return "hashed";
    default:
      return "column";
  }
}

template <class Info>
std::string report_on(const session& on, const Info& source, key_format key,
                      const query_facts& facts, const query_costs& costs) {
  const device_info device = on.device();
  nlohmann::ordered_json object{{"structure", source.structure},
                                {"options", options_object(source.options)},
                                {"backend", to_string(source.where)},
                                {"device", device.name},
                                {"rt_core_version", device.rt_core_version},
                                {"key", facts.key.empty() ? to_string(key) : facts.key},
                                {"n", source.n},
                                {"probes", facts.probes},
                                {"result", facts.result},
                                {"build_ms", costs.build_ms},
                                {"lookup_ms", costs.lookup_ms},
                                {"resident_bytes", source.resident_bytes},
                                {"build_peak_bytes", source.build_peak_bytes}};
  if (facts.result.empty()) object.erase("result");
  if (costs.load_ms) object["load_ms"] = *costs.load_ms;
  if (costs.save_ms) object["save_ms"] = *costs.save_ms;
  if (facts.no_match) object["no_match"] = *facts.no_match;
  if (costs.lookup_peak_bytes) object["lookup_peak_bytes"] = *costs.lookup_peak_bytes;
  if (costs.repairs) object["repairs"] = *costs.repairs;
  if (costs.dictionary_bytes) object["dictionary_bytes"] = *costs.dictionary_bytes;
  if (costs.edit_ms) object["edit_ms"] = *costs.edit_ms;
  if (costs.aggregate_ms) object["aggregate_ms"] = *costs.aggregate_ms;
  if (costs.aggregate_bytes) object["aggregate_bytes"] = *costs.aggregate_bytes;
  return object.dump(2) + "\n";
}

}  // namespace

std::string formats_of(const std::vector<io::host_key_part>& key) {
  std::string names;
  for (const io::host_key_part& part : key) {
    const auto* const cells = std::get_if<io::host_column>(&part);
    if (!names.empty()) names += ',';
    names += cells != nullptr ? to_string(cells->format) : "string";
  }
  return names;
}

std::string report(const session& on, const index_info& source, const query_facts& facts,
                   const query_costs& costs) {
  return report_on(on, source, source.key, facts, costs);
}

std::string report(const session& on, const rmq_info& source, const query_facts& facts,
                   const query_costs& costs) {
  return report_on(on, source, source.value, facts, costs);
}

std::string report(const session& on, const join_info& source, const join_facts& facts,
                   const join_costs& costs) {
  const device_info device = on.device();
  const bool probe_is_indexed = facts.side == "probe";
  nlohmann::ordered_json object{{"structure", source.structure},
                                {"options", options_object(source.options)},
                                {"backend", to_string(source.where)},
                                {"device", device.name},
                                {"rt_core_version", device.rt_core_version},
                                {"key", facts.key},
                                {"keys", name_of(source.keys)},
                                {"n", probe_is_indexed ? facts.probe_rows : facts.build_rows},
                                {"probes", probe_is_indexed ? facts.build_rows : facts.probe_rows},
                                {"kind", facts.kind},
                                {"side", facts.side},
                                {"build_rows", facts.build_rows},
                                {"probe_rows", facts.probe_rows},
                                {"rows", facts.rows},
                                {"build_ms", costs.build_ms},
                                {"lookup_ms", costs.match_ms + costs.rows_ms},
                                {"match_ms", costs.match_ms},
                                {"rows_ms", costs.rows_ms},
                                {"write_ms", costs.write_ms},
                                {"resident_bytes", source.resident_bytes},
                                {"build_peak_bytes", costs.build_peak_bytes},
                                {"lookup_peak_bytes", costs.lookup_peak_bytes}};
  if (facts.no_match) object["no_match"] = *facts.no_match;
  return object.dump(2) + "\n";
}

}  // namespace raydex::cli
