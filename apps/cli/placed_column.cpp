// SPDX-License-Identifier: Apache-2.0
// Host columns where a backend can read them: in place on cpu, copies elsewhere.
#include "apps/cli/placed_column.hpp"

#include <span>

namespace raydex::cli {

namespace {

std::uint64_t bytes_from_first_to_last(const column& cells) {
  return cells.size == 0 ? 0 : (cells.size - 1) * cells.step() + cells.format.width;
}

// Whether lower and upper ends alternate in one array.
bool are_pairs(const probes& host) {
  const std::uint64_t width = host.lower.format.width;
  return !host.is_points && host.lower.step() == 2 * width && host.upper.step() == 2 * width &&
         host.upper.data == static_cast<const std::byte*>(host.lower.data) + width;
}

// What has to be placed for the lower ends: of pairs, all ends.
column lower_cells(const probes& host) {
  return are_pairs(host) ? column(host.lower.format, host.lower.data, 2 * host.lower.size)
                         : host.lower;
}

// What has to be placed for the upper ends: nothing if they are in the lower cells.
column upper_cells(const probes& host) {
  return host.is_points || are_pairs(host) ? column() : host.upper;
}

}  // namespace

column slice(const column& all, std::uint64_t begin, std::uint64_t count) {
  column part = all;
  part.data = static_cast<const std::byte*>(all.data) + begin * all.step();
  part.size = count;
  if (all.validity != nullptr) part.validity = all.validity + begin / 8;
  return part;
}

probes slice(const probes& all, std::uint64_t begin, std::uint64_t count) {
  return {slice(all.lower, begin, count), slice(all.upper, begin, count), all.is_points};
}

placed_column::placed_column(const session& on, const column& host) : view_(host) {
  if (context(on).memory.space() == memory_space::host) return;
  cells_ = on.upload(
      std::span(static_cast<const std::byte*>(host.data), bytes_from_first_to_last(host)));
  view_.data = cells_.data();
  if (host.validity == nullptr) return;
  validity_ = on.upload(std::span(host.validity, (host.size + 7) / 8));
  view_.validity = validity_.data();
}

void placed_column::reload(const session& on, const column& host) {
  if (context(on).memory.space() == memory_space::host) return;
  on.copy_in(cells_.data(), host.data, cells_.bytes());
}

placed_probes::placed_probes(const session& on, const probes& host)
    : host_(host), lower_(on, lower_cells(host)), upper_(on, upper_cells(host)) {}

probes placed_probes::view() const {
  if (host_.is_points) return points(lower_.view());
  if (!are_pairs(host_)) return ranges(lower_.view(), upper_.view());
  probes pairs = host_;
  pairs.lower.data = lower_.view().data;
  pairs.upper.data = static_cast<const std::byte*>(pairs.lower.data) + pairs.lower.format.width;
  return pairs;
}

}  // namespace raydex::cli
