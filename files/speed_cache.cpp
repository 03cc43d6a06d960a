// SPDX-License-Identifier: Apache-2.0
// Reads and writes the file that keeps measurements.
#include "files/speed_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/input_file.hpp"
#include "raydex/error.hpp"
#include "raydex/version.hpp"

namespace raydex::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Far more than any table takes.
constexpr std::uint64_t max_file_size = std::uint64_t{16} << 20;

// The value of an environment variable, empty without one.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string() : value;
}

fs::path cache_folder() {
  if (std::string own = variable("RAYDEX_CACHE_DIR"); !own.empty()) return own;
  // Relative ones are to be ignored, its specification says.
  if (const fs::path shared = variable("XDG_CACHE_HOME"); shared.is_absolute()) {
    return shared / "raydex";
  }
  const std::string home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "raydex";
}

// Not what `get` does: it turns any number into any other.
std::uint64_t whole_number(const json& object, const char* field) {
  const json& value = object.at(field);
  if (!value.is_number_unsigned()) {
    throw invalid_argument(fmt::format("{}: {}: must be a whole number", field, value.dump()));
  }
  return value.get<std::uint64_t>();
}

measured_speed row_of(const json& object, backend where, const std::string& device) {
  return {
      .structure = object.at("structure").get<std::string>(),
      .options = object.at("options").get<option_map>(),
      .where = where,
      .device = device,
      // Narrowed where any number is as wrong as another; `add` refuses it.
      .key_bits = static_cast<int>(std::min<std::uint64_t>(whole_number(object, "key_bits"), 65)),
      .n = whole_number(object, "n"),
      .range_hits = whole_number(object, "range_hits"),
      .sorted_probes = object.at("sorted_probes").get<bool>(),
      .lookups_per_s = object.at("lookups_per_s").get<double>(),
      .bytes_per_key = object.at("bytes_per_key").get<double>()};
}

// The table of a file; an empty one if it is of another version or device.
speed_table read_table(const std::string& path, backend where, const std::string& device) {
  io::input_file file = io::open_input(path);
  if (file.size > max_file_size) {
    throw invalid_argument(fmt::format("{}: {} bytes are too many", path, file.size));
  }
  const std::string text{std::istreambuf_iterator<char>(file.stream), {}};
  try {
    const json content = json::parse(text);
    speed_table table;
    if (content.at("raydex").get<std::string>() != RAYDEX_VERSION ||
        content.at("backend").get<std::string>() != to_string(where) ||
        content.at("device").get<std::string>() != device) {
      return table;
    }
    for (const json& row : content.at("rows"))
      table.add(row_of(row, where, device));
    if (table.rows().empty()) throw invalid_argument("rows: there are none");
    return table;
  } catch (const json::exception& e) {
    throw invalid_argument(fmt::format("{}: {}", path, e.what()));
  } catch (const invalid_argument& e) {
    throw invalid_argument(fmt::format("{}: {}", path, e.what()));
  }
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

}  // namespace

std::string speed_cache_path(backend where, const std::string& device) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  std::string name = fmt::format("tune-{}-{}", to_string(where), device);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return folder / (name + ".json");
}

known_speeds load_speeds(backend where, const std::string& device) {
  known_speeds known{speed_table::built_in(), {}, {}};
  const std::string path = speed_cache_path(where, device);
  std::error_code absent;
  if (path.empty() || !fs::exists(fs::status(path, absent))) return known;
  try {
    speed_table tuned = read_table(path, where, device);
    if (!tuned.rows().empty()) {
      known.table = std::move(tuned);
      known.path = path;
    }
  } catch (const invalid_argument& e) {
    known.problem = one_line(fmt::format(
        "{}; the built-in table is used instead; `raydex tune` writes this file anew", e.what()));
  }
  return known;
}

std::string to_cache_text(const speed_table& table, backend where, const std::string& device) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const measured_speed& row : table.rows()) {
    rows.push_back({{"structure", row.structure},
                    {"options", nlohmann::ordered_json(row.options)},
                    {"key_bits", row.key_bits},
                    {"n", row.n},
                    {"range_hits", row.range_hits},
                    {"sorted_probes", row.sorted_probes},
                    {"lookups_per_s", row.lookups_per_s},
                    {"bytes_per_key", row.bytes_per_key}});
  }
  const nlohmann::ordered_json content = {{"raydex", RAYDEX_VERSION},
                                          {"backend", std::string(to_string(where))},
                                          {"device", device},
                                          {"rows", rows}};
  return content.dump(1) + "\n";
}

auto_choice::auto_choice(const session& on, bool needed) {
  if (!needed) return;
  known_speeds known = load_speeds(on.where(), on.device().name);
  if (!known.problem.empty())
    std::fputs(fmt::format("raydex: warning: {}\n", known.problem).c_str(), stderr);
  table_ = std::move(known.table);
}

structure_choice auto_choice::operator()(const structure_choice& given,
                                         const use_case& what) const {
  if (given.structure != "auto") return given;
  advice advised = advise(what, table_);
  structure_choice chosen{std::move(advised.structure), given.options};
  chosen.options.merge(advised.options);
  return chosen;
}

}  // namespace raydex::io
