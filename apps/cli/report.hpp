// SPDX-License-Identifier: Apache-2.0
// `--report`: what a query took, as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/host_column.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// A query, for its report.
struct query_facts {
  std::string result;  // empty if nothing is asked for
  std::uint64_t probes = 0;
  std::optional<std::uint64_t> no_match{};  // what stands for a row or position that is not there
  std::string key{};  // the formats of packed columns; else it is that of the index
};

// What it spent in the structure.
struct query_costs {
  double build_ms = 0;                              // 0 of an index in a file
  std::optional<double> load_ms{};                  // of such an index
  std::optional<double> save_ms{};                  // of the index to a file
  std::optional<std::uint64_t> dictionary_bytes{};  // of columns that are numbered
  std::optional<double> edit_ms{};                  // where something changed after the build
  std::optional<double> aggregate_ms{};             // of the build of an aggregate
  std::optional<std::uint64_t> aggregate_bytes{};   // what it holds
  double lookup_ms = 0;
  std::optional<std::uint64_t> lookup_peak_bytes{};  // taken at once by lookups
  std::optional<std::uint64_t> repairs{};            // lookups that rays did not answer rightly
};

// A join and its outcome, for its report.
struct join_facts {
  std::string kind;
  std::string side;  // the table that is indexed
  std::string key;   // the formats of its columns
  std::uint64_t build_rows = 0;
  std::uint64_t probe_rows = 0;
  std::uint64_t rows = 0;                   // of the join
  std::optional<std::uint64_t> no_match{};  // what stands for no row
};

// What it spent in the library, and until all was written.
struct join_costs {
  double build_ms = 0;
  double match_ms = 0;  // of probe rows
  double rows_ms = 0;   // until row numbers were there
  double write_ms = 0;  // until they were copied and written
  std::uint64_t build_peak_bytes = 0;
  std::uint64_t lookup_peak_bytes = 0;
};

// The formats of a key's columns: `int64,string`.
std::string formats_of(const std::vector<io::host_key_part>& key);

// A report's JSON text.
std::string report(const session& on, const index_info& source, const query_facts& facts,
                   const query_costs& costs);
std::string report(const session& on, const rmq_info& source, const query_facts& facts,
                   const query_costs& costs);
std::string report(const session& on, const join_info& source, const join_facts& facts,
                   const join_costs& costs);

}  // namespace raydex::cli
