// SPDX-License-Identifier: Apache-2.0
// Columns of CSV files: comma-separated, the first row holds the names, quotes as in RFC 4180; and
// of others that are separated by tabs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/host_column.hpp"
#include "io/table_format.hpp"

namespace raydex::io {

// How the texts of a column are kept.
enum class csv_texts : std::uint8_t {
  times,  // as bytes of up to 8, and a longer one is refused; if they are times, as nanoseconds
  any_length,  // the same, but as strings where one is longer than 8 bytes
  strings,     // as strings; numbers are texts, too
  verbatim     // the same, and none is missing: NA is a text
};

// A column that is wanted.
struct csv_column {
  std::string name;
  std::optional<key_format> type;  // none: found from its fields
  csv_texts texts = csv_texts::times;
};

// Reads columns in one pass over the file, on all cores. Spaces around unquoted fields are skipped,
// and so are blank lines; where there is one column alone, a blank line is a missing field. A field
// that is empty, NA, N/A, null or NULL, quoted or not, is missing. Beside the file's columns,
// memory for some 64 MB of the file is taken, more where a row is as long.
//
// A .tsv is the same with tabs. In a .bed and a .vcf, separated by tabs as well, a quote is a
// character like others, and a field that is a dot is missing. A .bed has no names: they are those
// of the format (chrom, start, end, name, score, strand and so on), behind the twelfth column 13,
// 14 and so on; lines that begin with #, track or browser are passed over. A .vcf has its names
// behind the lines that begin with ##, in a line that begins with #CHROM, which names CHROM.
//
// Without a given type, a column is int64 if all its present fields are integers, double if they
// are numbers, int64 that counts nanoseconds if they are times, and bytes, as wide as its longest
// field, or strings, if none is a number. A column without any field is int64.
// Floats are rounded to the nearest, which may be infinity or 0; whole numbers beside them are not:
// one that no double is is refused. Of a given type of integers 5.0 is
// 5. Throws `invalid_argument` with one line that names the file and, if it can, the line.
//
// The name of the file says which of these it is.
std::vector<host_key_part> read_csv(const std::string& path, std::span<const csv_column> columns);

// The same from a stream, which can go back to where it is; messages call it `name`. Cores share
// the work in parts of some bytes.
std::vector<host_key_part> read_csv(std::istream& stream, const std::string& name,
                                    std::span<const csv_column> columns,
                                    table_format format = table_format::csv,
                                    std::size_t part_size = std::size_t{1} << 20);

// Reads columns of a CSV text that comes in pieces, as `read_csv` does, and gives the rows that are
// whole. Each call finds the types of columns without a given one anew. Beside them, memory for the
// last piece and the row that it ends in is taken.
class csv_pieces {
 public:
  // Messages call the text `name`. Columns whose names are empty are all that there are.
  csv_pieces(std::string name, std::vector<csv_column> columns);
  ~csv_pieces();

  // Takes what comes next; returns the columns of the rows that it completes, or nothing if there
  // are none.
  std::vector<host_key_part> add(std::string_view piece);
  // Ends the text; returns the columns of what was left, which may have no rows.
  std::vector<host_key_part> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace raydex::io
