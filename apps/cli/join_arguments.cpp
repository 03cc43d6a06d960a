// SPDX-License-Identifier: Apache-2.0
// What `raydex join` is told.
#include "apps/cli/join_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "files/column_writer.hpp"
#include "files/known_words.hpp"
#include "files/quoted.hpp"
#include "files/read.hpp"
#include "files/sizes.hpp"
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
Enum parse_word(const char* what, const std::string& word, const std::string (&known)[N]) {
  io::check_word(what, word, known);
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

void check_combination(const join_arguments& given, join_method method) {
  const auto check = [&](bool is_given, join_method goes, const char* option, const char* kinds) {
    check_goes_with(is_given, method == goes, option, kinds, given.kind);
  };
  check_goes_with(!given.direction.empty(),
                  method == join_method::asof || method == join_method::nearest, "--direction",
                  "asof or nearest", given.kind);
  check(!given.tolerance.empty(), join_method::asof, "--tolerance", "asof");
  check(!given.relative_tolerance.empty(), join_method::asof, "--relative-tolerance", "asof");
  check(!given.neighbours.empty(), join_method::asof, "--neighbours", "asof");
  check(given.strict, join_method::asof, "--strict", "asof");
  check(!given.distance.empty(), join_method::band, "--distance", "band");
  for (const auto& [is_given, option] :
       {std::pair(!given.before.empty(), "--before"), std::pair(!given.after.empty(), "--after"),
        std::pair(!given.aggregate.empty(), "--aggregate"),
        std::pair(!given.values.empty(), "--values")})
    check(is_given, join_method::window, option, "window");
  check(!given.count.empty(), join_method::nearest, "--count", "nearest");
  check(given.no_overlaps, join_method::nearest, "--no-overlaps", "nearest");
  const bool has_both = method == join_method::intervals || method == join_method::nearest ||
                        method == join_method::coverage;
  check_goes_with(!given.probe_upper.empty(), has_both, "--probe-upper",
                  "overlaps, within, encloses, nearest or coverage", given.kind);
  const bool is_by_order = method != join_method::equal;
  const bool has_answers = method == join_method::coverage || method == join_method::window;
  const bool has_rows =
      is_by_order && !has_answers && method != join_method::asof && method != join_method::nearest;
  const bool is_of_intervals = method == join_method::contains || method == join_method::intervals;
  const bool has_intervals = is_of_intervals || has_both;
  const auto check_if = [&](const std::string& value, bool goes, const char* option,
                            const char* kinds) {
    check_goes_with(!value.empty(), goes, option, kinds, given.kind);
  };
  check_if(given.build_by, is_by_order, "--build-by", "asof and others by order");
  check_if(given.probe_by, is_by_order, "--probe-by", "asof and others by order");
  check_if(given.how, has_rows, "--how",
           "band and others by order but asof, nearest, coverage and window");
  check_if(given.build_upper, has_intervals, "--build-upper",
           "contains, overlaps, within, encloses, nearest or coverage");
  check_if(given.closed, is_of_intervals || method == join_method::window, "--closed",
           "contains, overlaps, within, encloses or window");
  check_goes_with(!given.columns.empty(), !has_answers, "--columns", "that writes rows",
                  given.kind);
  if (method == join_method::window && given.before.empty() && given.after.empty())
    throw invalid_argument("--kind window needs --before, --after, or both");
  check_needed(method == join_method::window && given.aggregate != "count", given.values,
               "--values, unless --aggregate is count", given.kind);
  check_goes_with(given.missing_equal, method == join_method::equal || method == join_method::asof,
                  "--missing-equal", "inner, left, right, full, semi, anti or asof", given.kind);
  if (!given.tolerance.empty() && !given.relative_tolerance.empty())
    throw invalid_argument("--tolerance and --relative-tolerance do not go together");
  check(given.seed.has_value(), join_method::equal, "--seed",
        "inner, left, right, full, semi or anti");
  check_needed(method == join_method::band, given.distance, "--distance", given.kind);
  check_needed(has_intervals, given.build_upper, "--build-upper", given.kind);
  check_needed(has_both, given.probe_upper, "--probe-upper", given.kind);
  if (given.build_by.empty() != given.probe_by.empty())
    throw invalid_argument("--build-by and --probe-by go together: keys of both tables");
  // These are built over structures of their own.
  const bool has_own = method == join_method::asof || has_intervals ||
                       method == join_method::compared2 || method == join_method::window ||
                       !given.build_by.empty();
  if (has_own && (given.structure != "auto" || !given.options.empty())) {
    throw invalid_argument(
        fmt::format("{} does not go with --kind {}{}, which has a structure of its own",
                    given.structure != "auto" ? "--structure" : "--option", given.kind,
                    given.build_by.empty() ? "" : " and --build-by"));
  }
  if (!given.columns.empty() && !io::is_csv_output(given.out)) {
    throw invalid_argument(
        fmt::format("--columns is written as CSV: --out name.csv or -, not {}", given.out));
  }
}

std::optional<join_side> parse_side(const join_arguments& given) {
  const std::string known[] = {"auto", "build", "probe"};
  io::check_word("side", given.side, known);
  check_goes_with(given.side == "probe", given.kind == "inner", "--side probe", "inner",
                  given.kind);
  if (given.side == "probe" && given.ordered) {
    throw invalid_argument(
        "--ordered does not go with --side probe: then rows are in the order of build rows");
  }
  if (given.side == "probe") return join_side::probe;
  if (given.side == "build" || given.ordered || given.kind != "inner") return join_side::build;
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

join_request parse_join(const join_arguments& given) {
  const kind_word kind = parse_join_kind(given.kind);
  check_combination(given, kind.method);
  join_request asked{.method = kind.method,
                     .kind = kind.kind,
                     .how = kind.how,
                     .second = kind.second,
                     .relation = kind.relation};
  asked.options = {.structure = given.structure,
                   .options = parse_options(given.options),
                   .missing_equal = given.missing_equal,
                   .seed = given.seed};
  if (given.seed && (given.structure == "hash_open" || given.structure == "hash_bucket"))
    asked.options.options.emplace("seed", std::to_string(*given.seed));
  asked.side = parse_side(given);
  if (!given.distance.empty())
    asked.distance = parse_distance("--distance", given.distance, asked.duration);
  if (!given.direction.empty())
    asked.asof.direction = parse_word<asof_direction>("direction", given.direction,
                                                      {"backward", "forward", "nearest"});
  if (kind.method == join_method::nearest) {
    const bool both = given.direction.empty();
    asked.nearest.before = both || asked.asof.direction != asof_direction::forward;
    asked.nearest.after = both || asked.asof.direction != asof_direction::backward;
    asked.nearest.overlaps = !given.no_overlaps;
    if (!given.count.empty() &&
        (!io::parse_number(given.count, asked.nearest.count) || asked.nearest.count == 0)) {
      throw invalid_argument(
          fmt::format("--count: {} is not a number of at least 1", io::in_quotes(given.count)));
    }
  }
  if (!given.before.empty())
    asked.window.before = parse_distance("--before", given.before, asked.duration);
  if (!given.after.empty())
    asked.window.after = parse_distance("--after", given.after, asked.duration);
  if (!given.aggregate.empty()) {
    asked.aggregate = parse_word<window_aggregate>(
        "aggregate", given.aggregate,
        {"sum", "mean", "count", "min", "max", "first", "last", "argmin", "argmax"});
  }
  asked.values = given.values;
  if (given.strict) asked.asof.which = closeness::strict;
  if (!given.tolerance.empty())
    asked.asof.tolerance = parse_distance("--tolerance", given.tolerance, asked.duration);
  if (!given.relative_tolerance.empty())
    asked.asof.relative_tolerance = parse_share(given.relative_tolerance);
  asked.has_neighbours = !given.neighbours.empty();
  if (asked.has_neighbours) asked.asof.neighbours = parse_neighbours(given.neighbours);
  asked.build = io::split_list("--build", given.build);
  asked.probe = io::split_list("--probe", given.probe);
  asked.build_by = split_if_given("--build-by", given.build_by);
  asked.probe_by = split_if_given("--probe-by", given.probe_by);
  asked.build_upper = given.build_upper;
  asked.probe_upper = given.probe_upper;
  if (!given.closed.empty()) {
    asked.closed =
        parse_word<closed_ends>("closed", given.closed, {"both", "left", "right", "neither"});
    asked.window.closed = asked.closed;
  }
  if (!given.how.empty()) {
    io::check_word("how", given.how,
                   std::vector<std::string>{"inner", "left", "right", "full", "semi", "anti"});
    asked.kind = parse_join_kind(given.how).kind;
  }
  check_counts(asked.build, asked.probe, "");
  check_counts(asked.build_by, asked.probe_by, "-by");
  const std::size_t columns = asked.method == join_method::compared2 ? 2 : 1;
  if (asked.method != join_method::equal && asked.build.size() != columns) {
    throw invalid_argument(fmt::format("--kind {} is of {}, but --build names {}", given.kind,
                                       columns == 2 ? "two columns" : "one column",
                                       asked.build.size()));
  }
  return asked;
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
