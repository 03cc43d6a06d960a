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

// The bytes of a bitmap that have bits of so many cells.
buffer<std::uint8_t> bits_of(const session& on, const validity_bitmap& of, std::uint64_t size) {
  return on.upload(std::span(of.first_byte(), (of.first_bit() + size + 7) / 8));
}

}  // namespace

column slice(const column& all, std::uint64_t begin, std::uint64_t count) {
  column part = all;
  part.data = static_cast<const std::byte*>(all.data) + begin * all.step();
  part.size = count;
  part.validity = all.validity.from(begin);
  return part;
}

probes slice(const probes& all, std::uint64_t begin, std::uint64_t count) {
  return {slice(all.lower, begin, count), slice(all.upper, begin, count), all.is_points};
}

key_parts slice(const key_parts& all, std::uint64_t begin, std::uint64_t count) {
  key_parts parts;
  for (const key_part& whole : all) {
    if (const auto* const cells = std::get_if<column>(&whole)) {
      parts.emplace_back(slice(*cells, begin, count));
      continue;
    }
    string_column part = std::get<string_column>(whole);
    part.offsets = static_cast<const std::uint64_t*>(part.offsets) + begin;
    part.size = count;
    part.validity = part.validity.from(begin);
    parts.emplace_back(part);
  }
  return parts;
}

placed_column::placed_column(const session& on, const column& host) : view_(host) {
  if (context(on).memory.space() == memory_space::host) return;
  cells_ = on.upload(
      std::span(static_cast<const std::byte*>(host.data), bytes_from_first_to_last(host)));
  view_.data = cells_.data();
  if (host.validity == nullptr) return;
  validity_ = bits_of(on, host.validity, host.size);
  view_.validity = {validity_.data(), host.validity.first_bit()};
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

placed_strings::placed_strings(const session& on, const string_column& host) : view_(host) {
  if (context(on).memory.space() == memory_space::host) return;
  const auto* const first = static_cast<const std::uint64_t*>(host.offsets);
  // Of a slice only its own bytes are copied, so that they begin at 0.
  std::vector<std::uint64_t> offsets(first, first + host.size + 1);
  const std::uint64_t begin = offsets.front();
  for (std::uint64_t& offset : offsets)
    offset -= begin;
  bytes_ = on.upload(std::span(host.bytes + begin, offsets.back()));
  offsets_ = on.upload(offsets);
  view_.bytes = bytes_.data();
  view_.offsets = offsets_.data();
  if (host.validity == nullptr) return;
  validity_ = bits_of(on, host.validity, host.size);
  view_.validity = {validity_.data(), host.validity.first_bit()};
}

placed_key::placed_key(const session& on, const key_parts& host) {
  for (const key_part& part : host) {
    if (const auto* const cells = std::get_if<column>(&part)) {
      parts_.emplace_back(placed_column(on, *cells));
    } else {
      parts_.emplace_back(placed_strings(on, std::get<string_column>(part)));
    }
  }
}

key_parts placed_key::view() const {
  key_parts views;
  for (const auto& part : parts_)
    std::visit([&](const auto& placed) { views.emplace_back(placed.view()); }, part);
  return views;
}

}  // namespace raydex::cli
