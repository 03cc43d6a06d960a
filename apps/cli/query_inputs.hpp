// SPDX-License-Identifier: Apache-2.0
// The arguments of `raydex query`, and the columns that they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/answers.hpp"
#include "apps/cli/build_arguments.hpp"
#include "apps/cli/kept_key.hpp"
#include "io/column_stream.hpp"
#include "io/file_arguments.hpp"
#include "io/host_column.hpp"

namespace raydex::cli {

// How keys are asked for.
enum class question : std::uint8_t {
  points,   // by their first columns, or all of them
  ranges,   // by the first columns, and the inclusive ends of the next one
  prefixes  // by the first columns, and what the string in the next one begins with
};

// Which column of a key the i-th one of `count` that ask is compared with.
inline std::size_t column_of_key(question asks, std::size_t i, std::size_t count) {
  return asks == question::ranges && i + 1 == count ? i - 1 : i;
}

// The command line as it is; a file that it does not name is empty.
struct query_arguments : build_arguments {
  std::string keys, row_ids, points, ranges, prefixes, result, values;
  std::string insert, insert_rows, erase, erase_rows;
  std::string index, save_index;
  bool aggregate = false;
  bool strict = false;
  bool no_verify = false;

  // Whether something is asked for; else an index is only written to a file.
  bool has_probes() const { return !asked().empty(); }
  // Of no probes any.
  result_kind kind() const { return has_probes() ? parse_result(result) : result_kind::count; }
  // Whether an aggregate answers: some results only one has.
  bool has_aggregate() const {
    const result_kind kind = this->kind();
    return aggregate || kind == result_kind::mean || kind == result_kind::min ||
           kind == result_kind::max;
  }
  question asks() const {
    return !points.empty()   ? question::points
           : !ranges.empty() ? question::ranges
                             : question::prefixes;
  }
  // What is asked for, as it is named.
  const std::string& asked() const {
    return !points.empty() ? points : !ranges.empty() ? ranges : prefixes;
  }
  // Whether it comes on standard input.
  bool streams() const { return io::names_stream(asked()); }
  bool has_edits() const {
    return !(insert.empty() && insert_rows.empty() && erase.empty() && erase_rows.empty());
  }
};

// Columns of keys, and how they are named.
struct key_columns {
  std::vector<std::string> names{};
  std::vector<io::host_key_part> parts{};
};

// The columns that the arguments name, in host memory.
struct query_inputs {
  key_columns keys;           // of an index in a file without rows
  key_columns asked;          // of standard input without rows, and without names that it lacks
  key_columns insert, erase;  // without columns where they are not given
  std::optional<io::host_column> row_ids, values, insert_rows, erase_rows;
  std::optional<index_file_info> file;  // of an index in a file, and what its keys are
  std::optional<kept_key> kept;

  // Whether the keys are numbers or texts of up to 8 bytes, in one column.
  bool is_simple() const {
    if (kept) return kept->parts.empty() && !kept->words;
    return keys.parts.size() == 1 && std::holds_alternative<io::host_column>(keys.parts[0]);
  }
};

// Finds the names of columns in the arguments. Throws `invalid_argument` where something does not
// go with something else.
query_inputs parse_query(const query_arguments& arguments);
// All files that are read.
std::vector<io::file_argument> files_of(const query_arguments& arguments, const query_inputs& in);
// Reads the columns, and makes those alike that are compared.
void read(const query_arguments& arguments, query_inputs& in);
// Makes what is asked for like the keys of an index in a file. Returns how it is asked for then.
question make_asked_like_kept(const query_arguments& arguments, const query_inputs& in,
                              std::vector<io::host_key_part>& asked);
// Refuses columns of standard input that are of other types than the keys.
void check_streamed(const query_arguments& arguments, const query_inputs& in,
                    const std::vector<io::host_key_part>& read);

}  // namespace raydex::cli
