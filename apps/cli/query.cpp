// SPDX-License-Identifier: Apache-2.0
// `raydex query`: an index over a column of a file, and its answers in a file.
#include "apps/cli/query.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/answers.hpp"
#include "apps/cli/batches.hpp"
#include "apps/cli/build_arguments.hpp"
#include "apps/cli/placed_column.hpp"
#include "apps/cli/report.hpp"
#include "io/backend_choice.hpp"
#include "io/column_stream.hpp"
#include "io/column_writer.hpp"
#include "io/npz.hpp"
#include "io/output_file.hpp"
#include "io/progress.hpp"
#include "io/pyarrow_table.hpp"
#include "io/read.hpp"
#include "io/speed_cache.hpp"
#include "io/wall_clock.hpp"
#include "raydex/aggregate.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/repairs.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

// Rows that `auto` supposes a range to match: few, where structures differ most.
constexpr std::uint64_t typical_range_hits = 16;

// The command line as it is; a file that it does not name is empty.
struct query_arguments : build_arguments {
  std::string keys, row_ids, points, ranges, result, values;
  std::string insert, insert_rows, erase, erase_rows;
  bool aggregate = false;
  bool strict = false;

  // Whether an aggregate answers: some results only one has.
  bool has_aggregate() const {
    const result_kind kind = parse_result(result);
    return aggregate || kind == result_kind::mean || kind == result_kind::min ||
           kind == result_kind::max;
  }
  // What is asked for, as it is named.
  const std::string& asked() const { return points.empty() ? ranges : points; }
  // Whether it comes on standard input.
  bool streams() const { return io::names_stream(asked()); }
  std::vector<io::file_argument> inputs() const {
    return {{"--keys", keys},
            {"--row-ids", row_ids},
            {"--points", streams() ? "" : points},
            {"--ranges", streams() ? "" : ranges},
            {"--values", values},
            {"--insert", insert},
            {"--insert-rows", insert_rows},
            {"--erase", erase},
            {"--erase-rows", erase_rows}};
  }
  bool has_edits() const {
    return !(insert.empty() && insert_rows.empty() && erase.empty() && erase_rows.empty());
  }
};

// The columns that the arguments name, in host memory.
struct inputs {
  io::host_column keys;
  std::optional<io::host_column> row_ids;
  io::host_ranges ends;  // of points, the lower ones only
  std::optional<io::host_column> values;
  std::optional<io::host_column> insert, insert_rows, erase, erase_rows;
};

probes batch_of(const io::host_ranges& ends) {
  return ends.upper.cells == nullptr ? points(ends.lower.view())
                                     : ranges(ends.lower.view(), ends.upper.view());
}

void check(const query_arguments& arguments) {
  if (arguments.points.empty() == arguments.ranges.empty()) {
    throw invalid_argument("give either --points or --ranges");
  }
  const result_kind kind = parse_result(arguments.result);
  if (arguments.aggregate && is_place(kind)) {
    throw invalid_argument(fmt::format("--aggregate has no {} of a point", arguments.result));
  }
  const bool of_values = kind == result_kind::sum || kind == result_kind::mean ||
                         kind == result_kind::min || kind == result_kind::max;
  if (!arguments.values.empty() && !of_values) {
    throw invalid_argument(
        fmt::format("--values goes with --result sum, mean, min or max, not {}", arguments.result));
  }
  if (arguments.values.empty() && of_values) {
    throw invalid_argument(fmt::format(
        "--result {} needs --values, the column of the rows that it is of", arguments.result));
  }
  if (arguments.aggregate && kind == result_kind::rows) {
    throw invalid_argument("--aggregate goes with all results but rows");
  }
  if (is_place(kind) && arguments.points.empty()) {
    throw invalid_argument(
        fmt::format("--result {} is of --points, not --ranges", arguments.result));
  }
  if (arguments.strict && kind != result_kind::predecessor && kind != result_kind::successor) {
    throw invalid_argument(fmt::format(
        "--strict goes with --result predecessor or successor, not {}", arguments.result));
  }
  if (arguments.streams() && !io::is_csv_output(arguments.out)) {
    throw invalid_argument(
        fmt::format("--out {}: answers to standard input are not counted before they are written; "
                    "give - or a name that ends in .csv",
                    arguments.out));
  }
  if (arguments.has_edits()) {
    check_updatable(capabilities(), arguments.structure, "--insert and no --erase");
  }
  if (arguments.insert.empty() != arguments.insert_rows.empty()) {
    throw invalid_argument("--insert and --insert-rows go together: keys and their row ids");
  }
  if (!arguments.erase_rows.empty() && arguments.erase.empty()) {
    throw invalid_argument("--erase-rows goes with --erase, the keys of these row ids");
  }
}

inputs read(const query_arguments& arguments) {
  inputs in;
  io::column_reading reading;
  const auto add_if_given = [&](const std::string& file, std::optional<io::host_column>& to) {
    if (!file.empty()) reading.add(file, to.emplace());
  };
  reading.add(arguments.keys, in.keys);
  add_if_given(arguments.row_ids, in.row_ids);
  if (arguments.streams()) {
    // Read when it is asked for.
  } else if (arguments.ranges.empty()) {
    reading.add(arguments.points, in.ends.lower);
  } else {
    reading.add(arguments.ranges, in.ends);
  }
  add_if_given(arguments.values, in.values);
  add_if_given(arguments.insert, in.insert);
  add_if_given(arguments.insert_rows, in.insert_rows);
  add_if_given(arguments.erase, in.erase);
  add_if_given(arguments.erase_rows, in.erase_rows);
  reading.read();
  const typed_file keys{"keys", arguments.keys, in.keys.format, in.keys.times};
  const auto check_type = [&](const char* role, const std::string& file,
                              const io::host_column& read) {
    check_same_type({role, file, read.format, read.times}, keys);
  };
  if (!arguments.streams())
    check_type(arguments.ranges.empty() ? "points" : "ranges", arguments.asked(), in.ends.lower);
  if (in.row_ids)
    check_row_ids({"row ids", arguments.row_ids, in.row_ids->format, in.row_ids->times});
  if (in.insert_rows)
    check_row_ids(
        {"row ids", arguments.insert_rows, in.insert_rows->format, in.insert_rows->times});
  if (in.erase_rows)
    check_row_ids({"row ids", arguments.erase_rows, in.erase_rows->format, in.erase_rows->times});
  if (in.insert) check_type("inserted keys", arguments.insert, *in.insert);
  if (in.erase) check_type("erased keys", arguments.erase, *in.erase);
  if (in.values && in.values->format.type == key_type::bytes) {
    throw invalid_argument(fmt::format("values {} are {}; sums and the like are of numbers",
                                       arguments.values, to_string(in.values->format)));
  }
  const result_kind kind = parse_result(arguments.result);
  if (in.values && in.values->times != io::time_kind::none && kind != result_kind::min &&
      kind != result_kind::max) {
    throw invalid_argument(fmt::format("values {} are times; min and max are of times, {} is not",
                                       arguments.values, arguments.result));
  }
  return in;
}

// How many keys a column has, missing ones left out, and how many places there are from the
// smallest to the largest one; 0 where these are not integers, or are as many as their type has.
struct key_places {
  std::uint64_t keys;
  std::uint64_t span;
};

template <class Key>
key_places places_of(const column& keys) {
  const core::encoded_column<Key> codes{static_cast<const std::byte*>(keys.data), keys.step(),
                                        keys.validity.first_byte(), keys.format,
                                        keys.validity.first_bit()};
  key_places found{0, 0};
  Key smallest = std::numeric_limits<Key>::max();
  Key largest = 0;
  for (std::uint64_t i = 0; i < keys.size; ++i) {
    if (!codes.valid(i)) continue;
    const Key code = codes[i];
    smallest = std::min(smallest, code);
    largest = std::max(largest, code);
    ++found.keys;
  }
  if (found.keys != 0) found.span = std::uint64_t{largest - smallest} + 1;
  return found;
}

// What `auto` goes by; of other structures, and of an index that will be edited, nothing is
// measured.
key_places places_of(const query_arguments& arguments, const column& keys) {
  const key_type type = keys.format.type;
  if (arguments.structure == "auto" && !arguments.has_edits()) {
    if (type == key_type::uint32 || type == key_type::int32) return places_of<std::uint32_t>(keys);
    if (type == key_type::uint64 || type == key_type::int64) return places_of<std::uint64_t>(keys);
  }
  return {keys.size, 0};
}

std::optional<placed_column> place(const session& on, const std::optional<io::host_column>& host) {
  std::optional<placed_column> placed;
  if (host) placed.emplace(on, host->view());
  return placed;
}

std::optional<column> view_of(const std::optional<placed_column>& placed) {
  return placed ? std::optional(placed->view()) : std::nullopt;
}

// Inserts and erases what the arguments name; returns the milliseconds that it takes.
double edit(const session& on, const inputs& in, index& built) {
  const auto insert = place(on, in.insert);
  const auto insert_rows = place(on, in.insert_rows);
  const auto erase = place(on, in.erase);
  const auto erase_rows = place(on, in.erase_rows);
  return io::wall_milliseconds(on, [&] {
    built.edit(context(on).stream, {.insert = view_of(insert).value_or(column()),
                                    .insert_rows = view_of(insert_rows).value_or(column()),
                                    .erase = view_of(erase).value_or(column()),
                                    .erase_rows = view_of(erase_rows)});
  });
}

// Writes answers in parts.
class answer_writer {
 public:
  // `size`: how many there are, which .npy begins with. `as_arrow`: in Arrow's IPC format.
  answer_writer(io::output_file& file, std::string result, std::uint64_t size, bool as_arrow)
      : file_(file), result_(std::move(result)), size_(size), as_arrow_(as_arrow) {}

  void write(const answers& found) {
    const bool are_rows = parse_result(result_) == result_kind::rows;
    if (as_arrow_) return are_rows ? write_arrow_rows(found) : write_arrow(found);
    const std::span<const std::byte> cells = found.cells();
    if (!are_rows) {
      if (!column_) column_.emplace(file_, result_, found.format(), size_, found.none());
      column_->write(cells, found.value_counts());
    } else if (io::is_csv_output(file_.path())) {
      if (!matches_) matches_.emplace(file_);
      matches_->write(found.offsets(), found.format(), cells);
    } else {
      io::write_npz(file_, std::array{io::npz_member{"offsets", format_of<std::uint64_t>,
                                                     std::as_bytes(std::span(found.offsets()))},
                                      io::npz_member{"rows", found.format(), cells}});
    }
  }

  void finish() {
    if (arrow_) arrow_->finish();
  }

 private:
  void write_arrow(const answers& found) {
    if (!arrow_) arrow_.emplace(std::array{io::arrow_field{result_, found.format(), found.none()}});
    const std::span<const std::byte> cells = found.cells();
    arrow_->write(cells.size() / found.format().width, std::array{cells});
  }

  void write_arrow_rows(const answers& found) {
    if (!arrow_) {
      arrow_.emplace(std::array{io::arrow_field{"probe", format_of<std::uint64_t>, std::nullopt},
                                io::arrow_field{"row", found.format(), std::nullopt}});
    }
    const std::vector<std::uint64_t>& offsets = found.offsets();
    std::vector<std::uint64_t> matching;
    matching.reserve(offsets.back());
    for (std::size_t i = 1; i < offsets.size(); ++i)
      matching.insert(matching.end(), offsets[i] - offsets[i - 1], probes_ + i - 1);
    probes_ += offsets.size() - 1;
    arrow_->write(matching.size(), std::array{std::as_bytes(std::span(matching)),
                                              std::span<const std::byte>(found.cells())});
  }

  io::output_file& file_;
  std::string result_;
  std::uint64_t size_;
  bool as_arrow_;
  std::uint64_t probes_ = 0;
  std::optional<io::column_writer> column_;
  std::optional<io::match_writer> matches_;
  std::optional<io::arrow_output> arrow_;
};

// Bytes of up to 8, which texts of any length up to that are compared with.
void widen(io::host_column& keys) {
  const column from = keys.view();
  constexpr std::uint8_t width = 8;
  if (from.format.type != key_type::bytes || from.format.width == width) return;
  const std::shared_ptr<std::byte[]> cells = std::make_unique<std::byte[]>(keys.size * width);
  for (std::uint64_t row = 0; row < keys.size; ++row) {
    std::memcpy(cells.get() + row * width,
                static_cast<const std::byte*>(from.data) + row * from.step(), from.format.width);
  }
  keys.format = key_format::bytes(width);
  keys.stride = 0;
  keys.cells = {cells, cells.get()};
}

// What was read of standard input as points or as the ends of ranges, of the type of the keys; none
// of it if nothing was read.
io::host_ranges ends_of(const query_arguments& arguments, const io::host_column& keys,
                        std::vector<io::host_column> read) {
  const bool are_ranges = !arguments.ranges.empty();
  const typed_file of_keys{"keys", arguments.keys, keys.format, keys.times};
  for (const io::host_column& column : read) {
    check_same_type(
        {are_ranges ? "ranges" : "points", arguments.asked(), column.format, column.times},
        of_keys);
  }
  if (read.empty()) {
    io::host_column none = keys;
    none.size = 0;
    none.validity.clear();
    read.assign(are_ranges ? 2 : 1, none);
  }
  io::host_ranges ends{std::move(read[0]), {}};
  if (are_ranges) ends.upper = std::move(read[1]);
  return ends;
}

// What of an aggregate a result needs.
aggregate_options parts_for(result_kind kind) {
  return {.sums = kind == result_kind::sum || kind == result_kind::mean,
          .minima = kind == result_kind::min,
          .maxima = kind == result_kind::max,
          .first_rows = kind == result_kind::first};
}

void run(const query_arguments& arguments) {
  const result_kind kind = parse_result(arguments.result);
  const option_map options = parse_options(arguments.options);
  check(arguments);
  // What would fail late is tried early: outputs and the backend.
  outputs files(arguments, arguments.inputs(), kind == result_kind::rows ? ".npz" : ".npy");
  const session on(io::choose_backend(arguments.backend, io::key_offers(), arguments.structure,
                                      arguments.has_edits()));
  const io::auto_choice choose(on, arguments.structure == "auto");
  progress bar;

  bar.phase("read");
  inputs in = read(arguments);
  if (arguments.streams()) widen(in.keys);
  const key_places places = places_of(arguments, in.keys.view());
  const io::structure_choice chosen =
      choose({arguments.structure, options},
             {.n = places.keys,
              .key = in.keys.format,
              .where = on.where(),
              .ordered = is_place(kind),
              .range_hits = arguments.ranges.empty() ? 0 : typical_range_hits,
              .updates = arguments.has_edits(),
              .span = places.span});

  bar.phase("build");
  std::unique_ptr<index> built;
  query_costs costs;
  {
    const placed_column keys(on, in.keys.view());
    const auto row_ids = place(on, in.row_ids);
    costs.build_ms = io::wall_milliseconds(on, [&] {
      built =
          build(chosen.structure, on.where(), on, keys.view(), view_of(row_ids), chosen.options);
    });
  }

  if (arguments.has_edits()) {
    bar.phase("edit");
    costs.edit_ms = edit(on, in, *built);
  }

  const auto values = place(on, in.values);
  std::unique_ptr<aggregate> constant;
  if (arguments.has_aggregate()) {
    bar.phase("aggregate");
    costs.aggregate_ms = io::wall_milliseconds(
        on, [&] { constant = build_aggregate(on, *built, view_of(values), parts_for(kind)); });
    costs.aggregate_bytes = constant->info().resident_bytes;
  }

  query_facts facts{arguments.result};
  const auto answer = [&](answers& found, const probes& batch) {
    if (io::is_csv_output(arguments.out)) found.count_values();
    for_each_batch(batch.size(), bar, [&](std::uint64_t first, std::uint64_t count) {
      found.add(placed_probes(on, slice(batch, first, count)).view());
    });
    facts.probes += batch.size();
    facts.no_match = found.none();
    costs.lookup_ms += found.lookup_ms();
    costs.lookup_peak_bytes =
        std::max(costs.lookup_peak_bytes.value_or(0), found.lookup_peak_bytes());
  };
  const auto no_answers = [&] {
    return answers(on, *built, kind, view_of(values), constant.get(),
                   arguments.strict ? closeness::strict : closeness::or_equal);
  };
  std::optional<answer_writer> writer;
  if (arguments.streams()) {
    const std::size_t columns = arguments.ranges.empty() ? 1 : 2;
    io::column_stream stream(arguments.asked(), columns, in.keys);
    writer.emplace(files.answers(), arguments.result, 0, stream.is_arrow() && arguments.out == "-");
    // What has come is answered before more is waited for. No points are a batch, too.
    bool has_answered = false;
    for (std::vector<io::host_column> read = stream.next(); !read.empty() || !has_answered;
         read = stream.next()) {
      bar.phase("lookup", read.empty() ? 0 : read[0].size);
      const io::host_ranges ends = ends_of(arguments, in.keys, std::move(read));
      answers found = no_answers();
      answer(found, batch_of(ends));
      writer->write(found);
      has_answered = true;
    }
  } else {
    const probes batch = batch_of(in.ends);
    bar.phase("lookup", batch.size());
    answers found = no_answers();
    answer(found, batch);
    bar.phase("write");
    writer.emplace(files.answers(), arguments.result, batch.size(), false);
    writer->write(found);
  }
  writer->finish();
  costs.repairs = repairs(*built, context(on).stream);
  files.commit([&] { return report(on, built->info(), facts, costs); });
}

}  // namespace

void add_query_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("query", "Build an index over a column and answer points or ranges");
  const auto arguments = std::make_shared<query_arguments>();
  const auto file = [&](const char* name, std::string& path, const char* help) {
    return add_file(*command, name, path, help);
  };
  file("--keys", arguments->keys, "The column to index")->required();
  file("--row-ids", arguments->row_ids, "Its row ids, uint32 or uint64; without them, positions");
  file("--points", arguments->points, "Keys to look up; - or -:COLUMN of standard input");
  file("--ranges", arguments->ranges,
       "Inclusive ranges: an n x 2 array of lower and upper ends; - or -:LOWER,UPPER");
  command->add_option("--result", arguments->result, "What to find out about the matching rows")
      ->required()
      ->type_name(result_names);
  file("--values", arguments->values,
       "For sum, mean, min and max: their column, with a cell for each row");
  command->add_flag("--aggregate", arguments->aggregate,
                    "Answer in a time that does not depend on how many rows match, by an aggregate "
                    "built once; always for mean, min and max");
  command->add_flag("--strict", arguments->strict,
                    "For predecessor and successor: leave keys out that equal the point");
  add_build_options(
      *command, *arguments,
      "The answers: .npy, or CSV where the name ends in .csv or is -; rows as .npz or CSV");
  file("--insert", arguments->insert,
       "Keys to insert after the build; `auto` takes a structure that is updatable");
  file("--insert-rows", arguments->insert_rows,
       "The row ids of the inserted keys, of the type of the index's");
  file("--erase", arguments->erase, "Keys to erase after the build, likewise");
  file("--erase-rows", arguments->erase_rows,
       "Of the erased keys only these rows; without it, all of them");
  explain(
      *command,
      "What is missing is never matched. NaN equals NaN and follows all other keys, -0.0 equals\n"
      "0.0. Texts have up to 8 bytes.\n"
      "\n"
      "Results, for each point or range:\n"
      "  first  the smallest id of a matching row: not the row of the smallest key. Where none\n"
      "         matches, in CSV an empty field, else the largest number of its type: 4294967295\n"
      "         for uint32, which --report has as no_match\n"
      "  count  how many rows match\n"
      "  sum    of --values over the matching rows; integers modulo 2^64\n"
      "  mean, min, max  of --values over them. Of no value, in CSV an empty field, else NaN; of\n"
      "         integers min is the largest of the type, max the smallest\n"
      "  rows   the ids of all matching rows, and where those of each probe begin\n"
      "  rank, rank_right  of a point: how many keys are less than it, or not greater: NumPy's\n"
      "         searchsorted. Of a missing point as where nothing matches\n"
      "  predecessor, successor  of a point: the smallest id of the rows with the largest key not\n"
      "         greater than it, or with the smallest key not less; --strict leaves equal keys "
      "out\n"
      "\n"
      "What comes on standard input is CSV or a stream in Arrow's IPC format. It is answered as "
      "far\n"
      "as it has come before more is waited for; --out - is of the same format.\n"
      "\n"
      "`auto` takes the structure that was measured to be the fastest, of integers that are dense\n"
      "`direct`. `raydex advise` names the structure for a use case.\n"
      "\n"
      "Examples:\n"
      "  raydex query --keys keys.npy --points probes.npy --result first --out first.npy\n"
      "  raydex query --keys flights.parquet:tailnum --points planes.csv.gz:tailnum \\\n"
      "      --result count --out flights_per_plane.npy --report report.json\n"
      "  raydex query --keys flights.csv:dep_time:f8 --ranges hours.npy --result sum \\\n"
      "      --values flights.csv:distance --out miles.npy\n"
      "  raydex query --keys flights.csv:dep_time:f8 --ranges hours.npy --result max \\\n"
      "      --values flights.csv:arr_delay --out worst.csv\n"
      "  raydex query --structure sorted_array --option layout=row --backend cpu \\\n"
      "      --keys keys.npy --ranges ranges.npy --result rows --out rows.npz\n"
      "  raydex query --keys keys.npy --insert more.npy --insert-rows ids.npy \\\n"
      "      --erase gone.npy --points probes.npy --result count --out counts.npy\n"
      "  producer | raydex query --keys keys.npy --points -:key --result count --out - | consumer");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace raydex::cli
