// SPDX-License-Identifier: Apache-2.0
// Host columns where a backend can read them: in place on cpu, copies elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "raydex/column.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// `count` cells from `begin` on, a multiple of 8.
column slice(const column& all, std::uint64_t begin, std::uint64_t count);
// The same of probes.
probes slice(const probes& all, std::uint64_t begin, std::uint64_t count);
// The same of the columns of a key.
key_parts slice(const key_parts& all, std::uint64_t begin, std::uint64_t count);

// A column that the session's backend can read. The host column must outlive it.
class placed_column {
 public:
  placed_column(const session& on, const column& host);
  const column& view() const noexcept { return view_; }

  // Takes over the cells of the host column, which have changed.
  void reload(const session& on, const column& host);

 private:
  buffer<std::byte> cells_;
  buffer<std::uint8_t> validity_;
  column view_;
};

// Probes that the session's backend can read. The host columns must outlive them.
class placed_probes {
 public:
  placed_probes(const session& on, const probes& host);
  probes view() const;

 private:
  probes host_;
  placed_column lower_;
  placed_column upper_;  // empty where the lower one's cells serve both
};

// Strings that the session's backend can read. The host column, whose offsets have 64 bits, must
// outlive them.
class placed_strings {
 public:
  placed_strings(const session& on, const string_column& host);
  const string_column& view() const noexcept { return view_; }

 private:
  buffer<char> bytes_;
  buffer<std::uint64_t> offsets_;
  buffer<std::uint8_t> validity_;
  string_column view_;
};

// The columns of a key, likewise.
class placed_key {
 public:
  placed_key(const session& on, const key_parts& host);
  key_parts view() const;

 private:
  std::vector<std::variant<placed_column, placed_strings>> parts_;
};

}  // namespace raydex::cli
