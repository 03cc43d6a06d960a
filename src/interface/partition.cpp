// SPDX-License-Identifier: Apache-2.0
// The checks that every call of a partition goes through.
#include "raydex/partition.hpp"

#include <fmt/format.h>

#include <limits>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

constexpr std::uint64_t most_unit = 4096;

void check_probes(const probes& batch) {
  check_column("probes", batch.lower);
  if (!batch.is_points) check_column("probes", batch.upper);
  check_sizes("probes", batch, batch.size());
}

void check_alike(const char* argument, key_format own, key_format needed, const char* other) {
  if (own == needed) return;
  throw invalid_argument(fmt::format("{}: they are {}, but {} {}", argument, to_string(own), other,
                                     to_string(needed)));
}

void check_count(const char* argument, std::uint64_t own, std::uint64_t needed, const char* other) {
  if (own == needed) return;
  throw invalid_argument(
      fmt::format("{}: {} of them, but there are {} {}", argument, own, needed, other));
}

// Whether answers of a format can be put together so.
void check_answers(key_format format, piece_answer how) {
  const bool is_unsigned = format.type == key_type::uint32 || format.type == key_type::uint64;
  switch (how) {
    case piece_answer::replace:
      if (format.type != key_type::bytes) return;
      break;
    case piece_answer::sum:
      if (format.type != key_type::bytes && format.type != key_type::float32) return;
      break;
    case piece_answer::minimum:
      if (is_unsigned) return;
      break;
    default:
      throw invalid_argument(
          fmt::format("how: {} is none of replace, sum, minimum", static_cast<int>(how)));
  }
  throw invalid_argument(fmt::format(
      "answers: they are {}; replace takes numbers, sum integers and doubles, minimum unsigned "
      "integers",
      to_string(format)));
}

// Of the type's numbers, 0 .. probes - 1 are used.
void check_sources(const row_id_span& sources, std::uint64_t pieces, std::uint64_t probes) {
  check_count("sources", sources.size, pieces, "pieces");
  check_array("sources", sources.data, sources.size, row_id_bytes(sources.type));
  if (sources.type == row_id_type::uint32 && probes > not_found<std::uint32_t>) {
    throw invalid_argument(
        fmt::format("sources: uint32 are too narrow for the numbers of {} probes", probes));
  }
}

}  // namespace

partition::partition(backend where, const probes& batch)
    : where_(where),
      format_(batch.lower.format),
      is_points_(batch.is_points),
      probes_(batch.size()) {}
partition::~partition() = default;

void partition::write(const context& on, const probes& batch, const piece_span& out) const try {
  check_space(on, where_);
  check_probes(batch);
  check_alike("probes", batch.lower.format, format_, "what was divided is");
  check_count("probes", batch.size(), probes_, "in what was divided");
  if (batch.is_points != is_points_)
    throw invalid_argument(is_points_ ? "probes: they are ranges, but points were divided"
                                      : "probes: they are points, but ranges were divided");
  check_sources(out.sources, size_, probes_);
  const std::size_t alignment = format_.type == key_type::bytes ? 1 : format_.width;
  check_array("lower", out.lower, size_, alignment);
  if (!is_points_) check_array("upper", out.upper, size_, alignment);
  if (size_ != 0) do_write(on, batch, out);
} catch (...) {
  rethrow_as_error();
}

void partition::put_together(const context& on, const row_id_span& sources, const column& answers,
                             piece_answer how, const value_span& out) const try {
  check_space(on, where_);
  check_sources(sources, size_, probes_);
  check_column("answers", answers);
  check_answers(answers.format, how);
  if (how == piece_answer::replace && !is_points_)
    throw invalid_argument("how: replace is for points, but ranges were divided");
  check_count("answers", answers.size, size_, "pieces");
  const bool widens = how == piece_answer::replace && answers.format.type == key_type::int32 &&
                      out.format.type == key_type::int64;
  if (out.format != answers.format && !widens) {
    throw invalid_argument(fmt::format("out: its numbers are {}, but the answers are {}",
                                       to_string(out.format), to_string(answers.format)));
  }
  check_count("out", out.size, probes_, "probes");
  check_array("out", out.data, out.size, out.format.width);
  if (size_ != 0) do_put_together(on, sources, answers, how, out);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<partition> divide(backend where, const context& on, const probes& batch,
                                  const column& splitters, std::uint64_t unit) try {
  check_available(where);
  check_space(on, where);
  check_probes(batch);
  check_column("splitters", splitters);
  check_alike("splitters", splitters.format, batch.lower.format, "the probes are");
  if (splitters.size >= most_shards) {
    throw invalid_argument(fmt::format("splitters: {} of them make {} shards; there are at most {}",
                                       splitters.size, splitters.size + 1, most_shards));
  }
  if (splitters.validity != nullptr)
    throw invalid_argument("splitters: they have validity bits; none may be missing");
  if (unit == 0 || unit > most_unit)
    throw invalid_argument(fmt::format("unit: {} is not in 1 .. {}", unit, most_unit));
  if (unit != 1 && !batch.is_points)
    throw invalid_argument(fmt::format("unit: {}, but pieces of ranges are not repeated", unit));
  return operation_on(where, &operation_table::divide)(on, where, batch, splitters, unit);
} catch (...) {
  rethrow_as_error();
}

void choose_splitters(backend where, const context& on, const column& sample,
                      const value_span& out) try {
  check_available(where);
  check_space(on, where);
  check_column("sample", sample);
  check_alike("out", out.format, sample.format, "the sample is");
  check_array("out", out.data, out.size, out.format.type == key_type::bytes ? 1 : out.format.width);
  if (out.size != 0) operation_on(where, &operation_table::choose_splitters)(on, sample, out);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
