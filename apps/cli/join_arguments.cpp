// SPDX-License-Identifier: Apache-2.0
// The arguments of `raydex join`.
#include "apps/cli/join_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "io/column_writer.hpp"
#include "io/known_words.hpp"
#include "io/quoted.hpp"
#include "io/read.hpp"
#include "io/sizes.hpp"
#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

struct kind_word {
  std::string_view word;
  join_method method;
  join_kind kind = join_kind::inner;
  comparison how = comparison::less;
  interval_relation relation = interval_relation::overlaps;
  comparison second = comparison::less;
};

kind_word parse_join_kind(const std::string& name);

// Two comparisons, as less,greater_equal.
kind_word parse_comparisons(const std::string& names) {
  const std::vector<std::string> words = io::split_list("--kind", names);
  kind_word both{names, join_method::compared2};
  if (words.size() == 2) {
    const kind_word first = parse_join_kind(words[0]);
    const kind_word second = parse_join_kind(words[1]);
    both.how = first.how;
    both.second = second.how;
    if (first.method == join_method::compared && second.method == join_method::compared)
      return both;
  }
  throw invalid_argument(
      fmt::format("--kind {}: a list is of two comparisons, such as less,greater_equal", names));
}

kind_word parse_join_kind(const std::string& name) {
  if (name.find(',') != std::string::npos) return parse_comparisons(name);
  constexpr kind_word known[] = {
      {"inner", join_method::equal},
      {"left", join_method::equal, join_kind::left},
      {"right", join_method::equal, join_kind::right},
      {"full", join_method::equal, join_kind::full},
      {"semi", join_method::equal, join_kind::semi},
      {"anti", join_method::equal, join_kind::anti},
      {"asof", join_method::asof},
      {"band", join_method::band},
      {"contains", join_method::contains},
      {"overlaps", join_method::intervals},
      {"within", join_method::intervals, join_kind::inner, comparison::less,
       interval_relation::within},
      {"encloses", join_method::intervals, join_kind::inner, comparison::less,
       interval_relation::encloses},
      {"less", join_method::compared, join_kind::inner, comparison::less},
      {"less_equal", join_method::compared, join_kind::inner, comparison::less_equal},
      {"greater", join_method::compared, join_kind::inner, comparison::greater},
      {"greater_equal", join_method::compared, join_kind::inner, comparison::greater_equal},
      {"nearest", join_method::nearest},
      {"coverage", join_method::coverage},
      {"window", join_method::window}};
  std::vector<std::string> words;
  for (const kind_word& one : known) {
    if (one.word == name) return one;
    words.emplace_back(one.word);
  }
  io::refuse_word("kind", name, words);
}

// The value at the word's place among those known.
template <class Enum, std::size_t N>
Enum parse_word(const char* option, const std::string& word, const std::string (&known)[N]) {
  io::check_word(option, word, known);
  return static_cast<Enum>(std::find(known, known + N, word) - known);
}

// The nanoseconds of a text such as 90s or 15min; the largest number where they are more.
std::optional<std::uint64_t> parse_duration(std::string_view text) {
  struct unit {
    std::string_view name;
    std::uint64_t nanoseconds;
  };
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr unit units[] = {{"d", 86400 * second},
                            {"h", 3600 * second},
                            {"min", 60 * second},
                            {"s", second},
                            {"ms", 1'000'000},
                            {"us", 1000},
                            {"ns", 1}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::uint64_t count = 0;
  if (!io::parse_number(text.substr(0, digits), count)) return std::nullopt;
  for (const unit& one : units) {
    std::uint64_t nanoseconds = 0;
    if (text.substr(digits) != one.name) continue;
    if (__builtin_mul_overflow(count, one.nanoseconds, &nanoseconds)) return UINT64_MAX;
    return nanoseconds;
  }
  return std::nullopt;
}

// Reads a distance; where it is of time, `duration` gets the option and the text.
key_distance parse_distance(const char* option, const std::string& text, std::string& duration) {
  if (const auto nanoseconds = parse_duration(text)) {
    duration = fmt::format("{} {}", option, text);
    return *nanoseconds;
  }
  std::uint64_t whole = 0;
  if (io::parse_number(text, whole)) return whole;
  double distance = 0;
  if (io::parse_number(text, distance) && distance >= 0) return distance;
  throw invalid_argument(
      fmt::format("{}: {} is not a distance, a number of at least 0, or of times one with a unit "
                  "such as 90s, 15min, 2h or 1d",
                  option, io::in_quotes(text)));
}

double parse_share(const std::string& text) {
  double share = 0;
  if (io::parse_number(text, share) && share >= 0) return share;
  throw invalid_argument(fmt::format(
      "--relative-tolerance: {} is not a share of the probe, a number of at least 0, such as 2e-5",
      io::in_quotes(text)));
}

std::uint64_t parse_neighbours(const std::string& text) {
  std::uint64_t count = 0;
  if (io::parse_number(text, count) && count != 0) return count;
  throw invalid_argument(
      fmt::format("--neighbours: {} is not a whole number of at least 1", io::in_quotes(text)));
}

// Refuses an option that is given without the kinds that it goes with.
void check_goes_with(bool is_given, bool goes, const char* option, const char* kinds,
                     const std::string& kind) {
  if (!is_given || goes) return;
  throw invalid_argument(fmt::format("{} goes with --kind {}, not {}", option, kinds, kind));
}

void check_needed(bool is_needed, const std::string& value, const char* option,
                  const std::string& kind) {
  if (is_needed && value.empty())
    throw invalid_argument(fmt::format("--kind {} needs {}", kind, option));
}

void check_combination(const join_arguments& arguments, join_method method) {
  const auto check = [&](bool is_given, join_method goes, const char* option, const char* kinds) {
    check_goes_with(is_given, method == goes, option, kinds, arguments.kind);
  };
  check_goes_with(!arguments.direction.empty(),
                  method == join_method::asof || method == join_method::nearest, "--direction",
                  "asof or nearest", arguments.kind);
  check(!arguments.tolerance.empty(), join_method::asof, "--tolerance", "asof");
  check(!arguments.relative_tolerance.empty(), join_method::asof, "--relative-tolerance", "asof");
  check(!arguments.neighbours.empty(), join_method::asof, "--neighbours", "asof");
  check(arguments.strict, join_method::asof, "--strict", "asof");
  check(!arguments.distance.empty(), join_method::band, "--distance", "band");
  for (const auto& [is_given, option] : {std::pair(!arguments.before.empty(), "--before"),
                                         std::pair(!arguments.after.empty(), "--after"),
                                         std::pair(!arguments.aggregate.empty(), "--aggregate"),
                                         std::pair(!arguments.values.empty(), "--values")})
    check(is_given, join_method::window, option, "window");
  check(!arguments.count.empty(), join_method::nearest, "--count", "nearest");
  check(arguments.no_overlaps, join_method::nearest, "--no-overlaps", "nearest");
  const bool has_both = method == join_method::intervals || method == join_method::nearest ||
                        method == join_method::coverage;
  check_goes_with(!arguments.probe_upper.empty(), has_both, "--probe-upper",
                  "overlaps, within, encloses, nearest or coverage", arguments.kind);
  const bool is_by_order = method != join_method::equal;
  const bool has_answers = method == join_method::coverage || method == join_method::window;
  const bool has_rows =
      is_by_order && !has_answers && method != join_method::asof && method != join_method::nearest;
  const bool is_of_intervals = method == join_method::contains || method == join_method::intervals;
  const bool has_intervals = is_of_intervals || has_both;
  const auto check_if = [&](const std::string& value, bool goes, const char* option,
                            const char* kinds) {
    check_goes_with(!value.empty(), goes, option, kinds, arguments.kind);
  };
  check_if(arguments.build_by, is_by_order, "--build-by", "asof and others by order");
  check_if(arguments.probe_by, is_by_order, "--probe-by", "asof and others by order");
  check_if(arguments.how, has_rows, "--how",
           "band and others by order but asof, nearest, coverage and window");
  check_if(arguments.build_upper, has_intervals, "--build-upper",
           "contains, overlaps, within, encloses, nearest or coverage");
  check_if(arguments.closed, is_of_intervals || method == join_method::window, "--closed",
           "contains, overlaps, within, encloses or window");
  check_goes_with(!arguments.columns.empty(), !has_answers, "--columns", "that writes rows",
                  arguments.kind);
  if (method == join_method::window && arguments.before.empty() && arguments.after.empty())
    throw invalid_argument("--kind window needs --before, --after, or both");
  check_needed(method == join_method::window && arguments.aggregate != "count", arguments.values,
               "--values, unless --aggregate is count", arguments.kind);
  check_goes_with(arguments.missing_equal,
                  method == join_method::equal || method == join_method::asof, "--missing-equal",
                  "inner, left, right, full, semi, anti or asof", arguments.kind);
  if (!arguments.tolerance.empty() && !arguments.relative_tolerance.empty())
    throw invalid_argument("--tolerance and --relative-tolerance do not go together");
  check(arguments.seed.has_value(), join_method::equal, "--seed",
        "inner, left, right, full, semi or anti");
  check_needed(method == join_method::band, arguments.distance, "--distance", arguments.kind);
  check_needed(has_intervals, arguments.build_upper, "--build-upper", arguments.kind);
  check_needed(has_both, arguments.probe_upper, "--probe-upper", arguments.kind);
  if (arguments.build_by.empty() != arguments.probe_by.empty())
    throw invalid_argument("--build-by and --probe-by go together: keys of both tables");
  // These are built over structures of their own.
  const bool has_own = method == join_method::asof || has_intervals ||
                       method == join_method::compared2 || method == join_method::window ||
                       !arguments.build_by.empty();
  if (has_own && (arguments.structure != "auto" || !arguments.options.empty())) {
    throw invalid_argument(
        fmt::format("{} does not go with --kind {}{}, which has a structure of its own",
                    arguments.structure != "auto" ? "--structure" : "--option", arguments.kind,
                    arguments.build_by.empty() ? "" : " and --build-by"));
  }
  if (!arguments.columns.empty() && !io::is_csv_output(arguments.out)) {
    throw invalid_argument(
        fmt::format("--columns is written as CSV: --out name.csv or -, not {}", arguments.out));
  }
}

std::optional<join_side> parse_side(const join_arguments& arguments) {
  const std::string known[] = {"auto", "build", "probe"};
  io::check_word("side", arguments.side, known);
  check_goes_with(arguments.side == "probe", arguments.kind == "inner", "--side probe", "inner",
                  arguments.kind);
  if (arguments.side == "probe" && arguments.ordered) {
    throw invalid_argument(
        "--ordered does not go with --side probe: then rows are in the order of build rows");
  }
  if (arguments.side == "probe") return join_side::probe;
  if (arguments.side == "build" || arguments.ordered || arguments.kind != "inner")
    return join_side::build;
  return std::nullopt;
}

// Columns of the two tables that are compared one by one.
void check_counts(const std::vector<std::string>& build, const std::vector<std::string>& probe,
                  const char* suffix) {
  if (build.size() != probe.size()) {
    throw invalid_argument(fmt::format("--build{0} names {1} columns, but --probe{0} {2}", suffix,
                                       build.size(), probe.size()));
  }
  if (build.size() > most_key_parts) {
    throw invalid_argument(fmt::format("--build{} names {} columns; a key has at most {}", suffix,
                                       build.size(), most_key_parts));
  }
}

std::vector<std::string> split_if_given(const char* option, const std::string& list) {
  return list.empty() ? std::vector<std::string>() : io::split_list(option, list);
}

}  // namespace

join_request parse_join(const join_arguments& arguments) {
  const kind_word kind = parse_join_kind(arguments.kind);
  check_combination(arguments, kind.method);
  join_request request{.method = kind.method,
                       .kind = kind.kind,
                       .how = kind.how,
                       .second = kind.second,
                       .relation = kind.relation};
  request.options = {.structure = arguments.structure,
                     .options = parse_options(arguments.options),
                     .missing_equal = arguments.missing_equal,
                     .seed = arguments.seed};
  if (arguments.seed &&
      (arguments.structure == "hash_open" || arguments.structure == "hash_bucket"))
    request.options.options.emplace("seed", std::to_string(*arguments.seed));
  request.side = parse_side(arguments);
  if (!arguments.distance.empty())
    request.distance = parse_distance("--distance", arguments.distance, request.duration);
  if (!arguments.direction.empty())
    request.asof.direction = parse_word<asof_direction>("direction", arguments.direction,
                                                        {"backward", "forward", "nearest"});
  if (kind.method == join_method::nearest) {
    const bool both = arguments.direction.empty();
    request.nearest.before = both || request.asof.direction != asof_direction::forward;
    request.nearest.after = both || request.asof.direction != asof_direction::backward;
    request.nearest.overlaps = !arguments.no_overlaps;
    if (!arguments.count.empty() &&
        (!io::parse_number(arguments.count, request.nearest.count) || request.nearest.count == 0)) {
      throw invalid_argument(
          fmt::format("--count: {} is not a number of at least 1", io::in_quotes(arguments.count)));
    }
  }
  if (!arguments.before.empty())
    request.window.before = parse_distance("--before", arguments.before, request.duration);
  if (!arguments.after.empty())
    request.window.after = parse_distance("--after", arguments.after, request.duration);
  if (!arguments.aggregate.empty()) {
    request.aggregate = parse_word<window_aggregate>(
        "aggregate", arguments.aggregate,
        {"sum", "mean", "count", "min", "max", "first", "last", "argmin", "argmax"});
  }
  request.values = arguments.values;
  if (arguments.strict) request.asof.which = closeness::strict;
  if (!arguments.tolerance.empty())
    request.asof.tolerance = parse_distance("--tolerance", arguments.tolerance, request.duration);
  if (!arguments.relative_tolerance.empty())
    request.asof.relative_tolerance = parse_share(arguments.relative_tolerance);
  request.has_neighbours = !arguments.neighbours.empty();
  if (request.has_neighbours) request.asof.neighbours = parse_neighbours(arguments.neighbours);
  request.build = io::split_list("--build", arguments.build);
  request.probe = io::split_list("--probe", arguments.probe);
  request.build_by = split_if_given("--build-by", arguments.build_by);
  request.probe_by = split_if_given("--probe-by", arguments.probe_by);
  request.build_upper = arguments.build_upper;
  request.probe_upper = arguments.probe_upper;
  if (!arguments.closed.empty()) {
    request.closed =
        parse_word<closed_ends>("closed", arguments.closed, {"both", "left", "right", "neither"});
    request.window.closed = request.closed;
  }
  if (!arguments.how.empty()) {
    io::check_word("how", arguments.how,
                   std::vector<std::string>{"inner", "left", "right", "full", "semi", "anti"});
    request.kind = parse_join_kind(arguments.how).kind;
  }
  check_counts(request.build, request.probe, "");
  check_counts(request.build_by, request.probe_by, "-by");
  const std::size_t columns = request.method == join_method::compared2 ? 2 : 1;
  if (request.method != join_method::equal && request.build.size() != columns) {
    throw invalid_argument(fmt::format("--kind {} is of {}, but --build names {}", arguments.kind,
                                       columns == 2 ? "two columns" : "one column",
                                       request.build.size()));
  }
  return request;
}

std::vector<std::string> join_request::table(bool of_build) const {
  std::vector<std::string> names = of_build ? build : probe;
  const std::vector<std::string>& by = of_build ? build_by : probe_by;
  names.insert(names.end(), by.begin(), by.end());
  const std::string& upper = of_build ? build_upper : probe_upper;
  if (!upper.empty()) names.push_back(upper);
  if (of_build && !values.empty()) names.push_back(values);
  return names;
}

std::vector<io::file_argument> join_request::inputs() const {
  std::vector<io::file_argument> files;
  const auto add = [&](const char* option, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      files.push_back({option, name});
  };
  add("--build", build);
  add("--probe", probe);
  add("--build-by", build_by);
  add("--probe-by", probe_by);
  files.push_back({"--build-upper", build_upper});
  files.push_back({"--probe-upper", probe_upper});
  files.push_back({"--values", values});
  return files;
}

}  // namespace raydex::cli
