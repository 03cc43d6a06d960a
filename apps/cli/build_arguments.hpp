// SPDX-License-Identifier: Apache-2.0
// Arguments that all subcommands have which build a structure and query it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_arguments.hpp"
#include "io/host_column.hpp"
#include "io/output_file.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"

namespace raydex::cli {

// As given; a file that is not given is empty.
struct build_arguments {
  std::string structure = "auto";
  std::string backend = "auto";
  std::vector<std::string> options;
  std::string out, report;
};

// An option that names a file.
CLI::Option* add_file(CLI::App& command, const char* name, std::string& path, const char* help);

// Adds --out, --report, --structure, --backend and --option; `out` says what is written there.
// Returns --out, which is required.
CLI::Option* add_build_options(CLI::App& command, build_arguments& arguments, const char* out);

// Says at the end of the help what columns are, then what `text` has, and what happens to outputs.
void explain(CLI::App& command, const char* text);

// The options by name. Throws `invalid_argument` where one is not of the form name=value, or given
// twice.
option_map parse_options(const std::vector<std::string>& texts);

// What a file holds, for messages.
struct typed_file {
  const char* role;  // as `keys`
  const std::string& path;
  key_format format;
  io::time_kind times = io::time_kind::none;

  std::string type() const { return io::type_name(format, times); }
};

// How a column is read as another type: `; name the type: file.csv:column:uint64`, or what to do in
// NumPy; empty where that would change values, and of times.
std::string how_to_read_as(const typed_file& file, key_format type);

// Whether an option of this name is on the command line.
struct given_option {
  const char* name;
  bool is_given;
};

// Refuses what only an index that is built has, beside the file of one.
void check_beside_index(const std::string& index, std::span<const given_option> of_a_build);

// Refuses a place of `--save-index` where no file can be, before the work.
void check_index_place(const std::string& path);

// Refuses what are no row ids.
void check_row_ids(const typed_file& row_ids);

// Refuses what is not of the type of `other`, and times beside what is none.
void check_same_type(const typed_file& one, const typed_file& other);

// The files that --out and --report name.
class outputs {
 public:
  // Refuses a file that is also read, or named twice, and what cannot be written. `index`: a
  // further file that the caller writes.
  outputs(const build_arguments& arguments, std::span<const io::file_argument> inputs,
          std::string_view binary = ".npy", const io::file_argument& index = {});

  // The answers, if --out names their file.
  io::output_file& answers() { return *answers_; }
  // Has answers on the disk, so that nothing but their way to their place may fail.
  void finish() {
    if (answers_) answers_->finish();
  }
  // Ends the run: writes the report, a text that `report` makes, if one is asked for. The answers
  // come to their place first, so that no report is there without them.
  template <class Report>
  void commit(Report&& report) {
    if (report_) {
      const std::string text = report();
      report_->write(std::as_bytes(std::span(text)));
      report_->finish();
    }
    if (answers_) answers_->commit();
    if (report_) report_->commit();
  }

 private:
  std::optional<io::output_file> answers_;
  std::optional<io::output_file> report_;
};

// Refuses structures that take no changes, and so not these options. Unknown names are left to the
// build, which knows what to say about them, and so is `auto`.
template <class Capability>
void check_updatable(const std::vector<Capability>& all, const std::string& structure,
                     std::string_view options) {
  std::set<std::string> updatable;
  bool is_fixed = false;
  for (const Capability& able : all) {
    if (able.updates) updatable.insert(able.structure);
    is_fixed = is_fixed || (able.structure == structure && !able.updates);
  }
  if (!is_fixed) return;
  throw unsupported(fmt::format("structure {} takes no updates, so no {}; these do: {}", structure,
                                options, fmt::join(updatable, ", ")));
}

}  // namespace raydex::cli
