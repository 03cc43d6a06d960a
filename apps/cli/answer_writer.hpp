// SPDX-License-Identifier: Apache-2.0
// Answers as the files that they are written to have them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/answers.hpp"
#include "io/column_writer.hpp"
#include "io/npz.hpp"
#include "io/output_file.hpp"
#include "io/pyarrow_table.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::cli {

// Writes answers in parts.
class answer_writer {
 public:
  // `size`: how many there are, which .npy begins with. `as_arrow`: in Arrow's IPC format.
  answer_writer(io::output_file& file, std::string result, std::uint64_t size, bool as_arrow)
      : file_(file),
        result_(std::move(result)),
        are_rows_(parse_result(result_) == result_kind::rows),
        size_(size),
        as_arrow_(as_arrow) {}

  // Whether these are rows, in a file that may have those of some probes after those of others.
  bool takes_rows_in_parts() const {
    return are_rows_ && (as_arrow_ || io::is_csv_output(file_.path()));
  }

  void write(const answers& found) {
    if (as_arrow_) return are_rows_ ? write_arrow_rows(found) : write_arrow(found);
    const std::span<const std::byte> cells = found.cells();
    if (!are_rows_) {
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
  bool are_rows_;
  std::uint64_t size_;
  bool as_arrow_;
  std::uint64_t probes_ = 0;
  std::optional<io::column_writer> column_;
  std::optional<io::match_writer> matches_;
  std::optional<io::arrow_output> arrow_;
};

}  // namespace raydex::cli
