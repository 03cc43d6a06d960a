// SPDX-License-Identifier: Apache-2.0
// Arguments that all subcommands have which build a structure and query it.
#include "apps/cli/build_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>

#include "io/column_writer.hpp"
#include "io/dtype.hpp"
#include "io/read.hpp"

namespace raydex::cli {

namespace {

// Whether a type has each value of another one.
bool has_all_of(key_format type, key_format other) {
  const auto digits = [](key_format one) {
    switch (one.type) {
      case key_type::float32:
        return std::numeric_limits<float>::digits;
      case key_type::float64:
        return std::numeric_limits<double>::digits;
      case key_type::int32:
        return std::numeric_limits<std::int32_t>::digits;
      case key_type::int64:
        return std::numeric_limits<std::int64_t>::digits;
      default:
        return 8 * static_cast<int>(one.width);
    }
  };
  const auto is_floating = [](key_format one) {
    return one.type == key_type::float32 || one.type == key_type::float64;
  };
  const auto is_unsigned = [](key_format one) {
    return one.type == key_type::uint32 || one.type == key_type::uint64;
  };
  const bool are_bytes = type.type == key_type::bytes;
  if (are_bytes != (other.type == key_type::bytes) || (is_unsigned(type) && !is_unsigned(other)) ||
      (is_floating(other) && !is_floating(type)))
    return false;
  return digits(type) >= digits(other);
}

}  // namespace

CLI::Option* add_file(CLI::App& command, const char* name, std::string& path, const char* help) {
  return command.add_option(name, path, help)->type_name("FILE");
}

CLI::Option* add_build_options(CLI::App& command, build_arguments& arguments, const char* out) {
  CLI::Option* const answers = add_file(command, "--out", arguments.out, out)->required();
  add_file(command, "--report", arguments.report, "Times and bytes, as JSON");
  command.add_option("--structure", arguments.structure, "What is built; see `raydex structures`")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--backend", arguments.backend, "Who does the work")
      ->type_name("cpu|cuda|optix|auto")
      ->capture_default_str();
  command
      .add_option(
          "--option", arguments.options,
          "An option of the structure, as `raydex structures NAME` lists them; can be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  return answers;
}

void explain(CLI::App& command, const char* text) {
  constexpr const char* columns =
      "Columns are .npy arrays of uint32, uint64, int32, int64, float, double or bytes1..bytes8,\n"
      "or columns of tables: file.csv:column, file.parquet:column (also .arrow, .feather and\n"
      ".ipc) and file.csv.gz:column (also .bz2, .zst, .lz4 and .br). For .csv it may be .tsv,\n"
      ".bed with columns chrom, start, end, name, score, strand and so on, or .vcf with those of\n"
      "the line #CHROM. A type may follow: file.csv:column:int64 (also i8 or <i8). Ranges are two\n"
      "columns, file.csv:lower,upper, or an n x 2 array. What is compressed, Parquet and Arrow\n"
      "are read by pyarrow, of the Python that RAYDEX_PYTHON names, or of python3. Empty fields,\n"
      "NA, N/A, null and NULL of texts are missing, in .bed and .vcf a dot, and so are nulls.\n"
      "Dates and times, as 2024-03-01 and 2024-03-01T12:30:05.25+01:00, become nanoseconds since\n"
      "1970, in int64.";
  command.footer(fmt::format("{}\n\n{}\n\n{}", columns, text, io::output_rules));
}

option_map parse_options(const std::vector<std::string>& texts) {
  option_map options;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw invalid_argument(fmt::format("option: '{}' is not of the form name=value", text));
    }
    if (!options.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw invalid_argument(fmt::format("option: '{}' is given twice", text.substr(0, equals)));
    }
  }
  return options;
}

std::string how_to_read_as(const typed_file& file, key_format type) {
  if (file.times != io::time_kind::none) return {};
  const bool rounds = type.type == key_type::float32 || type.type == key_type::float64;
  if (io::names_column(file.path)) {
    return fmt::format("; name the type{}: {}", rounds ? ", to which numbers are rounded" : "",
                       io::with_type(file.path, type));
  }
  return has_all_of(type, file.format)
             ? fmt::format("; in NumPy: a.astype('{}')", io::dtype_name(type))
             : "";
}

void check_beside_index(const std::string& index, std::span<const given_option> of_a_build) {
  for (const given_option& one : of_a_build) {
    if (!one.is_given) continue;
    throw invalid_argument(fmt::format(
        "{} is of an index that is built, and --index {} has one; leave one of them out", one.name,
        index));
  }
}

void check_index_place(const std::string& path) {
  if (path.empty()) return;
  std::error_code absent;
  const bool is_other =
      std::filesystem::exists(path, absent) && !std::filesystem::is_regular_file(path, absent);
  if (path == "-" || is_other) {
    throw invalid_argument(
        fmt::format("--save-index {}: an index is written to a file; give the name of one", path));
  }
  const io::output_file tried(path);
}

void check_row_ids(const typed_file& row_ids) {
  const key_type type = row_ids.format.type;
  if (type == key_type::uint32 || type == key_type::uint64) return;
  throw invalid_argument(fmt::format("{} {} are {}; they must be uint32 or uint64{}", row_ids.role,
                                     row_ids.path, row_ids.type(),
                                     how_to_read_as(row_ids, format_of<std::uint64_t>)));
}

void check_same_type(const typed_file& one, const typed_file& other) {
  if (one.format == other.format && one.times == other.times) return;
  const bool are_times = one.times != io::time_kind::none || other.times != io::time_kind::none;
  std::string how = are_times ? "" : how_to_read_as(one, other.format);
  if (how.empty() && !are_times && !io::names_column(other.path) &&
      has_all_of(one.format, other.format))
    how = fmt::format("{} of {}", how_to_read_as(other, one.format), other.path);
  throw invalid_argument(fmt::format("{} {} are {}, but {} {} are {}{}", one.role, one.path,
                                     one.type(), other.role, other.path, other.type(), how));
}

outputs::outputs(const build_arguments& arguments, std::span<const io::file_argument> inputs,
                 std::string_view binary, const io::file_argument& index) {
  if (!arguments.out.empty()) io::check_ending(arguments.out, binary);
  io::check_outputs(std::array{io::file_argument{"--out", arguments.out},
                               io::file_argument{"--report", arguments.report}, index},
                    inputs);
  if (!arguments.out.empty()) answers_.emplace(arguments.out);
  if (!arguments.report.empty()) report_.emplace(arguments.report);
}

}  // namespace raydex::cli
