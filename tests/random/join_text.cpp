// SPDX-License-Identifier: Apache-2.0
// Cases of joins as text, to be read and repeated.
#include <fmt/format.h>

#include <array>

#include "tests/random/text.hpp"

namespace raydex::test {

namespace {

std::string rows_text(const test_case& of, const std::vector<table_row>& rows, bool are_probes) {
  return listed(rows, [&](const table_row& row) {
    std::string text = fmt::format("({}, {}", to_text(of.key, row.first),
                                   to_text(of.second(are_probes), row.second));
    for (std::size_t i = 0; i < row.by.size(); ++i) {
      const auto& format = of.joins->by[i];
      text += i == 0 ? "; " : ", ";
      text += format ? to_text(*format, row.by[i])
                     : "string " + to_text(format_of<std::uint64_t>, row.by[i]);
    }
    return text + ")";
  });
}

std::string distance_text(const drawn_distance& given) {
  return given.is_real ? fmt::format("{}", given.real) : fmt::format("{}", given.whole);
}

constexpr std::array closed_words{"both", "left", "right", "neither"};
constexpr std::array comparison_words{"<", "<=", ">", ">="};

std::string question_text(const test_case& of, const join_question& one) {
  static constexpr std::array words{"equal",
                                    "points",
                                    "ranges",
                                    "band",
                                    "compared",
                                    "relation",
                                    "both",
                                    "as-of",
                                    "nearest",
                                    "nearest with ties",
                                    "covered",
                                    "window",
                                    "windows of its own"};
  static constexpr std::array relations{"overlaps", "within", "encloses"};
  static constexpr std::array directions{"backward", "forward", "nearest"};
  static constexpr std::array aggregates{"count", "first row", "last row", "sum",
                                         "mean",  "minimum",   "argmin",   "first",
                                         "last",  "maximum",   "argmax"};
  std::string text = word(words, one.how);
  if (one.how == matching::compared)
    text += fmt::format(" {}", word(comparison_words, one.compared));
  if (one.how == matching::relation) text += fmt::format(" {}", word(relations, one.relation));
  if (one.how == matching::asof) {
    text += fmt::format(" {}{}", word(directions, one.direction),
                        one.which == closeness::strict ? ", strict" : "");
  }
  if (one.how == matching::nearest || one.how == matching::ties) {
    text += fmt::format(" {} {}{}", one.count, word(directions, one.direction),
                        one.overlaps ? "" : ", no overlaps");
  }
  if (one.first) text += ", the first";
  if (one.before) text += ", distance " + distance_text(*one.before);
  if (one.how == matching::window || one.how == matching::own_windows)
    text += fmt::format(" and {}, closed {}", distance_text(*one.after),
                        word(closed_words, one.closed));
  for (const aggregated which : one.aggregates)
    text += fmt::format(", {}", word(aggregates, which));
  const bool pairs =
      one.how != matching::asof && one.how != matching::nearest && one.how != matching::covered;
  if (one.aggregates.empty() && pairs) text += fmt::format(", {}", raydex::to_string(one.kind));
  text += fmt::format(", part {}{}", one.part, one.wide ? ", wide" : "");
  if (one.threads != 1) text += fmt::format(", by {} threads at once", one.threads);
  return text + to_text(one.fails) + ":" + rows_text(of, one.probes, true);
}

}  // namespace

std::string to_text(const test_case& of, const join_case& join) {
  std::string text = fmt::format("  {}", of.structure);
  if (!join.structure.empty()) text += fmt::format(" by {}", join.structure);
  if (join.missing_equal) text += ", missing ones are equal";
  if (join.hash_seed) text += fmt::format(", hash {}", *join.hash_seed);
  if (of.structure == "interval_join")
    text += fmt::format(", closed {}", word(closed_words, join.closed));
  if (of.structure == "inequality_join")
    text += fmt::format(", {} and {}", word(comparison_words, join.first),
                        word(comparison_words, join.other));
  if (of.structure == "window_join")
    text += fmt::format(", built:{}{}{}{}", join.values ? " values" : " nothing",
                        join.sums ? " sums" : "", join.minima ? " minima" : "",
                        join.maxima ? " maxima" : "");
  text += fmt::format("\n  {} rows of {} and {}", join.build.size(), raydex::to_string(of.key),
                      raydex::to_string(join.second));
  for (const auto& format : join.by)
    text += fmt::format(", by {}", format ? raydex::to_string(*format) : "strings");
  text += to_text(of.build_fails) + (of.masked ? ", with validity masks:" : ":") +
          rows_text(of, join.build, false) + "\n";
  text += to_text("build rows", of.key_cells) + to_text("probes", of.probe_cells) +
          to_text("second column", of.value_cells);
  if (of.schedule != 0) text += fmt::format("  threads in the order of seed {}\n", of.schedule);
  for (std::size_t i = 0; i < join.questions.size(); ++i)
    text += fmt::format("  question {}: {}\n", i + 1, question_text(of, join.questions[i]));
  return text;
}

}  // namespace raydex::test
