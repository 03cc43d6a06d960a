// SPDX-License-Identifier: Apache-2.0
// Dates and times as ISO 8601 writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace raydex::io {

struct iso_time {
  // Since 1970, of a time with a zone in UTC; none beyond 64 bits, which are the years 1678 to 2261
  // and parts of those beside them.
  std::optional<std::int64_t> nanoseconds;
  bool has_zone = false;
};

// The time that all of a text is, if it is one: `2024-03-01`, `2024-03-01T12:30`,
// `2024-03-01 12:30:05.123456789`, and behind a time of day a zone, `Z`, `+01:00` or `+0100`.
std::optional<iso_time> parse_iso_time(std::string_view text);

}  // namespace raydex::io
