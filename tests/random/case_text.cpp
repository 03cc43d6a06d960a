// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tests/random/bits.hpp"
#include "tests/random/text.hpp"

namespace raydex::test {

namespace {

std::string with_rows(key_format format, const std::vector<cell>& cells, bool explicit_rows) {
  return listed(cells, [&](const cell& one) {
    return to_text(format, one) + (explicit_rows ? fmt::format("/{}", one.row) : "");
  });
}

}  // namespace

std::string to_text(const char* what, const placing& lie) {
  if (lie == placing{}) return "";
  return fmt::format("  {}: {} cells apart after {}\n", what, lie.stride, lie.skew);
}

std::string to_text(const fault& fails) {
  if (fails.of == fault::source::none) return "";
  static constexpr std::array words{"", "allocation {} of the resource fails",
                                    "operator new or CUDA call {} fails",
                                    "operator new or CUDA call {} and all that follow fail"};
  return ", " + fmt::format(fmt::runtime(word(words, fails.of)), fails.at);
}

namespace {

std::string question(const test_case& of, const step& one) {
  static constexpr std::array words{"first",   "count", "sum",     "sum of values", "rows",
                                    "offsets", "ranks", "minimum", "position",      "check"};
  std::string text = "ask for";
  for (const answer wanted : one.answers) {
    text += fmt::format("{} {}", wanted == one.answers.front() ? "" : ",", word(words, wanted));
    if (wanted == answer::sum_of_values)
      text += fmt::format(" ({})", raydex::to_string(format_of_type(one.summed)));
  }
  if (one.threads != 1) text += fmt::format(", by {} threads at once", one.threads);
  text += to_text(one.fails);
  const bool points = one.points && !of.minima;
  return text + ":" + listed(one.ranges, [&](const range& asked) {
           return points ? to_text(of.probe(), asked.lower)
                         : fmt::format("[{},{}]", to_text(of.probe(), asked.lower),
                                       to_text(of.probe(), asked.upper));
         });
}

std::string change(const test_case& of, const step& one) {
  static constexpr std::array words{"ask", "edit", "update", "rebuild", "refresh"};
  std::string text = word(words, one.what) + to_text(one.fails);
  if (one.what == action::rebuild) return text;
  if (one.what == action::update)
    return text + ":" + with_rows(of.key, one.put, of.rows != row_kind::implicit);
  if (one.what == action::refresh) {
    return text + ", value@position:" + listed(one.put, [&](const cell& changed) {
             return fmt::format("{}@{}", to_text(of.key, changed),
                                to_text(of.position, cell{bits_of(of.position, changed.row)}));
           });
  }
  return text + "\n    insert:" + with_rows(of.key, one.put, true) + "\n    erase " +
         (one.erase_pairs ? "pairs:" : "keys:") + with_rows(of.key, one.erase, one.erase_pairs);
}

}  // namespace

std::string to_text(key_format format, const cell& of) {
  const number value = number_of(format, of.bits);
  std::string text;
  if (format.type == key_type::bytes) {
    text = fmt::format("x{:0{}x}", static_cast<std::uint64_t>(value), 2 * format.width);
  } else if (std::isnan(value)) {
    text = fmt::format("nan:{:x}", of.bits);
  } else if (format.type == key_type::float32) {
    text = fmt::format("{}", static_cast<float>(value));
  } else {
    text = format.type == key_type::float64 ? fmt::format("{}", static_cast<double>(value))
                                            : fmt::format("{:.0f}", value);
  }
  return of.missing ? fmt::format("missing({})", text) : text;
}

std::string to_text(const test_case& of) {
  if (of.joins) return to_text(of, *of.joins);
  static constexpr std::array row_words{"their positions", "uint32", "uint64"};
  std::string text = fmt::format("  {}", of.structure);
  for (const auto& [name, value] : of.options)
    text += fmt::format(" {}={}", name, value);
  text += fmt::format("\n  {} {} of {}{}", of.keys.size(), of.minima ? "values" : "keys",
                      raydex::to_string(of.key), to_text(of.build_fails));
  if (of.minima) {
    text += fmt::format(", positions {}", raydex::to_string(of.position));
  } else {
    text += fmt::format(", row ids are {}", word(row_words, of.rows));
  }
  if (of.masked) text += ", with validity masks";
  text.append(":").append(with_rows(of.key, of.keys, of.rows != row_kind::implicit)).append("\n");
  text += to_text("keys", of.key_cells) + to_text("row ids", of.row_cells) +
          to_text("probes", of.probe_cells) + to_text("values", of.value_cells);
  if (of.schedule != 0) text += fmt::format("  threads in the order of seed {}\n", of.schedule);
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    const step& one = of.steps[i];
    text += fmt::format("  step {}: {}\n", i + 1,
                        one.what == action::ask ? question(of, one) : change(of, one));
  }
  return text;
}

}  // namespace raydex::test
