// SPDX-License-Identifier: Apache-2.0
// Keys of several columns, and of strings of any length, as numbers that an index takes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "apps/cli/kept_key.hpp"
#include "apps/cli/query_inputs.hpp"
#include "io/host_column.hpp"
#include "raydex/composite_keys.hpp"
#include "raydex/key_dictionary.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// Points, or ranges if there are upper ends.
struct host_probes {
  io::host_column lower;
  std::optional<io::host_column> upper{};

  // The probes as the library takes them, valid as long as these.
  probes view() const { return upper ? ranges(lower.view(), upper->view()) : points(lower.view()); }
};

// The columns of a key as numbers of 32 or 64 bits, in host memory. A column of strings alone has
// those of its dictionary, as in the files of the Python package.
class packed_key {
 public:
  // Of the columns that an index is built over, and of others whose rows are inserted, perhaps
  // none.
  packed_key(const std::vector<io::host_key_part>& keys,
             const std::vector<io::host_key_part>& inserted);
  // Of a file. Throws `invalid_argument` for one that has not what an index over these has.
  packed_key(const kept_key& kept, const std::string& path, key_format format);

  // The numbers of the rows that the index is built over.
  const io::host_column& keys() const noexcept { return keys_; }
  // Those of rows that are inserted, which it `holds`.
  io::host_column inserted(const std::vector<io::host_key_part>& rows) const;
  bool holds(const std::vector<io::host_key_part>& rows) const;
  // An index with rows that the key does not hold, which it holds from then on.
  std::unique_ptr<index> grow(const index& over, const std::vector<io::host_key_part>& rows,
                              const io::host_column& row_ids);
  // Those of the rows that are inserted.
  const io::host_column& inserted() const noexcept { return inserted_; }
  // What is asked: of fewer columns than the key has, all rows that begin with them match.
  host_probes pack(question asks, const std::vector<io::host_key_part>& asked) const;
  // The numbers closest to points, see `composite_keys::pack_closest`.
  host_probes closest(const std::vector<io::host_key_part>& points, closest_number which) const;
  // Whether no number is greater than all keys.
  bool is_full() const noexcept;
  // Bytes of the dictionaries.
  std::uint64_t resident_bytes() const noexcept;
  // Has a note say how columns are packed, or which strings there are. Returns whether one can:
  // not of several columns if a dictionary numbers some.
  bool describe(kept_key& note) const;

 private:
  session on_;
  std::optional<composite_keys> columns_;
  std::optional<key_dictionary> words_;  // in place of `columns_`
  io::host_column keys_, inserted_;
};

}  // namespace raydex::cli
