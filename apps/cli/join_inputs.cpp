// SPDX-License-Identifier: Apache-2.0
// The columns that `raydex join` names, read and made alike.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/cli/alike.hpp"
#include "apps/cli/join_arguments.hpp"
#include "io/file_arguments.hpp"
#include "io/quoted.hpp"
#include "io/read.hpp"
#include "io/table_format.hpp"
#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

// A column that --columns names.
struct wanted_column {
  std::string name;  // as read
  bool of_build;
  bool in_both;  // whether its file is one of both tables
};

// The file among those of a table that is the one of `name`; empty if there is none.
std::string file_of_table(const join_request& request, bool of_build, const std::string& name) {
  for (const std::string& own : request.table(of_build)) {
    const bool may_be = io::names_column(own) == io::names_column(name);
    if (may_be && io::is_same_file(io::path_of(own), io::path_of(name))) return io::path_of(own);
  }
  return {};
}

wanted_column find_column(const join_request& request, std::string name) {
  const bool says_build = name.starts_with("build:");
  const bool says_probe = name.starts_with("probe:");
  if (says_build || says_probe) name.erase(0, name.find(':') + 1);
  const std::string in_build = file_of_table(request, true, name);
  const std::string in_probe = file_of_table(request, false, name);
  const bool in_both = !in_build.empty() && !in_probe.empty();
  if (in_both && !says_build && !says_probe) {
    throw invalid_argument(fmt::format(
        "--columns {0}: its file is of both tables; say which: build:{0} or probe:{0}", name));
  }
  const bool of_build = says_build || (!says_probe && !in_build.empty());
  const std::string& file = of_build ? in_build : in_probe;
  const auto is_own_table = [&](const std::string& own) {
    return io::names_column(own) && !io::names_column(name) &&
           io::is_same_file(io::path_of(own), name);
  };
  if (file.empty() && (std::ranges::any_of(request.table(true), is_own_table) ||
                       std::ranges::any_of(request.table(false), is_own_table))) {
    throw invalid_argument(fmt::format("--columns {0}: which column? name it: {0}:column", name));
  }
  if (file.empty()) {
    const char* const tables = says_build   ? "--build"
                               : says_probe ? "--probe"
                                            : "--build or --probe";
    throw invalid_argument(
        fmt::format("--columns {}: its file is not one that {} names", name, tables));
  }
  if (of_build && !request.has_build_rows()) {
    throw invalid_argument(
        fmt::format("--columns {}: --kind {} has no build rows, so no columns of theirs", name,
                    to_string(request.kind)));
  }
  // Under one path, so that the file is read once.
  return {io::names_column(name) ? fmt::format("{}:{}", file, io::column_of(name)) : file, of_build,
          in_both};
}

// The name of a column in the output, with its file or table before it where `level` is not 0.
std::string title_of(const wanted_column& column, int level) {
  const std::string path = io::path_of(column.name);
  std::filesystem::path stem_path = std::filesystem::path(path).stem();
  if (!io::compression_of(path).empty()) stem_path = stem_path.stem();
  const std::string stem = stem_path.string();
  std::string own = io::names_column(column.name) ? io::column_of(column.name) : stem;
  const char* const table = column.of_build ? "build" : "probe";
  if (level == 0) return own;
  const bool by_table = column.in_both || !io::names_column(column.name);
  if (level == 1) return fmt::format("{}.{}", by_table ? table : stem, own);
  return fmt::format("{}.{}.{}", table, stem, own);
}

std::vector<std::string> titles_of(const std::vector<wanted_column>& columns) {
  std::vector<std::string> titles(columns.size());
  std::vector<int> levels(columns.size(), 0);
  constexpr int last_level = 2;
  for (int level = 0; level <= last_level; ++level) {
    std::map<std::string, int> uses;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      titles[i] = title_of(columns[i], levels[i]);
      ++uses[titles[i]];
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (uses[titles[i]] == 1) continue;
      if (level == last_level) {
        throw invalid_argument(
            fmt::format("--columns: two columns are called {}", io::in_quotes(titles[i])));
      }
      ++levels[i];
    }
  }
  return titles;
}

// Has the columns read that --columns names.
std::vector<io::output_column> add_columns(io::column_reading& reading, const join_request& request,
                                           const std::string& list) {
  std::vector<wanted_column> wanted;
  for (const std::string& name : io::split_list("--columns", list))
    wanted.push_back(find_column(request, name));
  const std::vector<std::string> titles = titles_of(wanted);
  std::vector<io::output_column> columns;
  columns.reserve(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    io::output_column& to = columns.emplace_back(
        io::output_column{.name = titles[i], .of_build = wanted[i].of_build, .cells = {}});
    if (io::names_column(wanted[i].name)) {
      reading.add_texts(wanted[i].name, to.cells);
    } else {
      reading.add(wanted[i].name, to.cells);
    }
  }
  return columns;
}

// Refuses texts as the times of an as-of join.
void check_are_times(const join_request& request, const io::host_key_part& build) {
  const key_format format = std::get<io::host_column>(build).format;
  if (format.type != key_type::bytes) return;
  throw invalid_argument(fmt::format(
      "build keys {} are {}; --kind asof is of numbers and times, which are written as 2026-01-31 "
      "or 2026-01-31T09:30:00",
      request.build.front(), to_string(format)));
}

// Refuses a duration as the distance of what are no times.
void check_duration(const join_request& request, const io::host_key_part& build) {
  const auto* const cells = std::get_if<io::host_column>(&build);
  if (request.duration.empty() || cells == nullptr || cells->times != io::time_kind::none) return;
  throw invalid_argument(fmt::format("{}: build keys {} are {}, whose distances have no unit",
                                     request.duration, request.build.front(),
                                     io::type_name(cells->format, cells->times)));
}

void check_rows(const char* table, const std::vector<std::string>& names,
                const std::vector<io::host_key_part>& keys,
                const std::vector<io::host_key_part>& by,
                const std::vector<io::host_key_part>& upper,
                const io::host_column* values = nullptr) {
  std::vector<std::uint64_t> rows;
  for (const std::vector<io::host_key_part>* parts : {&keys, &by, &upper})
    for (const io::host_key_part& part : *parts)
      rows.push_back(io::size_of(part));
  if (values != nullptr) rows.push_back(values->view().size);
  check_same_rows(table, names, rows);
}

// Makes the ends of intervals alike, and what they are compared with.
void make_ends_alike(const join_request& request, join_inputs& in) {
  const named_part lower{"lower ends", request.build.front(), in.build.front()};
  // All become like the lower ends, which may have become like a later one.
  for (int time = 0; time < 2; ++time) {
    make_alike({"upper ends", request.build_upper, in.build_upper.front()}, lower);
    make_alike({"probe keys", request.probe.front(), in.probe.front()}, lower);
    if (!in.probe_upper.empty())
      make_alike({"upper ends", request.probe_upper, in.probe_upper.front()}, lower);
  }
}

}  // namespace

key_parts views_of(const std::vector<io::host_key_part>& parts) {
  key_parts views;
  for (const io::host_key_part& part : parts)
    views.push_back(io::view_of(part));
  return views;
}

join_inputs read(const join_request& request, const std::string& columns) {
  join_inputs in;
  io::column_reading reading;
  const auto add = [&](const std::vector<std::string>& names,
                       std::vector<io::host_key_part>& parts) {
    parts.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      reading.add(names[i], parts[i]);
  };
  // What is not looked up by equal keys has no strings.
  const auto add_column = [&](const std::string& name, std::vector<io::host_key_part>& parts) {
    reading.add(name, std::get<io::host_column>(parts.emplace_back()));
  };
  if (request.method == join_method::equal) {
    add(request.build, in.build);
    add(request.probe, in.probe);
  } else {
    // References to columns are kept until they are read.
    in.build.reserve(request.build.size());
    in.probe.reserve(request.probe.size());
    for (const std::string& name : request.build)
      add_column(name, in.build);
    for (const std::string& name : request.probe)
      add_column(name, in.probe);
  }
  add(request.build_by, in.build_by);
  add(request.probe_by, in.probe_by);
  if (!request.build_upper.empty()) add_column(request.build_upper, in.build_upper);
  if (!request.probe_upper.empty()) add_column(request.probe_upper, in.probe_upper);
  if (!request.values.empty()) reading.add(request.values, in.values.emplace());
  if (!columns.empty()) in.columns = add_columns(reading, request, columns);
  reading.read();

  check_duration(request, in.build.front());
  check_rows("build", request.table(true), in.build, in.build_by, in.build_upper,
             in.values ? &*in.values : nullptr);
  check_rows("probe", request.table(false), in.probe, in.probe_by, in.probe_upper);
  for (std::size_t i = 0; i < request.build.size() && in.build_upper.empty(); ++i) {
    make_alike({"probe keys", request.probe[i], in.probe[i]},
               {"build keys", request.build[i], in.build[i]});
  }
  if (!in.build_upper.empty()) make_ends_alike(request, in);
  if (request.method == join_method::asof) check_are_times(request, in.build.front());
  for (std::size_t i = 0; i < request.build_by.size(); ++i) {
    make_alike({"probe keys", request.probe_by[i], in.probe_by[i]},
               {"build keys", request.build_by[i], in.build_by[i]});
  }
  return in;
}

}  // namespace raydex::cli
