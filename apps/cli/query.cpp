// SPDX-License-Identifier: Apache-2.0
// `raydex query`: an index over a column of a file, and its answers in a file.
#include "apps/cli/query.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/answer_writer.hpp"
#include "apps/cli/answers.hpp"
#include "apps/cli/batches.hpp"
#include "apps/cli/build_arguments.hpp"
#include "apps/cli/kept_key.hpp"
#include "apps/cli/packed_key.hpp"
#include "apps/cli/placed_column.hpp"
#include "apps/cli/query_inputs.hpp"
#include "apps/cli/report.hpp"
#include "io/backend_choice.hpp"
#include "io/column_stream.hpp"
#include "io/column_writer.hpp"
#include "io/index_saving.hpp"
#include "io/output_file.hpp"
#include "io/progress.hpp"
#include "io/read.hpp"
#include "io/speed_cache.hpp"
#include "io/wall_clock.hpp"
#include "raydex/aggregate.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/index_file.hpp"
#include "raydex/repairs.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

// Rows that `auto` supposes a range to match: few, where structures differ most.
constexpr std::uint64_t typical_range_hits = 16;

// The keys of an index, of those that are packed the numbers.
struct index_keys {
  io::host_column build;
  std::optional<io::host_column> insert, erase;
};

// Of several columns and of strings, `packed` has them.
index_keys keys_of(const session& on, query_inputs& in, const std::optional<packed_key>& packed) {
  const auto one = [](const std::vector<io::host_key_part>& parts) {
    return parts.empty() ? std::nullopt : std::optional(std::get<io::host_column>(parts.front()));
  };
  if (!packed) {
    return {in.kept ? io::host_column() : *one(in.keys.parts), one(in.insert.parts),
            one(in.erase.parts)};
  }
  index_keys keys{packed->keys(), std::nullopt, std::nullopt};
  if (!in.insert.parts.empty()) {
    if (!in.kept) {
      keys.insert = packed->inserted();
    } else if (packed->holds(in.insert.parts)) {
      keys.insert = packed->inserted(in.insert.parts);
    } else if (on.where() != backend::cpu) {
      throw unsupported(
          "--insert: some values have no place in the key, which this program packs anew on a CPU "
          "alone; give --backend cpu");
    } else if (in.erase_rows) {
      throw unsupported(
          "--erase-rows: some values of --insert have no place in the key, which is packed anew "
          "for them; erase first, by a call of its own");
    }
  }
  if (!in.erase.parts.empty()) keys.erase = packed->pack(question::points, in.erase.parts).lower;
  return keys;
}

// The number to look for in place of a point.
closest_number side_of(result_kind kind, bool strict) {
  switch (kind) {
    case result_kind::rank:
      return closest_number::at_least;
    case result_kind::rank_right:
      return closest_number::above;
    case result_kind::predecessor:
      return strict ? closest_number::below : closest_number::at_most;
    default:
      return strict ? closest_number::above : closest_number::at_least;
  }
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
  if (arguments.structure == "auto" && !arguments.has_edits() && arguments.save_index.empty()) {
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

// The note of an index over these keys. Throws `unsupported` if files have none for them.
std::string note_for(const query_inputs& in, const std::optional<packed_key>& packed) {
  if (in.kept && !packed) return in.file->note;
  kept_key note;
  std::set<std::string> names;
  for (std::size_t p = 0; p < in.keys.parts.size(); ++p) {
    const auto* const cells = std::get_if<io::host_column>(&in.keys.parts[p]);
    kept_column& column = note.columns.emplace_back();
    if (cells != nullptr) {
      column.format = cells->format;
      column.times = cells->times;
    }
    if (io::names_column(in.keys.names[p])) column.name = io::column_of(in.keys.names[p]);
    names.insert(column.name);
  }
  if (names.size() != note.columns.size())  // which no frame has
    for (kept_column& column : note.columns)
      column.name.clear();
  if (packed && !packed->describe(note)) {
    throw unsupported(
        "--save-index: a dictionary numbers columns of the key, strings or values that are far "
        "apart, and this program keeps several columns only without one; save an index over one "
        "column, or over numbers and times that fit 64 bits together, or by Python's raydex");
  }
  if (in.kept) return repacked_note(in.file->note, note);
  return note_of(note);
}

// Opens the index of a file.
std::unique_ptr<index> open(const session& on, const query_arguments& arguments,
                            const query_inputs& in, query_costs& costs) {
  loaded_index found;
  costs.load_ms = io::wall_milliseconds(
      on, [&] { found = load(on.where(), on, arguments.index, {.verify = !arguments.no_verify}); });
  const index_info info = found.held->info();
  if (found.note != in.file->note || info.key != in.file->key)
    throw invalid_argument(fmt::format("{}: it was replaced meanwhile", arguments.index));
  return std::move(found.held);
}

// Inserts and erases what the arguments name; returns the milliseconds that it takes. Where the
// columns of a key have no place for what is inserted, the key grows, and the index is another one.
double edit(const session& on, const query_inputs& in, const index_keys& keys,
            std::optional<packed_key>& packed, std::unique_ptr<index>& built) {
  const bool grows = in.insert_rows && !keys.insert;
  const auto insert = place(on, keys.insert);
  const auto insert_rows = place(on, grows ? std::nullopt : in.insert_rows);
  const auto erase = place(on, keys.erase);
  const auto erase_rows = place(on, in.erase_rows);
  return io::wall_milliseconds(on, [&] {
    built->edit(context(on).stream, {.insert = view_of(insert).value_or(column()),
                                     .insert_rows = view_of(insert_rows).value_or(column()),
                                     .erase = view_of(erase).value_or(column()),
                                     .erase_rows = view_of(erase_rows)});
    if (grows) built = packed->grow(*built, in.insert.parts, *in.insert_rows);
  });
}

// What of an aggregate a result needs.
aggregate_options parts_for(result_kind kind) {
  return {.sums = kind == result_kind::sum || kind == result_kind::mean,
          .minima = kind == result_kind::min,
          .maxima = kind == result_kind::max,
          .first_rows = kind == result_kind::first};
}

// Builds an index over keys, which are read.
std::unique_ptr<index> build_over(const session& on, const query_arguments& arguments,
                                  const option_map& options, query_inputs& in,
                                  const index_keys& keys, query_costs& costs) {
  const io::auto_choice choose(on, arguments.structure == "auto");
  const result_kind kind = arguments.kind();
  // From a file anything may be asked, and it may be edited.
  const bool is_kept = !arguments.save_index.empty();
  const bool are_ranges =
      arguments.asks() != question::points || in.asked.parts.size() < in.keys.parts.size();
  in.keys.parts.clear();
  const key_places places = places_of(arguments, keys.build.view());
  const io::structure_choice chosen =
      choose({arguments.structure, options},
             {.n = places.keys,
              .key = keys.build.format,
              .where = on.where(),
              .ordered = is_place(kind) || arguments.has_aggregate() || is_kept,
              .range_hits = (are_ranges && !is_place(kind)) || is_kept ? typical_range_hits : 0,
              .updates = arguments.has_edits() || is_kept,
              .span = places.span});
  const placed_column cells(on, keys.build.view());
  const auto row_ids = place(on, in.row_ids);
  std::unique_ptr<index> built;
  costs.build_ms += io::wall_milliseconds(on, [&] {
    built = build(chosen.structure, on.where(), on, cells.view(), view_of(row_ids), chosen.options);
  });
  return built;
}

void check_room_for_ranks(const query_arguments& arguments, const packed_key& key) {
  const result_kind kind = arguments.kind();
  if ((kind == result_kind::rank || kind == result_kind::rank_right) && key.is_full()) {
    throw unsupported(
        fmt::format("--result {}: the columns of --keys take each number of their bits, so that "
                    "what is greater than all keys has none; ask --result count of --ranges",
                    arguments.result));
  }
}

void run(const query_arguments& arguments) {
  const option_map options = parse_options(arguments.options);
  query_inputs in = parse_query(arguments);
  const result_kind kind = arguments.kind();
  // What would fail late is tried early: outputs and the backend.
  outputs files(arguments, files_of(arguments, in), kind == result_kind::rows ? ".npz" : ".npy",
                {"--save-index", arguments.save_index});
  const session on(io::choose_backend(arguments.backend, io::key_offers(),
                                      in.file ? in.file->structure : arguments.structure,
                                      arguments.has_edits()));
  progress_bar bar;

  bar.phase("read");
  read(arguments, in);
  query_facts facts{.result = arguments.result};
  query_costs costs;
  std::optional<packed_key> packed;
  if (!in.is_simple()) {
    bar.phase("pack");
    facts.key = in.kept ? in.kept->types() : formats_of(in.keys.parts);
    costs.build_ms = io::wall_milliseconds(on, [&] {
      if (in.kept) {
        packed.emplace(*in.kept, arguments.index, in.file->key);
      } else {
        packed.emplace(in.keys.parts, in.insert.parts);
      }
    });
    costs.dictionary_bytes = packed->resident_bytes();
    check_room_for_ranks(arguments, *packed);
  }
  std::string note = arguments.save_index.empty() ? "" : note_for(in, packed);
  const index_keys keys = keys_of(on, in, packed);
  std::unique_ptr<index> built;
  if (in.kept) {
    bar.phase("load");
    built = open(on, arguments, in, costs);
    *costs.load_ms += std::exchange(costs.build_ms, 0);  // of a dictionary
  } else {
    bar.phase("build");
    built = build_over(on, arguments, options, in, keys, costs);
  }

  if (arguments.has_edits()) {
    bar.phase("edit");
    costs.edit_ms = edit(on, in, keys, packed, built);
    if (packed) check_room_for_ranks(arguments, *packed);
    if (in.kept && !note.empty()) note = note_for(in, packed);
  }

  const auto values = place(on, in.values);
  std::unique_ptr<aggregate> constant;
  if (arguments.has_aggregate()) {
    bar.phase("aggregate");
    costs.aggregate_ms = io::wall_milliseconds(
        on, [&] { constant = build_aggregate(on, *built, view_of(values), parts_for(kind)); });
    costs.aggregate_bytes = constant->info().resident_bytes;
  }

  const auto probes_of = [&](std::vector<io::host_key_part> asked) {
    host_probes found;
    const question asks = in.kept ? make_asked_like_kept(arguments, in, asked) : arguments.asks();
    if (packed) {
      costs.lookup_ms += io::wall_milliseconds(on, [&] {
        found = is_place(kind) ? packed->closest(asked, side_of(kind, arguments.strict))
                               : packed->pack(asks, asked);
      });
      return found;
    }
    found.lower = std::get<io::host_column>(std::move(asked[0]));
    if (asked.size() == 2) found.upper = std::get<io::host_column>(std::move(asked[1]));
    return found;
  };
  // Packed points are the closest numbers already.
  const result_kind of_index = packed && kind == result_kind::rank_right ? result_kind::rank : kind;
  const auto answer = [&](const probes& batch, answer_writer& to) {
    answers found(on, *built, of_index, view_of(values), constant.get(),
                  arguments.strict && !packed ? closeness::strict : closeness::or_equal);
    if (io::is_csv_output(arguments.out)) found.count_values();
    for_each_batch(batch.size(), bar, [&](std::uint64_t first, std::uint64_t count) {
      const placed_probes placed(on, slice(batch, first, count));
      if (to.takes_rows_in_parts()) {
        found.add_rows(placed.view(), rows_at_a_time, [&] { to.write(found); });
      } else {
        found.add(placed.view());
      }
    });
    if (!to.takes_rows_in_parts()) {
      if (!arguments.streams()) bar.phase("write");
      to.write(found);
    }
    facts.probes += batch.size();
    facts.no_match = found.none();
    costs.lookup_ms += found.lookup_ms();
    costs.lookup_peak_bytes =
        std::max(costs.lookup_peak_bytes.value_or(0), found.lookup_peak_bytes());
  };
  std::optional<answer_writer> writer;
  if (arguments.streams()) {
    io::column_stream stream(in.asked.names, in.asked.parts);
    writer.emplace(files.answers(), arguments.result, 0, stream.is_arrow() && arguments.out == "-");
    // What has come is answered before more is waited for. No points are a batch, too.
    bool has_answered = false;
    for (std::vector<io::host_key_part> read = stream.next(); !read.empty() || !has_answered;
         read = stream.next()) {
      bar.phase("lookup", read.empty() ? 0 : io::size_of(read[0]));
      check_streamed(arguments, in, read);
      const host_probes asked = probes_of(read.empty() ? in.asked.parts : std::move(read));
      answer(asked.view(), *writer);
      has_answered = true;
    }
  } else if (arguments.has_probes()) {
    const host_probes asked = probes_of(std::move(in.asked.parts));
    const probes batch = asked.view();
    bar.phase("lookup", batch.size());
    writer.emplace(files.answers(), arguments.result, batch.size(), false);
    answer(batch, *writer);
  }
  if (writer) writer->finish();
  costs.repairs = repairs(*built, context(on).stream);
  if (!arguments.save_index.empty()) {
    bar.phase("save");
    files.finish();
    costs.save_ms =
        io::wall_milliseconds(on, [&] { io::save_index(on, *built, arguments.save_index, note); });
  }
  files.commit([&] { return report(on, built->info(), facts, costs); });
}

}  // namespace

void add_query_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "query", "Build an index over columns and answer points, ranges or prefixes");
  const auto arguments = std::make_shared<query_arguments>();
  const auto file = [&](const char* name, std::string& path, const char* help) {
    return add_file(*command, name, path, help);
  };
  const auto list = [&](const char* name, std::string& columns, const char* help) {
    return command->add_option(name, columns, help)->type_name("FILE[,...]");
  };
  list("--keys", arguments->keys, "The column to index, or the columns of a key");
  file("--index", arguments->index, "In place of --keys: the file of an index, mapped on the cpu");
  command->add_flag("--no-verify", arguments->no_verify,
                    "For --index: open the file without a look at what is in it; for files that "
                    "you trust");
  file("--row-ids", arguments->row_ids, "Its row ids, uint32 or uint64; without them, positions");
  list("--points", arguments->points,
       "Keys to look up, by all columns or the first ones; - or -:COLUMN of standard input");
  list("--ranges", arguments->ranges,
       "Inclusive ranges: an n x 2 array of lower and upper ends; - or -:LOWER,UPPER");
  list("--prefixes", arguments->prefixes, "Strings that keys begin with; - or -:COLUMN");
  command->add_option("--result", arguments->result, "What to find out about the matching rows")
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
      "The answers: .npy, or CSV where the name ends in .csv or is -; rows as .npz or CSV")
      ->required(false);
  file("--save-index", arguments->save_index,
       "Keep the index in a file, for --index and for raydex.load in Python");
  list("--insert", arguments->insert,
       "Keys to insert after the build; `auto` takes a structure that is updatable");
  file("--insert-rows", arguments->insert_rows,
       "The row ids of the inserted keys, of the type of the index's");
  list("--erase", arguments->erase, "Keys to erase after the build, likewise");
  file("--erase-rows", arguments->erase_rows,
       "Of the erased keys only these rows; without it, all of them");
  explain(
      *command,
      "What is missing is never matched. NaN equals NaN and follows all other keys, -0.0 equals\n"
      "0.0. Strings are compared byte by byte. Texts of more than 8 bytes are the type `string`,\n"
      "which they get without a type: file.csv:column:string.\n"
      "\n"
      "A key has up to 16 columns of any types, separated by commas; of one table the others "
      "follow\n"
      "by name: file.csv:store,day. Points have as many, or the first ones: then all rows that\n"
      "begin with these match. --ranges file.csv:store,lower,upper are of the column behind "
      "store,\n"
      "and so are --prefixes file.csv:store,begin.\n"
      "Strings, and where 64 bits do not suffice columns of values that are far apart, are "
      "numbered\n"
      "by a dictionary.\n"
      "\n"
      "Results, for each point, range or prefix:\n"
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
      "--save-index keeps an index, which needs no probes then; --index answers by one. Keys are\n"
      "numbers, times and texts as they were, and several columns, here without a dictionary.\n"
      "A file of Python's `save` is one, too. `raydex info FILE` says what is in it.\n"
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
      "  raydex query --keys sales.csv:store,day --ranges asked.csv:store,from,to \\\n"
      "      --result sum --values sales.csv:amount --out amounts.csv\n"
      "  raydex query --keys pages.csv:url --prefixes sites.csv:begin --result count --out -\n"
      "  raydex query --keys sales.csv:price --save-index prices.index\n"
      "  raydex query --index prices.index --points asked.csv:price --result count --out -\n"
      "  producer | raydex query --keys keys.npy --points -:key --result count --out - | consumer");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace raydex::cli
