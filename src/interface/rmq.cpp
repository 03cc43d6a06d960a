// SPDX-License-Identifier: Apache-2.0
// The checks that every query for minima goes through.
#include "raydex/rmq.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "raydex/error.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/watch.hpp"

namespace raydex {

namespace {

bool is_position_type(key_type type) {
  return type == key_type::uint32 || type == key_type::uint64 || type == key_type::int32 ||
         type == key_type::int64;
}

void check_positions(const char* argument, const column& positions) {
  check_column(argument, positions);
  if (!is_position_type(positions.format.type)) {
    throw invalid_argument(
        fmt::format("{}: they are {}; positions are uint32, uint64, int32 or int64", argument,
                    to_string(positions.format)));
  }
}

std::string text(const std::byte* cell, key_format format) {
  const auto as = [&]<class T>(T number) {
    std::copy_n(cell, sizeof number, reinterpret_cast<std::byte*>(&number));
    return fmt::format("{}", number);
  };
  switch (format.type) {
    case key_type::uint32:
      return as(std::uint32_t{});
    case key_type::int32:
      return as(std::int32_t{});
    case key_type::int64:
      return as(std::int64_t{});
    default:
      return as(std::uint64_t{});
  }
}

}  // namespace

rmq::rmq(memory_resource& upstream) : memory_(upstream) {}
rmq::~rmq() = default;

void rmq::measure() noexcept {
  info_.resident_bytes = memory_.current();
  info_.build_peak_bytes = memory_.peak();
}

void rmq::check_batch(const context& on, const probes& ranges, std::uint64_t out_size) const {
  check_space(on, info_.where);
  if (ranges.is_points) {
    throw invalid_argument("ranges: they are points; minima are of ranges(lower, upper)");
  }
  check_positions("ranges", ranges.lower);
  check_positions("ranges", ranges.upper);
  check_sizes("ranges", ranges, out_size);
}

void rmq::check_view(key_format value, std::size_t place_bytes) const {
  if (info_.extreme != rmq_extreme::minimum)
    throw unsupported("view: this structure is of maxima; views are of minima");
  const std::size_t own_bytes = has_narrow_places(info_.n) ? 4 : 8;
  if (value != info_.value || place_bytes != own_bytes) {
    throw invalid_argument(fmt::format("view: this structure has values {} and places of {} bits",
                                       to_string(info_.value), 8 * own_bytes));
  }
}

void rmq::values(rmq_extreme extreme, const context& on, const probes& ranges,
                 const value_span& out) const {
  if (extreme != info_.extreme) {
    throw unsupported(extreme == rmq_extreme::maximum
                          ? "maximum: this structure is of minima; build one with extreme=maximum"
                          : "minimum: this structure is of maxima; build one with extreme=minimum");
  }
  check_batch(on, ranges, out.size);
  if (out.format != info_.value) {
    throw invalid_argument(fmt::format("out: its values are {}, but those of the array are {}",
                                       to_string(out.format), to_string(info_.value)));
  }
  check_array("out", out.data, out.size, out.format.width);
  if (ranges.size() != 0) do_extreme(on, ranges, out.data);
}

void rmq::minimum(const context& on, const probes& ranges, const value_span& out) const try {
  values(rmq_extreme::minimum, on, ranges, out);
} catch (...) {
  rethrow_as_error();
}

void rmq::maximum(const context& on, const probes& ranges, const value_span& out) const try {
  values(rmq_extreme::maximum, on, ranges, out);
} catch (...) {
  rethrow_as_error();
}

void rmq::position(const context& on, const probes& ranges, std::span<std::uint64_t> out) const
    try {
  check_batch(on, ranges, out.size());
  check_array("out", out);
  if (ranges.size() != 0) do_position(on, ranges, out.data());
} catch (...) {
  rethrow_as_error();
}

void rmq::check(const context& on, const probes& ranges, std::uint64_t first) const try {
  check_batch(on, ranges, ranges.size());
  if (ranges.size() == 0) return;
  const std::uint64_t bad = do_check(on, ranges);
  if (bad == no_position) return;
  const auto end = [&](const column& ends) {
    std::byte cell[8];
    const auto* const from = static_cast<const std::byte*>(ends.data) + bad * ends.step();
    do_read(on, cell, from, ends.format.width);
    return text(cell, ends.format);
  };
  const std::string lower = end(ranges.lower);
  const std::string upper = end(ranges.upper);
  const std::string legal = info_.n == 0
                                ? "the array is empty"
                                : fmt::format("legal: 0 <= lower <= upper <= {}", info_.n - 1);
  throw invalid_argument(
      fmt::format("ranges: range {} is [{}, {}]; {}", first + bad, lower, upper, legal));
} catch (...) {
  rethrow_as_error();
}

void rmq::refresh(stream_t stream, const column& positions) try {
  const unwatched from_here;
  check_positions("positions", positions);
  if (positions.validity != nullptr) {
    throw invalid_argument("positions: some are missing; give those that have changed");
  }
  if (positions.size != 0) do_refresh(stream, positions);
} catch (...) {
  rethrow_as_error();
}

void rmq::do_refresh(stream_t /*stream*/, const column& /*positions*/) {
  throw unsupported(
      fmt::format("{} takes no changed values; rmq_cover and rmq_hierarchy do", info_.structure));
}

bool rmq::do_keep(const context& /*own*/, kept_memory& /*file*/) {
  return false;
}

}  // namespace raydex
