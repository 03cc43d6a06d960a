// SPDX-License-Identifier: Apache-2.0
// The arguments of `raydex join`, and the columns that they name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/build_arguments.hpp"
#include "io/file_arguments.hpp"
#include "io/host_column.hpp"
#include "io/join_writer.hpp"
#include "raydex/join.hpp"
#include "raydex/nearest_join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/window_join.hpp"

namespace raydex::cli {

// The command line as it is; what it lacks is empty.
struct join_arguments : build_arguments {
  std::string kind, side = "auto";
  std::string build, probe, build_upper, probe_upper, build_by, probe_by;
  std::string direction, tolerance, relative_tolerance, neighbours, distance, closed, how, columns;
  std::string before, after, aggregate, values, count;
  bool strict = false;
  bool no_overlaps = false;
  bool ordered = false;
  bool missing_equal = false;
  std::optional<std::uint32_t> seed{};
};

// Their names, as type names show choices.
inline constexpr const char* join_kind_names =
    "inner|left|right|full|semi|anti|asof|band|contains|overlaps|within|encloses|less|less_equal|"
    "greater|greater_equal|nearest|coverage|window";
inline constexpr const char* side_names = "auto|build|probe";
inline constexpr const char* direction_names = "backward|forward|nearest";
inline constexpr const char* closed_names = "both|left|right|neither";
inline constexpr const char* how_names = "inner|left|right|full|semi|anti";
inline constexpr const char* aggregate_names = "sum|mean|count|min|max|first|last|argmin|argmax";

// How build and probe rows are matched.
enum class join_method : std::uint8_t {
  equal,      // by equal keys
  asof,       // by the closest time
  band,       // by a distance
  contains,   // by intervals that contain points
  intervals,  // by how intervals lie to each other
  compared,   // by a comparison
  compared2,  // by two of them
  nearest,    // by the distance of intervals
  coverage,   // a number a probe row: the length that intervals share with it
  window      // likewise: an aggregate of build rows
};

// The aggregate of windows.
enum class window_aggregate : std::uint8_t {
  sum,
  mean,
  count,
  minimum,
  maximum,
  first,
  last,
  argmin,
  argmax
};

// The join that the arguments ask for, checked.
struct join_request {
  join_method method = join_method::equal;
  join_kind kind = join_kind::inner;     // of all but `asof`
  comparison how = comparison::less;     // of `compared`, and the first of `compared2`
  comparison second = comparison::less;  // of `compared2`
  interval_relation relation = interval_relation::overlaps;  // of `intervals`
  closed_ends closed = closed_ends::both;                    // of these and `contains`
  key_distance distance = 0;                                 // of `band`
  asof_options asof{};                                       // of `asof`
  bool has_neighbours = false;                               // if so, `asof` gives pairs
  nearest_options nearest{};                                 // of `nearest`
  time_window window{};                                      // of `window`
  window_aggregate aggregate = window_aggregate::sum;        // likewise
  std::string values{};                                      // likewise, a column; or none
  std::string duration{};                     // a distance with a unit of time, as text
  join_options options{};                     // of the build side
  std::optional<join_side> side{};            // nothing: the smaller table is indexed
  std::vector<std::string> build{}, probe{};  // names of columns
  std::vector<std::string> build_by{}, probe_by{};
  std::string build_upper{}, probe_upper{};

  // Whether a row of the join has a build row.
  bool has_build_rows() const { return kind != join_kind::semi && kind != join_kind::anti; }
  // Whether build rows without a match are rows of it, too.
  bool has_unmatched() const { return kind == join_kind::right || kind == join_kind::full; }
  // Whether a row of it may lack a build row or a probe row.
  bool may_have_none() const {
    return (method == join_method::asof && !has_neighbours) || method == join_method::nearest ||
           kind == join_kind::left || has_unmatched();
  }
  // Whether a number of each probe row is written, not rows.
  bool has_answers() const {
    return method == join_method::coverage || method == join_method::window;
  }
  // All columns of a table that are named.
  std::vector<std::string> table(bool of_build) const;
  // All files that are read.
  std::vector<io::file_argument> inputs() const;
};

// Throws `invalid_argument` where something does not go with something else.
join_request parse_join(const join_arguments& arguments);

// The columns that are named, in host memory.
struct join_inputs {
  std::vector<io::host_key_part> build, probe;              // keys, times, points, or lower ends
  std::vector<io::host_key_part> build_upper, probe_upper;  // one each for intervals
  std::vector<io::host_key_part> build_by, probe_by;
  std::optional<io::host_column> values;   // beside the build rows of windows
  std::vector<io::output_column> columns;  // what --columns names

  // How many rows the tables have.
  std::uint64_t build_rows() const { return io::size_of(build.front()); }
  std::uint64_t probe_rows() const { return io::size_of(probe.front()); }
};

// The columns as the library takes them, on the host.
key_parts views_of(const std::vector<io::host_key_part>& parts);
// The first one, which is of no strings.
inline column first_column(const key_parts& key) {
  return std::get<column>(key.front());
}

// Reads all of them; `columns`: what --columns names.
join_inputs read(const join_request& request, const std::string& columns);

}  // namespace raydex::cli
