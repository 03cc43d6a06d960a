// SPDX-License-Identifier: Apache-2.0
// `raydex join`: the rows of two tables that match, by columns in files.
#include "apps/cli/join.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "apps/cli/build_arguments.hpp"
#include "apps/cli/join_answers.hpp"
#include "apps/cli/join_arguments.hpp"
#include "apps/cli/joining.hpp"
#include "apps/cli/report.hpp"
#include "io/backend_choice.hpp"
#include "io/column_writer.hpp"
#include "io/join_writer.hpp"
#include "io/known_words.hpp"
#include "io/output_file.hpp"
#include "io/progress.hpp"
#include "raydex/index.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

// The format of the distances that are written beside rows, if there are any.
std::optional<key_format> distance_format(const join_request& request, const join_inputs& in) {
  if (request.method != join_method::nearest) return std::nullopt;
  const key_type type = std::get<io::host_column>(in.build.front()).format.type;
  return type == key_type::float32 || type == key_type::float64 ? format_of<double>
                                                                : format_of<std::uint64_t>;
}

// Writes the rows of a join, or what stands in them; returns the milliseconds that it takes.
double write(io::output_file& file, joining& rows, const join_request& request,
             const join_inputs& in, progress_bar& bar) {
  const auto start = std::chrono::steady_clock::now();
  if (in.columns.empty()) {
    io::row_number_writer writer(file, rows.size(), request.has_build_rows(),
                                 distance_format(request, in));
    std::span<const std::uint64_t> distances = rows.distances();
    rows.rows(bar, [&](auto probe_rows, auto build_rows) {
      const std::size_t count = std::min(probe_rows.size(), distances.size());
      writer.write(probe_rows, build_rows, distances.first(count));
      distances = distances.subspan(count);
    });
  } else {
    io::joined_row_writer writer(file, in.columns);
    rows.rows(bar, [&](auto probe_rows, auto build_rows) { writer.write(probe_rows, build_rows); });
  }
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(end - start).count();
}

// What a report says of a join, whose rows and table that is indexed the caller tells.
join_facts facts_of(const join_arguments& arguments, const join_request& request,
                    const join_inputs& in) {
  join_facts facts{.kind = arguments.kind,
                   .side = "build",
                   .key = formats_of(in.build),
                   .build_rows = in.build_rows(),
                   .probe_rows = in.probe_rows()};
  if (!in.build_by.empty()) facts.key = formats_of(in.build_by) + "," + facts.key;
  if (request.may_have_none()) facts.no_match = not_found<std::uint64_t>;
  return facts;
}

// Writes a number of each probe row.
void run_answers(const join_arguments& arguments, const join_request& request,
                 const join_inputs& in, const session& on, outputs& files, progress_bar& bar) {
  bar.phase("build");
  join_answers answers(on, request, in, io::is_csv_output(arguments.out));
  bar.phase("match", in.probe_rows());
  answers.match(bar);
  const std::string usual = request.method == join_method::coverage ? "coverage" : "sum";
  const auto start = std::chrono::steady_clock::now();
  io::column_writer(files.answers(), arguments.aggregate.empty() ? usual : arguments.aggregate,
                    answers.format(), in.probe_rows(), answers.none())
      .write(answers.cells(), answers.value_counts());
  const auto end = std::chrono::steady_clock::now();
  files.commit([&] {
    join_facts facts = facts_of(arguments, request, in);
    facts.rows = in.probe_rows();
    facts.no_match = answers.none();
    join_costs costs = answers.costs();
    costs.write_ms = std::chrono::duration<double, std::milli>(end - start).count();
    return report(on, answers.info(), facts, costs);
  });
}

void run(const join_arguments& arguments) {
  const join_request request = parse_join(arguments);
  // What would fail late is tried early: outputs and the backend.
  outputs files(arguments, request.inputs());
  const session on(
      io::choose_backend(arguments.backend, io::key_offers(), arguments.structure, false));
  io::check_spelling(arguments.structure, request.options.options);
  progress_bar bar;

  bar.phase("read");
  const join_inputs in = read(request, arguments.columns);
  if (request.has_answers()) return run_answers(arguments, request, in, on, files, bar);

  bar.phase("build");
  joining rows(on, request, in);

  const bool probe_is_indexed = rows.side() == join_side::probe;
  bar.phase("match", probe_is_indexed ? in.build_rows() : in.probe_rows());
  rows.match(bar);

  bar.phase("write", rows.size());
  const double write_ms = write(files.answers(), rows, request, in, bar);
  files.commit([&] {
    join_facts facts = facts_of(arguments, request, in);
    if (probe_is_indexed) facts.side = "probe";
    facts.rows = rows.size();
    join_costs costs = rows.costs();
    costs.write_ms = write_ms - costs.rows_ms;
    return report(on, rows.info(), facts, costs);
  });
}

}  // namespace

void add_join_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("join", "Find the rows of two tables that match");
  const auto arguments = std::make_shared<join_arguments>();
  const auto list = [&](const char* name, std::string& columns, const char* help) {
    return command->add_option(name, columns, help)->type_name("FILE[,...]");
  };
  list("--build", arguments->build, "The key of the build table: its columns")->required();
  list("--probe", arguments->probe, "The key of the probe table, which is compared with it")
      ->required();
  command->add_option("--kind", arguments->kind, "Which rows match, and which are written")
      ->required()
      ->type_name(join_kind_names);
  add_build_options(*command, *arguments,
                    "The rows: .npy, or CSV where the name ends in .csv or is -");
  list("--columns", arguments->columns,
       "Write what stands in these columns instead of row numbers, as CSV");
  command->add_option("--side", arguments->side, "For inner: the table that is indexed")
      ->type_name(side_names)
      ->capture_default_str();
  command->add_flag("--ordered", arguments->ordered, "Write rows in the order of the probe rows");
  command->add_flag(
      "--missing-equal", arguments->missing_equal,
      "For inner, left, right, full, semi and anti, and keys of asof: a missing value equals "
      "another one");
  command
      ->add_option("--seed", arguments->seed,
                   "For these, too: the seed of hashes, which are drawn anew without it")
      ->type_name("N");
  command
      ->add_option("--direction", arguments->direction,
                   "For asof: where the closest time is looked for [backward]; for nearest: on "
                   "which side [nearest: both]")
      ->type_name(direction_names);
  command
      ->add_option("--tolerance", arguments->tolerance, "For asof: the largest distance of times")
      ->type_name("DISTANCE");
  command
      ->add_option("--relative-tolerance", arguments->relative_tolerance,
                   "For asof: the largest distance as a share of the probe, as 2e-5")
      ->type_name("SHARE");
  command
      ->add_option("--neighbours", arguments->neighbours,
                   "For asof: write pairs of a probe row and each of so many closest build rows")
      ->type_name("COUNT");
  command->add_flag("--strict", arguments->strict, "For asof: leave equal times out");
  list("--build-by", arguments->build_by,
       "For kinds by order: a key of the build table that must be equal, too");
  list("--probe-by", arguments->probe_by, "For kinds by order: the columns that it equals");
  command->add_option("--distance", arguments->distance, "For band: the largest distance of keys")
      ->type_name("DISTANCE");
  add_file(*command, "--build-upper", arguments->build_upper,
           "For intervals: the upper ends of those whose lower ends are --build");
  add_file(*command, "--probe-upper", arguments->probe_upper,
           "For intervals: the upper ends of those whose lower ends are --probe");
  command
      ->add_option("--closed", arguments->closed,
                   "For intervals, on both sides, and window: which ends belong to them [both]")
      ->type_name(closed_names);
  command
      ->add_option(
          "--how", arguments->how,
          "For kinds by order but asof, nearest, coverage and window: which rows are written "
          "[inner]")
      ->type_name(how_names);
  command->add_option("--count", arguments->count, "For nearest: how many for each probe row [1]")
      ->type_name("COUNT");
  command->add_flag("--no-overlaps", arguments->no_overlaps,
                    "For nearest: leave intervals out that overlap or touch");
  command->add_option("--before", arguments->before, "For window: how far it reaches back [0]")
      ->type_name("DISTANCE");
  command->add_option("--after", arguments->after, "For window: how far it reaches on [0]")
      ->type_name("DISTANCE");
  command->add_option("--aggregate", arguments->aggregate, "For window: what is written [sum]")
      ->type_name(aggregate_names);
  add_file(*command, "--values", arguments->values, "For window: the values of build rows");
  explain(
      *command,
      "A key has up to 16 columns, separated by commas; of one table the others follow by name:\n"
      "file.csv:origin,time:int64. Texts of any length are the type `string`, which longer ones "
      "get\n"
      "without a type, in keys that must be equal. What is missing matches nothing. NaN equals "
      "NaN\n"
      "and follows all other keys, -0.0 equals 0.0. A distance is a number, of times nanoseconds,\n"
      "or one with a unit: 90s, 15min, 2h, 1d, also ms, us and ns.\n"
      "\n"
      "Kinds, and their rows:\n"
      "  inner     each pair of a probe row and a build row whose keys are equal\n"
      "  left      the same, and probe rows without a match, beside no build row\n"
      "  right     as inner, and after them build rows without a match, beside no probe row\n"
      "  full      as left, and after them the same\n"
      "  semi, anti  the probe rows with a match, or without one; no build rows\n"
      "  asof      each probe row and the build row with the closest time: the last one not after\n"
      "            it, with --direction forward the first one not before it, with nearest the\n"
      "            closer of the two, or no build row. Of build rows of the same time, the last\n"
      "            one, or of those after the probe's the first. With --neighbours as many pairs\n"
      "            as there are build rows near enough, the closest one first\n"
      "  band      pairs whose keys are at most --distance apart\n"
      "  contains  pairs whose probe is in the interval from --build to --build-upper\n"
      "  overlaps  pairs of such intervals and those from --probe to --probe-upper that\n"
      "            each begin before the other one ends, or where it ends if both ends are closed\n"
      "  within, encloses  pairs whose build interval lies within the probe's, or the other way\n"
      "            round\n"
      "  less, less_equal, greater, greater_equal  pairs whose build key compares so with the\n"
      "            probe's; two of them, as less,greater_equal, of two columns each\n"
      "  nearest   each probe interval and the --count nearest build intervals, or no build row;\n"
      "            in CSV with their distance, which is 0 for those that overlap or touch\n"
      "  coverage  a number a probe interval: the summed length of what build intervals share\n"
      "            with it\n"
      "  window    a number a probe row: the --aggregate of --values of the build rows whose keys\n"
      "            are from --before before its own to --after after it; of no row, sum and count\n"
      "            are 0, others in CSV an empty field, else NaN, or of integers the largest\n"
      "            number, of max the smallest\n"
      "From asof on kinds are by order: with --build-by and --probe-by, of rows whose keys are "
      "equal.\n"
      "\n"
      "Rows count from 0. In .npy they are uint64, n x 2: probe row and build row; the largest\n"
      "number is no row. In CSV they are the columns probe,build, and no row is an empty field.\n"
      "Of semi and anti, they are the probe rows alone. Rows are in the order of the probe rows,\n"
      "except for inner: there the smaller table is indexed, unless --ordered or --side say\n"
      "otherwise.\n"
      "\n"
      "--columns names columns of these files, likewise: file.csv:column. Fields of CSV are\n"
      "written as they stand. Where both tables are of one file, build:file.csv:column says "
      "which.\n"
      "\n"
      "Examples:\n"
      "  raydex join --build planes.csv:tailnum --probe flights.csv:tailnum --kind inner \\\n"
      "      --out pairs.npy\n"
      "  raydex join --build weather.csv:origin,hour --probe flights.csv:origin,hour --kind left "
      "\\\n"
      "      --columns flights.csv:tailnum,weather.csv:temp --out -\n"
      "  raydex join --build weather.csv:time --probe flights.csv:time --kind asof \\\n"
      "      --build-by weather.csv:origin --probe-by flights.csv:origin --tolerance 3600 \\\n"
      "      --out latest.csv\n"
      "  raydex join --build spans.csv:begin --build-upper spans.csv:end --probe events.npy \\\n"
      "      --kind contains --out pairs.npy --report report.json\n"
      "  raydex join --build genes.csv:start --build-upper genes.csv:end --build-by "
      "genes.csv:chrom \\\n"
      "      --probe reads.csv:start --probe-upper reads.csv:end --probe-by reads.csv:chrom \\\n"
      "      --kind overlaps --closed left --out pairs.npy\n"
      "  raydex join --build quotes.csv:time --values quotes.csv:size --build-by quotes.csv:symbol "
      "\\\n"
      "      --probe trades.csv:time --probe-by trades.csv:symbol --kind window --before 5min \\\n"
      "      --aggregate mean --out means.csv");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace raydex::cli
