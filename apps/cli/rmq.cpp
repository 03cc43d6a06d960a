// SPDX-License-Identifier: Apache-2.0
// `raydex rmq`: minima or maxima of ranges of an array in a file, and where they are.
#include "apps/cli/rmq.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/batches.hpp"
#include "apps/cli/build_arguments.hpp"
#include "apps/cli/kept_key.hpp"
#include "apps/cli/placed_column.hpp"
#include "apps/cli/report.hpp"
#include "io/backend_choice.hpp"
#include "io/column_writer.hpp"
#include "io/index_saving.hpp"
#include "io/known_words.hpp"
#include "io/output_file.hpp"
#include "io/progress.hpp"
#include "io/read.hpp"
#include "io/wall_clock.hpp"
#include "raydex/error.hpp"
#include "raydex/index_file.hpp"
#include "raydex/repairs.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

// The command line as it is; a file that it does not name is empty.
struct rmq_arguments : build_arguments {
  std::string values, ranges, result, set, set_values;
  std::string index, save_index;
  bool check = false;
  bool no_verify = false;

  std::vector<io::file_argument> inputs() const {
    std::vector<io::file_argument> all{
        {"--values", values}, {"--ranges", ranges}, {"--set", set}, {"--set-values", set_values}};
    // It may be replaced: that is done once all is read.
    if (!index.empty() && (save_index.empty() || !io::is_same_file(index, save_index)))
      all.push_back({"--index", index});
    return all;
  }
};

// What the file of a structure says.
struct kept_minima {
  index_file_info file;
  io::time_kind times;  // of its values
};

// The columns that the arguments name, in host memory; ranges of an array are read when they are
// asked for.
struct rmq_inputs {
  io::host_column values;
  std::optional<io::host_column> set, set_values;
  io::host_ranges ranges;  // of a CSV file
};

// What `--result` asks for.
struct result_word {
  const char* word;
  rmq_extreme extreme;
  bool position;  // or its value
};
constexpr result_word results[] = {{"min", rmq_extreme::minimum, false},
                                   {"argmin", rmq_extreme::minimum, true},
                                   {"max", rmq_extreme::maximum, false},
                                   {"argmax", rmq_extreme::maximum, true}};

// Nothing, if nothing is asked.
std::optional<result_word> parse_result(const rmq_arguments& arguments) {
  if (arguments.ranges.empty()) return std::nullopt;
  std::vector<std::string> known;
  for (const result_word& one : results) {
    if (arguments.result == one.word) return one;
    known.emplace_back(one.word);
  }
  io::refuse_word("result", arguments.result, known);
}

option_map options_for(const rmq_arguments& arguments, const std::optional<result_word>& wanted) {
  option_map options = parse_options(arguments.options);
  if (!wanted) return options;
  if (options.contains("extreme")) {
    throw invalid_argument(
        "option extreme: --result tells which it is: min, argmin, max or argmax; leave it out");
  }
  if (wanted->extreme == rmq_extreme::maximum) options["extreme"] = "maximum";
  return options;
}

void check_files(const rmq_arguments& arguments) {
  if (arguments.values.empty() && arguments.index.empty())
    throw invalid_argument("--values is required, the array, or --index, a file that has one");
  if (arguments.no_verify && arguments.index.empty())
    throw invalid_argument("--no-verify goes with --index");
  if (!arguments.index.empty()) {
    const given_option of_a_build[] = {{"--values", !arguments.values.empty()},
                                       {"--set", !arguments.set.empty()},
                                       {"--structure", arguments.structure != "auto"},
                                       {"--option", !arguments.options.empty()}};
    check_beside_index(arguments.index, of_a_build);
  }
  check_index_place(arguments.save_index);
}

void check_answers(const rmq_arguments& arguments) {
  const given_option needed[] = {{"--result", !arguments.result.empty()},
                                 {"--out", !arguments.out.empty()}};
  if (!arguments.ranges.empty()) {
    for (const given_option& one : needed)
      if (!one.is_given) throw invalid_argument(fmt::format("{} is required", one.name));
    return;
  }
  if (arguments.save_index.empty())
    throw invalid_argument("--ranges is required, or --save-index, which needs none");
  for (const given_option& one : needed) {
    if (one.is_given)
      throw invalid_argument(fmt::format("{} is of answers; give --ranges", one.name));
  }
}

void check(const rmq_arguments& arguments) {
  check_files(arguments);
  check_answers(arguments);
  if (arguments.set.empty() != arguments.set_values.empty()) {
    throw invalid_argument("--set and --set-values go together: positions and their new values");
  }
  if (!arguments.set.empty()) check_updatable(rmq_capabilities(), arguments.structure, "--set");
}

void check_positions(const typed_file& positions) {
  const key_type type = positions.format.type;
  const bool are_times = positions.times != io::time_kind::none;
  const bool are_integers = type == key_type::uint32 || type == key_type::uint64 ||
                            type == key_type::int32 || type == key_type::int64;
  if (are_integers && !are_times) return;
  throw invalid_argument(fmt::format("{} {} are {}; positions are integers{}", positions.role,
                                     positions.path, positions.type(),
                                     how_to_read_as(positions, format_of<std::int64_t>)));
}

void check_none_missing(const char* role, const std::string& path, const io::host_column& read) {
  if (read.validity.empty()) return;
  throw invalid_argument(fmt::format("{} {}: some are missing; give all of them", role, path));
}

rmq_inputs read(const rmq_arguments& arguments) {
  rmq_inputs in;
  io::column_reading reading;
  if (!arguments.values.empty()) reading.add(arguments.values, in.values);
  if (io::names_column(arguments.ranges)) reading.add(arguments.ranges, in.ranges);
  if (!arguments.set.empty()) {
    reading.add(arguments.set, in.set.emplace());
    reading.add(arguments.set_values, in.set_values.emplace());
  }
  reading.read();
  if (arguments.values.empty()) return in;
  const typed_file values{"values", arguments.values, in.values.format, in.values.times};
  if (values.format.type == key_type::bytes) {
    throw invalid_argument(fmt::format("values {} are {}; minima are of numbers", arguments.values,
                                       to_string(values.format)));
  }
  check_none_missing("values", arguments.values, in.values);
  if (arguments.set.empty()) return in;

  check_positions({"set positions", arguments.set, in.set->format, in.set->times});
  check_same_type({"set values", arguments.set_values, in.set_values->format, in.set_values->times},
                  values);
  check_none_missing("set positions", arguments.set, *in.set);
  check_none_missing("set values", arguments.set_values, *in.set_values);
  if (in.set->size != in.set_values->size) {
    throw invalid_argument(fmt::format("set values {}: there are {}, but {} positions",
                                       arguments.set_values, in.set_values->size, in.set->size));
  }
  return in;
}

// Positions of any type; negative ones are beyond all arrays.
std::uint64_t position_at(const io::host_column& positions, std::uint64_t i) {
  const auto as = [&]<class T>(T position) {
    std::memcpy(&position, positions.cells.get() + i * sizeof position, sizeof position);
    return static_cast<std::uint64_t>(position);
  };
  switch (positions.format.type) {
    case key_type::uint32:
      return as(std::uint32_t{});
    case key_type::int32:
      return as(std::int32_t{});
    default:
      return as(std::uint64_t{});
  }
}

void check_inside(const rmq_arguments& arguments, const rmq_inputs& in) {
  for (std::uint64_t i = 0; i < in.set->size; ++i) {
    const std::uint64_t position = position_at(*in.set, i);
    if (position < in.values.size) continue;
    throw invalid_argument(fmt::format(
        "set positions {}: position {} is {}; the array has {} values", arguments.set, i,
        in.set->format.type == key_type::uint64
            ? fmt::format("{}", position)
            : fmt::format("{}", static_cast<std::int64_t>(position)),
        in.values.size));
  }
}

// The values in memory of their own, where they can be set.
std::byte* make_writable(io::host_column& values) {
  const std::size_t bytes = values.size * values.format.width;
  std::shared_ptr<std::byte[]> own = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::copy_n(values.cells.get(), bytes, own.get());
  values.cells = {own, own.get()};
  return own.get();
}

// Sets what the arguments name, of equal positions the last, and tells the structure; returns the
// milliseconds that it takes to learn of it.
double set_values(const session& on, const rmq_inputs& in, std::byte* cells, placed_column& values,
                  rmq& built) {
  const std::uint64_t width = in.values.format.width;
  for (std::uint64_t i = 0; i < in.set->size; ++i) {
    std::copy_n(in.set_values->cells.get() + i * width, width,
                cells + position_at(*in.set, i) * width);
  }
  values.reload(on, in.values.view());
  const placed_column positions(on, in.set->view());
  return io::wall_milliseconds(on, [&] { built.refresh(context(on).stream, positions.view()); });
}

// Of each range 1, or 0 if nothing is in it.
std::vector<std::uint64_t> are_not_empty(const session& on, const rmq& built,
                                         const probes& ranges) {
  buffer<std::uint64_t> positions(on, ranges.size());
  built.position(on, ranges, positions);
  std::vector<std::uint64_t> found = on.download(positions);
  for (std::uint64_t& one : found)
    one = one == no_position ? 0 : 1;
  return found;
}

// What values are, for the note of a file.
kept_key key_of(const io::host_column& values) {
  kept_key key;
  key.columns.push_back({.format = values.format, .times = values.times});
  return key;
}

// What a file says, if one is named.
std::optional<kept_minima> inspect_file(const rmq_arguments& arguments) {
  if (arguments.index.empty()) return std::nullopt;
  kept_minima found{.file = inspect(arguments.index), .times = io::time_kind::none};
  if (!found.file.is_minima) {
    throw invalid_argument(
        fmt::format("{} has an index over keys; ask it by raydex query --index", arguments.index));
  }
  const kept_key values = read_note(arguments.index, found.file);
  const kept_column& column = values.columns.front();
  found.times = column.times;
  if (values.obstacle.empty() && column.unit == 1) return found;
  throw unsupported(
      fmt::format("{} has values that are {}, which the program does not ask; ask in "
                  "Python, by raydex.load",
                  arguments.index, column.type));
}

std::unique_ptr<rmq> open(const session& on, const rmq_arguments& arguments,
                          const kept_minima& kept) {
  loaded_rmq found = load_rmq(on.where(), on, arguments.index, {.verify = !arguments.no_verify});
  if (found.note != kept.file.note || found.held->info().value != kept.file.key)
    throw invalid_argument(fmt::format("{}: it was replaced meanwhile", arguments.index));
  return std::move(found.held);
}

// Refuses a file that answers for the other extreme.
void check_extreme(const rmq_arguments& arguments, const result_word& wanted, const rmq& built) {
  if (wanted.extreme == built.info().extreme) return;
  const bool has_maxima = wanted.extreme == rmq_extreme::minimum;
  throw invalid_argument(fmt::format("--result {}: {} has {} alone: {} or arg{}", arguments.result,
                                     arguments.index, has_maxima ? "maxima" : "minima",
                                     has_maxima ? "max" : "min", has_maxima ? "max" : "min"));
}

void run(const rmq_arguments& arguments) {
  check(arguments);
  const std::optional<result_word> wanted = parse_result(arguments);
  const option_map options = options_for(arguments, wanted);
  const std::optional<kept_minima> kept = inspect_file(arguments);
  // What would fail late is tried early: outputs and the backend.
  outputs files(arguments, arguments.inputs(), ".npy", {"--save-index", arguments.save_index});
  const session on(io::choose_backend(arguments.backend, io::rmq_offers(),
                                      kept ? kept->file.structure : arguments.structure,
                                      !arguments.set.empty()));
  io::check_spelling(arguments.structure, options);
  progress_bar bar;

  bar.phase("read");
  rmq_inputs in = read(arguments);
  std::optional<io::range_reader> all_ranges;
  if (wanted) {
    if (io::names_column(arguments.ranges)) {
      all_ranges.emplace(std::move(in.ranges));
    } else {
      all_ranges.emplace(arguments.ranges);
    }
    check_positions({"ranges", arguments.ranges, all_ranges->format(), all_ranges->times()});
  }
  std::byte* writable = nullptr;
  if (in.set) {
    check_inside(arguments, in);
    writable = make_writable(in.values);
  }

  query_costs costs;
  std::optional<placed_column> values;
  std::unique_ptr<rmq> built;
  if (kept) {
    bar.phase("load");
    costs.load_ms = io::wall_milliseconds(on, [&] { built = open(on, arguments, *kept); });
    if (wanted) check_extreme(arguments, *wanted, *built);
  } else {
    bar.phase("build");
    values.emplace(on, in.values.view());
    costs.build_ms = io::wall_milliseconds(on, [&] {
      built = build_rmq(arguments.structure, on.where(), on, values->view(), options);
    });
  }

  if (in.set) {
    bar.phase("set");
    costs.edit_ms = set_values(on, in, writable, *values, *built);
  }

  query_facts query{.result = arguments.result};
  if (wanted) {
    bar.phase("lookup", all_ranges->size());
    query.probes = all_ranges->size();
    if (wanted->position) query.no_match = no_position;
    const key_format cell = wanted->position ? format_of<std::uint64_t> : built->info().value;
    io::column_writer writer(files.answers(), arguments.result, cell, query.probes, query.no_match);
    for_each_batch(query.probes, bar, [&](std::uint64_t first, std::uint64_t count) {
      const io::host_ranges host = all_ranges->next(count);
      const placed_probes placed(on, ranges(host.lower.view(), host.upper.view()));
      const probes part = placed.view();
      if (arguments.check) built->check(on, part, first);
      buffer<std::byte> answers(on, count * cell.width);
      costs.lookup_ms += io::wall_milliseconds(on, [&] {
        if (wanted->position) {
          built->position(on, part, {reinterpret_cast<std::uint64_t*>(answers.data()), count});
        } else if (wanted->extreme == rmq_extreme::maximum) {
          built->maximum(on, part, {cell, answers.data(), count});
        } else {
          built->minimum(on, part, {cell, answers.data(), count});
        }
      });
      std::vector<std::uint64_t> counts;
      if (!wanted->position && io::is_csv_output(arguments.out)) {
        counts = are_not_empty(on, *built, part);
      }
      writer.write(on.download(answers), counts);
    });
  }

  costs.repairs = repairs(*built, context(on).stream);

  if (!arguments.save_index.empty()) {
    bar.phase("save");
    files.finish();
    const std::string note = kept ? kept->file.note : note_of(key_of(in.values));
    costs.save_ms =
        io::wall_milliseconds(on, [&] { io::save_index(on, *built, arguments.save_index, note); });
  }
  bar.phase("write");
  files.commit([&] { return report(on, built->info(), query, costs); });
}

}  // namespace

void add_rmq_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "rmq", "Find the minima or maxima of ranges of an array, or where they are");
  const auto arguments = std::make_shared<rmq_arguments>();
  const auto file = [&](const char* name, std::string& path, const char* help) {
    return add_file(*command, name, path, help);
  };
  file("--values", arguments->values, "The array");
  file("--index", arguments->index,
       "In place of --values: a file of --save-index, mapped on the cpu");
  command->add_flag("--no-verify", arguments->no_verify,
                    "For --index: open the file without a look at what is in it; for files that "
                    "you trust");
  file("--ranges", arguments->ranges,
       "Inclusive ranges of positions: an n x 2 array of lower and upper ends");
  command
      ->add_option("--result", arguments->result,
                   "The smallest or largest value of each range, or its leftmost position")
      ->type_name("min|argmin|max|argmax");
  add_build_options(*command, *arguments,
                    "The answers: .npy, or CSV where the name ends in .csv or is -")
      ->required(false);
  file("--save-index", arguments->save_index,
       "Keep the structure and its array in a file, for --index and for raydex.load in Python");
  command->add_flag("--check", arguments->check,
                    "Refuse ranges that are empty or not wholly in the array");
  file("--set", arguments->set, "Positions whose values change after the build");
  file("--set-values", arguments->set_values,
       "Their new values; of equal positions the last counts");
  explain(
      *command,
      "The array is of numbers or times, and none is missing. Positions are integers and "
      "count\n"
      "from 0, both ends are included. NaN comes after all other values, -0.0 equals 0.0. With\n"
      "--option ties=rightmost equal values count from the right.\n"
      "\n"
      "A range is cut to the array on both sides: of 3 values, [-4, 1] has the first two. Without\n"
      "--check, if nothing is left of a range, its lower end is greater than the upper one, or an\n"
      "end is missing, its value and its position are an empty field in CSV. In .npy the value is\n"
      "NaN, or of integers the largest one (with max the smallest one), the position 2^64 - 1.\n"
      "The ranges of an .npy file may be larger than memory.\n"
      "\n"
      "--save-index needs no ranges; without them --option extreme=maximum says that it is of\n"
      "maxima. A file is of the one or the other. A file of Python's `save` is one, too.\n"
      "\n"
      "Examples:\n"
      "  raydex rmq --values lcp.npy --ranges pairs.npy --result min --check --out lce.npy\n"
      "  raydex rmq --values prices.csv:low:f8 --ranges trades.csv:buy,sell --result argmin \\\n"
      "      --out lows.npy --report report.json\n"
      "  raydex rmq --structure rmq_scan --backend cpu --option ties=rightmost --values v.npy \\\n"
      "      --set changed.npy --set-values new.npy --ranges r.npy --result argmin --out last.npy\n"
      "  raydex rmq --values v.npy --save-index v.lows\n"
      "  raydex rmq --index v.lows --ranges r.npy --result min --out lows.npy");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace raydex::cli
