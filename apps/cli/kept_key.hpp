// SPDX-License-Identifier: Apache-2.0
// What the keys of a file of an index stand for: its note. The program and the Python package read
// and write the same form (python/raydex/_kept.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/host_column.hpp"
#include "raydex/column.hpp"
#include "raydex/composite_keys.hpp"
#include "raydex/index_file.hpp"

namespace raydex::cli {

// A column of a key.
struct kept_column {
  std::optional<key_format> format{};  // of its cells; nothing for strings
  io::time_kind times = io::time_kind::none;
  std::uint64_t unit = 1;  // of times: nanoseconds
  std::string name{};      // in its table; empty if it has none
  std::string type{};      // for messages
};

// A key.
struct kept_key {
  std::vector<kept_column> columns{};
  std::vector<composite_part> parts{};      // how several columns are packed; else nothing
  std::optional<io::host_strings> words{};  // the different ones, of a column of strings
  std::string obstacle{};  // what of it only Python knows how to ask; empty if there is nothing

  // The types of its columns.
  std::string types() const;
};

// What the note of a file says. Throws `invalid_argument` for one that is none of the index.
kept_key read_note(const std::string& path, const index_file_info& of);

// The note of a key.
std::string note_of(const kept_key& key);

// A note whose columns are packed in another way since, or that has more strings.
std::string repacked_note(const std::string& note, const kept_key& key);

}  // namespace raydex::cli
