// SPDX-License-Identifier: Apache-2.0
// The arguments of `raydex query`, and the columns that they name.
#include "apps/cli/query_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "apps/cli/alike.hpp"
#include "io/column_writer.hpp"
#include "io/output_file.hpp"
#include "io/read.hpp"
#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

constexpr std::uint8_t widest_key = 8;  // of texts that are no strings

const char* option_of(question asks) {
  constexpr const char* names[] = {"--points", "--ranges", "--prefixes"};
  return names[static_cast<std::size_t>(asks)];
}

// What is asked for, for messages: `points`.
const char* role_of(question asks) {
  return option_of(asks) + 2;
}

// Files of indexes, in place of keys and of answers.
void check_index_files(const query_arguments& arguments) {
  if (arguments.index.empty()) {
    if (arguments.keys.empty())
      throw invalid_argument("--keys is required, the column to index, or --index, a file of one");
    if (arguments.no_verify) throw invalid_argument("--no-verify goes with --index");
    return;
  }
  const given_option of_a_build[] = {{"--keys", !arguments.keys.empty()},
                                     {"--row-ids", !arguments.row_ids.empty()},
                                     {"--structure", arguments.structure != "auto"},
                                     {"--option", !arguments.options.empty()}};
  check_beside_index(arguments.index, of_a_build);
}

// Refuses what is of answers, and that nothing is done.
void check_without_probes(const query_arguments& arguments) {
  if (arguments.save_index.empty()) {
    throw invalid_argument(
        "give one of --points, --ranges and --prefixes, or --save-index, which needs none");
  }
  const given_option of_answers[] = {{"--result", !arguments.result.empty()},
                                     {"--out", !arguments.out.empty()},
                                     {"--values", !arguments.values.empty()},
                                     {"--aggregate", arguments.aggregate},
                                     {"--strict", arguments.strict}};
  for (const auto& [option, is_given] : of_answers) {
    if (!is_given) continue;
    throw invalid_argument(
        fmt::format("{} is of answers; give one of --points, --ranges and --prefixes", option));
  }
}

void check_edits(const query_arguments& arguments) {
  if (arguments.insert.empty() != arguments.insert_rows.empty()) {
    throw invalid_argument("--insert and --insert-rows go together: keys and their row ids");
  }
  if (!arguments.erase_rows.empty() && arguments.erase.empty()) {
    throw invalid_argument("--erase-rows goes with --erase, the keys of these row ids");
  }
}

void check(const query_arguments& arguments) {
  const std::array<const std::string*, 3> asked{&arguments.points, &arguments.ranges,
                                                &arguments.prefixes};
  check_index_files(arguments);
  if (!arguments.has_probes()) return check_without_probes(arguments);
  if (std::ranges::count_if(asked, [](const std::string* one) { return !one->empty(); }) != 1)
    throw invalid_argument("give one of --points, --ranges and --prefixes");
  if (arguments.result.empty()) throw invalid_argument("--result is required");
  if (arguments.out.empty()) throw invalid_argument("--out is required");
  const result_kind kind = arguments.kind();
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
    throw invalid_argument(fmt::format("--result {} is of --points, not {}", arguments.result,
                                       option_of(arguments.asks())));
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
}

// Refuses a file beside which there are rows of Python's append_file.
void refuse_runs(const std::string& path) {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::canonical(path, none);
  if (none || !std::filesystem::exists(file.string() + ".run-1", none)) return;
  throw unsupported(fmt::format(
      "{} has rows in {}.run-1 that the program does not read; raydex.merge_file of Python puts "
      "them into the file",
      path, file.string()));
}

// Opens the file of an index, as far as it says what its keys are.
void open_index(const query_arguments& arguments, query_inputs& in) {
  in.file = inspect(arguments.index);
  refuse_runs(arguments.index);
  if (in.file->is_minima) {
    throw invalid_argument(
        fmt::format("{} has range minima; ask it by raydex rmq --index", arguments.index));
  }
  if (in.file->is_aggregate || in.file->is_asof_join) {
    throw unsupported(fmt::format(
        "{} has {}, which the program does not ask; ask it in Python, by raydex.load",
        arguments.index,
        in.file->is_aggregate ? "an aggregate over an index" : "the build side of as-of joins"));
  }
  in.kept = read_note(arguments.index, *in.file);
  if (!in.kept->obstacle.empty()) {
    throw unsupported(
        fmt::format("{} has {}, which the program does not ask; ask in Python, by "
                    "raydex.load",
                    arguments.index, in.kept->obstacle));
  }
  for (const kept_column& column : in.kept->columns) {
    in.keys.names.push_back(column.name.empty() ? arguments.index : column.name);
    // Texts are read as strings, so that none is too long.
    if (!column.format || column.format->type == key_type::bytes) {
      in.keys.parts.emplace_back(
          io::host_strings{.size = 0, .bytes = {}, .offsets = {0}, .validity = {}});
    } else {
      const bool are_times = column.times != io::time_kind::none;
      in.keys.parts.emplace_back(
          io::host_column{.format = are_times ? format_of<std::int64_t> : *column.format,
                          .size = 0,
                          .stride = 0,
                          .cells = {},
                          .validity = {},
                          .times = column.times});
    }
  }
}

// The names of columns in a list. A file may have commas in its own name.
std::vector<std::string> split_columns(const char* option, const std::string& list) {
  const std::string path = io::path_of(list);
  std::error_code absent;
  if (path.find(',') != std::string::npos && std::filesystem::exists(path, absent)) return {list};
  return io::split_list(option, list);
}

// Those of what is asked for.
std::vector<std::string> split_asked(const query_arguments& arguments) {
  const char* const option = option_of(arguments.asks());
  const std::string& list = arguments.asked();
  if (arguments.streams() && io::columns_of_stream(list).empty()) return {};
  std::vector<std::string> names = arguments.streams()
                                       ? io::split_list(option, io::columns_of_stream(list))
                                       : split_columns(option, list);
  if (arguments.asks() != question::ranges) return names;
  if (names.size() == 1 && (arguments.streams() || io::names_column(list))) {
    throw invalid_argument(fmt::format("{}: ranges have two columns: {}:lower,upper",
                                       arguments.asked(),
                                       arguments.streams() ? "-" : io::path_of(list)));
  }
  if (names.size() == 1) return names;  // an array of both ends
  // The type of the upper ends is that of the lower ones.
  std::string& lower = names[names.size() - 2];
  const std::string& upper = names.back();
  if (io::finds_type(lower) && io::names_column(upper) && !io::finds_type(upper))
    lower += upper.substr(upper.rfind(':'));
  return names;
}

// Refuses other numbers of columns than from `least` to `most`.
void check_count(const char* option, std::size_t count, std::size_t least, std::size_t most,
                 const std::string& legal) {
  if (least <= count && count <= most) return;
  throw invalid_argument(
      fmt::format("{} names {} column{}; {}", option, count, count == 1 ? "" : "s", legal));
}

void check_counts(const query_arguments& arguments, const query_inputs& in) {
  const std::size_t own = in.keys.names.size();
  check_count("--keys", own, 1, most_key_parts,
              fmt::format("a key has at most {}", most_key_parts));
  const std::string of_keys =
      fmt::format("{} {} column{}", in.kept ? arguments.index + " has" : "--keys names", own,
                  own == 1 ? "" : "s");
  for (const auto& [option, columns] :
       {std::pair("--insert", &in.insert), std::pair("--erase", &in.erase)}) {
    if (!columns->names.empty()) check_count(option, columns->names.size(), own, own, of_keys);
  }
  const std::size_t asked = in.asked.names.size();
  if (asked == 0) return;  // as many as are needed, on standard input
  if (arguments.asks() == question::ranges) {
    check_count(
        "--ranges", asked, 1, own + 1,
        fmt::format("{}, and a range has two ends of the last column that it is of", of_keys));
  } else {
    check_count(option_of(arguments.asks()), asked, 1, own,
                fmt::format("{}; give as many, or the first ones", of_keys));
  }
}

// A column of the same type without rows.
io::host_key_part without_rows(const io::host_key_part& part) {
  if (const auto* const cells = std::get_if<io::host_column>(&part)) {
    return io::host_column{.format = cells->format,
                           .size = 0,
                           .stride = 0,
                           .cells = {},
                           .validity = {},
                           .times = cells->times};
  }
  return io::host_strings{.size = 0, .bytes = {}, .offsets = {0}, .validity = {}};
}

// Makes keys such that what comes on standard input is read as they are, and says how.
void expect_stream(const query_arguments& arguments, query_inputs& in) {
  const question asks = arguments.asks();
  const std::size_t own = in.keys.parts.size();
  const std::size_t count =
      !in.asked.names.empty() ? in.asked.names.size() : own + (asks == question::ranges ? 1 : 0);
  in.asked.parts.clear();
  for (std::size_t p = 0; p < own; ++p) {
    const named_part keys{"keys", in.keys.names[p], in.keys.parts[p]};
    auto* const cells = std::get_if<io::host_column>(&keys.part);
    const bool is_text = cells != nullptr && cells->format.type == key_type::bytes;
    const bool is_prefixed = asks == question::prefixes && p + 1 == count;
    if (is_prefixed || (is_text && own > 1)) {
      make_strings(keys, "--prefixes asks for strings");
    } else if (is_text && cells->format.width < widest_key) {
      *cells = widened(*cells, widest_key);
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    in.asked.parts.push_back(without_rows(in.keys.parts[column_of_key(asks, i, count)]));
}

// The same of an index in a file, which has its types already.
void expect_like_kept(const query_arguments& arguments, query_inputs& in) {
  const question asks = arguments.asks();
  const std::size_t own = in.keys.parts.size();
  const std::size_t count =
      !in.asked.names.empty() ? in.asked.names.size() : own + (asks == question::ranges ? 1 : 0);
  in.asked.parts.clear();
  for (std::size_t i = 0; i < count; ++i)
    in.asked.parts.push_back(in.keys.parts[column_of_key(asks, i, count)]);
}

// Makes what is inserted and erased like the keys of an index in a file.
void read_like_kept(const query_arguments& arguments, query_inputs& in) {
  if (arguments.streams()) expect_like_kept(arguments, in);
  for (std::size_t p = 0; p < in.kept->columns.size(); ++p) {
    const kept_column& keys = in.kept->columns[p];
    if (!in.insert.parts.empty()) {
      make_like_kept({"inserted keys", in.insert.names[p], in.insert.parts[p]}, arguments.index,
                     keys, between::refused);
    }
    if (!in.erase.parts.empty()) {
      make_like_kept({"erased keys", in.erase.names[p], in.erase.parts[p]}, arguments.index, keys,
                     between::missing);
    }
  }
}

// What becomes of the i-th of `count` columns that ask where the type of the keys has no such
// value.
between rounding_of(const query_arguments& arguments, std::size_t i, std::size_t count) {
  const result_kind kind = arguments.kind();
  if (is_place(kind)) {
    if (count > 1) return between::refused;
    const bool is_above =
        kind == result_kind::rank_right ||
        kind == (arguments.strict ? result_kind::successor : result_kind::predecessor);
    return is_above ? between::lower : between::upper;
  }
  if (arguments.asks() != question::ranges || i + 2 < count) return between::missing;
  return i + 1 == count ? between::lower : between::upper;
}

// Has what is asked for compared with the keys.
void make_asked_alike(const query_arguments& arguments, query_inputs& in) {
  const question asks = arguments.asks();
  const std::size_t count = in.asked.parts.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t p = column_of_key(asks, i, count);
    const named_part keys{"keys", in.keys.names[p], in.keys.parts[p]};
    const named_part asked{role_of(asks), in.asked.names[i], in.asked.parts[i]};
    if (asks == question::prefixes && i + 1 == count) {
      make_strings(asked, "prefixes are strings");
      make_strings(keys, "--prefixes asks for strings");
    }
    make_alike(asked, keys);
  }
}

// The same of keys that are inserted or erased.
void make_edited_alike(const char* role, key_columns& edited, key_columns& keys) {
  for (std::size_t p = 0; p < edited.parts.size(); ++p) {
    make_alike({role, edited.names[p], edited.parts[p]}, {"keys", keys.names[p], keys.parts[p]});
  }
}

void check_rows(const char* role, const key_columns& columns) {
  std::vector<std::uint64_t> rows;
  for (const io::host_key_part& part : columns.parts)
    rows.push_back(io::size_of(part));
  check_same_rows(role, columns.names, rows);
}

}  // namespace

query_inputs parse_query(const query_arguments& arguments) {
  check(arguments);
  query_inputs in;
  if (!arguments.index.empty()) {
    open_index(arguments, in);
  } else {
    in.keys.names = split_columns("--keys", arguments.keys);
  }
  if (arguments.has_edits()) {
    check_updatable(capabilities(), in.file ? in.file->structure : arguments.structure,
                    "--insert and no --erase");
  }
  check_edits(arguments);
  check_index_place(arguments.save_index);
  if (arguments.has_probes()) in.asked.names = split_asked(arguments);
  if (!arguments.insert.empty()) in.insert.names = split_columns("--insert", arguments.insert);
  if (!arguments.erase.empty()) in.erase.names = split_columns("--erase", arguments.erase);
  check_counts(arguments, in);
  return in;
}

std::vector<io::file_argument> files_of(const query_arguments& arguments, const query_inputs& in) {
  std::vector<io::file_argument> files{{"--row-ids", arguments.row_ids},
                                       {"--values", arguments.values},
                                       {"--insert-rows", arguments.insert_rows},
                                       {"--erase-rows", arguments.erase_rows}};
  const auto add = [&](const char* option, const key_columns& columns) {
    for (const std::string& name : columns.names)
      files.push_back({option, name});
  };
  if (in.kept) {
    // It may be replaced: that is done once all is read.
    if (arguments.save_index.empty() || !io::is_same_file(arguments.index, arguments.save_index))
      files.push_back({"--index", arguments.index});
  } else {
    add("--keys", in.keys);
  }
  if (!arguments.streams() && arguments.has_probes()) add(option_of(arguments.asks()), in.asked);
  add("--insert", in.insert);
  add("--erase", in.erase);
  return files;
}

void read(const query_arguments& arguments, query_inputs& in) {
  io::column_reading reading;
  const auto add = [&](key_columns& columns) {
    columns.parts.resize(columns.names.size());
    for (std::size_t i = 0; i < columns.names.size(); ++i)
      reading.add(columns.names[i], columns.parts[i]);
  };
  const auto add_if_given = [&](const std::string& file, std::optional<io::host_column>& to) {
    if (!file.empty()) reading.add(file, to.emplace());
  };
  if (!in.kept) add(in.keys);
  add_if_given(arguments.row_ids, in.row_ids);
  if (arguments.asks() == question::ranges && in.asked.names.size() == 1) {
    io::host_ranges both;
    reading.add(arguments.ranges, both);
    in.asked.names.push_back(arguments.ranges);
    in.asked.parts = {std::move(both.lower), std::move(both.upper)};
  } else if (!arguments.streams()) {
    add(in.asked);
  }
  add(in.insert);
  add(in.erase);
  add_if_given(arguments.values, in.values);
  add_if_given(arguments.insert_rows, in.insert_rows);
  add_if_given(arguments.erase_rows, in.erase_rows);
  reading.read();

  if (!in.kept) check_rows("keys", in.keys);
  check_rows("inserted keys", in.insert);
  check_rows("erased keys", in.erase);
  if (!arguments.streams()) check_rows(role_of(arguments.asks()), in.asked);
  // All become like the keys, which may have become like a later one.
  for (int time = 0; time < 2 && !in.kept; ++time) {
    if (arguments.streams()) {
      expect_stream(arguments, in);
    } else {
      make_asked_alike(arguments, in);
    }
    make_edited_alike("inserted keys", in.insert, in.keys);
    make_edited_alike("erased keys", in.erase, in.keys);
  }
  if (in.kept) read_like_kept(arguments, in);
  if (in.row_ids)
    check_row_ids({"row ids", arguments.row_ids, in.row_ids->format, in.row_ids->times});
  if (in.insert_rows)
    check_row_ids(
        {"row ids", arguments.insert_rows, in.insert_rows->format, in.insert_rows->times});
  if (in.erase_rows)
    check_row_ids({"row ids", arguments.erase_rows, in.erase_rows->format, in.erase_rows->times});
  if (in.values && in.values->format.type == key_type::bytes) {
    throw invalid_argument(fmt::format("values {} are {}; sums and the like are of numbers",
                                       arguments.values, to_string(in.values->format)));
  }
  const result_kind kind = arguments.kind();
  if (in.values && in.values->times != io::time_kind::none && kind != result_kind::min &&
      kind != result_kind::max) {
    throw invalid_argument(fmt::format("values {} are times; min and max are of times, {} is not",
                                       arguments.values, arguments.result));
  }
}

question make_asked_like_kept(const query_arguments& arguments, const query_inputs& in,
                              std::vector<io::host_key_part>& asked) {
  const question asks = arguments.asks();
  const std::size_t count = asked.size();
  for (std::size_t i = 0; i < count; ++i) {
    const kept_column& keys = in.kept->columns[column_of_key(asks, i, count)];
    const std::string& name = i < in.asked.names.size() ? in.asked.names[i] : arguments.asked();
    const named_part one{role_of(asks), name, asked[i]};
    if (asks == question::prefixes && i + 1 == count && keys.format) {
      asked.emplace_back(make_prefixes_like_kept(one, arguments.index, keys));
      return question::ranges;
    }
    make_like_kept(one, arguments.index, keys, rounding_of(arguments, i, count));
  }
  return asks;
}

void check_streamed(const query_arguments& arguments, const query_inputs& in,
                    const std::vector<io::host_key_part>& read) {
  if (in.kept) return;  // that is done where they are made like the keys
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::size_t p = column_of_key(arguments.asks(), i, read.size());
    const auto* const cells = std::get_if<io::host_column>(&read[i]);
    const auto* const keys = std::get_if<io::host_column>(&in.asked.parts[i]);
    if (cells == nullptr || keys == nullptr) continue;
    check_same_type({role_of(arguments.asks()), arguments.asked(), cells->format, cells->times},
                    {"keys", in.keys.names[p], keys->format, keys->times});
  }
}

}  // namespace raydex::cli
