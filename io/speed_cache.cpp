// SPDX-License-Identifier: Apache-2.0
// Reads and writes the file that keeps measurements.
#include "io/speed_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "io/input_file.hpp"
#include "io/known_words.hpp"
#include "io/quoted.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/version.hpp"

namespace raydex::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Far more than any table takes.
constexpr std::uint64_t max_file_size = std::uint64_t{16} << 20;
// Of what is wrong with a file: it may be quoted.
constexpr std::size_t longest_reason = 300;

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

// Tells which structures and options this library builds, by building them of no keys.
class buildable {
 public:
  bool operator()(const measured_speed& row) {
    const auto [found, is_new] = known_.try_emplace({row.structure, row.options}, true);
    if (is_new) {
      try {
        build(row.structure, backend::cpu, here_, column(std::span<const std::uint32_t>()),
              std::nullopt, row.options);
      } catch (const error&) {
        found->second = false;
      }
    }
    return found->second;
  }

 private:
  session here_{backend::cpu};
  std::map<std::pair<std::string, option_map>, bool> known_;
};

// What a file holds; without rows if it is of another version or device.
struct kept_speeds {
  speed_table table;
  std::size_t unknown = 0;    // rows that were left out: nobody knows their structure or options
  std::string first_unknown;  // those of the first of them
};

kept_speeds read_table(const std::string& path, backend where, const std::string& device) {
  io::input_file file = io::open_input(path);
  if (file.size > max_file_size) {
    throw invalid_argument(fmt::format("{}: {} bytes are too many", path, file.size));
  }
  const std::string text{std::istreambuf_iterator<char>(file.stream), {}};
  try {
    const json content = json::parse(text);
    kept_speeds kept;
    if (content.at("raydex").get<std::string>() != RAYDEX_VERSION ||
        content.at("backend").get<std::string>() != to_string(where) ||
        content.at("device").get<std::string>() != device) {
      return kept;
    }
    buildable is_known;
    for (const json& object : content.at("rows")) {
      measured_speed row = row_of(object, where, device);
      if (is_known(row)) {
        kept.table.add(std::move(row));
      } else if (kept.unknown++ == 0) {
        kept.first_unknown = row.structure;
        for (const auto& [name, value] : row.options)
          kept.first_unknown += fmt::format(" {}={}", name, value);
      }
    }
    if (kept.table.rows().empty() && kept.unknown == 0)
      throw invalid_argument("rows: there are none");
    return kept;
  } catch (const json::exception& e) {
    throw invalid_argument(fmt::format("{}: {}", path, printable(e.what(), longest_reason)));
  } catch (const invalid_argument& e) {
    throw invalid_argument(fmt::format("{}: {}", path, printable(e.what(), longest_reason)));
  }
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
  constexpr const char* remedy = "`raydex tune` writes this file anew";
  try {
    kept_speeds kept = read_table(path, where, device);
    if (kept.unknown != 0) {
      known.problem = fmt::format(
          "{}: {} measurements are left out, of what this raydex does not know, such as {}; {}",
          path, kept.unknown, io::in_quotes(kept.first_unknown), remedy);
    }
    if (!kept.table.rows().empty()) {
      known.table = std::move(kept.table);
      known.path = path;
    }
  } catch (const invalid_argument& e) {
    known.problem = fmt::format("{}; the built-in table is used instead; {}", e.what(), remedy);
  }
  return known;
}

void warn(const known_speeds& known) {
  constexpr std::size_t longest = 2000;
  if (!known.problem.empty())
    std::fputs(fmt::format("raydex: warning: {}\n", printable(known.problem, longest)).c_str(),
               stderr);
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
  warn(known);
  table_ = std::move(known.table);
}

structure_choice auto_choice::operator()(const structure_choice& choice,
                                         const use_case& use) const {
  structure_choice chosen = choice;
  if (choice.structure == "auto") {
    advice advised = advise(use, table_);
    chosen.structure = std::move(advised.structure);
    chosen.options.merge(advised.options);
  }
  check_spelling(chosen.structure, chosen.options);
  return chosen;
}

}  // namespace raydex::io
