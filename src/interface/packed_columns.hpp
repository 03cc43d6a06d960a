// SPDX-License-Identifier: Apache-2.0
// The columns of a composite key as they are packed: some of them numbered, the first ones perhaps
// together.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "raydex/composite_keys.hpp"
#include "raydex/key_dictionary.hpp"
#include "src/interface/host_copies.hpp"

namespace raydex {

// The bounds of the column behind those that are equal: values, or what strings begin with.
struct column_bounds {
  std::optional<key_part> lower = std::nullopt, upper = std::nullopt;
  std::optional<string_column> prefixes = std::nullopt;
};

// A column of keys that were taken apart, in host memory.
struct unpacked_column {
  std::optional<key_format> format;  // nothing for strings
  buffer<std::uint64_t> codes;       // of its cells; of strings their places among `words`
  buffer<std::uint8_t> there;        // 0 for a missing cell, a byte each
  owned_strings words;
};

// Columns that take up to 64 bits together. The first one may be the numbers of the keys of others,
// the *head*, which the columns of a key begin with.
struct packed_columns {
  std::unique_ptr<packed_columns> head;
  std::vector<composite_part> parts;
  std::vector<std::optional<key_dictionary>> words;  // of each part that is numbered

  // Of the key that they are of.
  std::size_t columns() const { return columns_of_head() + parts.size() - (head ? 1 : 0); }
  std::uint64_t resident_bytes() const;

  packed_keys pack(backend where, const context& on, std::span<const key_part> columns,
                   bool are_rows) const;
  packed_ranges pack_ranges(backend where, const context& on, std::span<const key_part> equal,
                            const column_bounds& bounds) const;
  packed_keys pack_closest(backend where, const context& on, std::span<const key_part> columns,
                           closest_number which) const;
  bool holds(backend where, const context& on, std::span<const key_part> columns) const;
  // What the keys of rows, in host memory, were made of.
  std::vector<unpacked_column> unpack(const host_copies& by, buffer<std::uint64_t> keys) const;

 private:
  // Columns of numbers, and those that were made.
  struct numbered_cells {
    std::vector<column> columns;
    std::vector<packed_keys> made;

    void add(packed_keys&& numbers) {
      columns.push_back(numbers.view());
      made.push_back(std::move(numbers));
    }
  };

  std::size_t columns_of_head() const { return head ? head->columns() : 0; }
  // The place among the parts of a column that the head has not.
  std::size_t part_of(std::size_t column) const {
    return column - columns_of_head() + (head ? 1 : 0);
  }
  unpacked_column unpack_part(const host_copies& by, std::size_t p,
                              buffer<std::uint64_t>& keys) const;
  void add_head(numbered_cells& to, backend where, const context& on,
                std::span<const key_part> columns, bool are_rows) const;
  void add_own(numbered_cells& to, const context& on, std::span<const key_part> columns) const;
  void add_needed(key_parts& to, std::span<const key_part> columns) const;
  packed_keys place_of_head(backend where, const context& on, std::span<const key_part> columns,
                            closest_number before) const;
};

// Of columns that were checked, and may take any number of bits. `rows` gets their keys if not
// null. `before`: what columns were that may have outgrown their spans; none: they were none.
std::unique_ptr<packed_columns> pack_columns(backend where, const context& on,
                                             std::span<const composite_column> columns,
                                             std::vector<composite_part>& parts, packed_keys* rows,
                                             std::span<const composite_part> before);

// Whether first, last and step of a part are those of a column of its format, and its bits suffice.
bool has_span(const composite_part& part);

// Of parts without numbers, which are checked.
std::unique_ptr<packed_columns> columns_of_parts(const std::vector<composite_part>& parts);

}  // namespace raydex
