// SPDX-License-Identifier: Apache-2.0
// Runs a case on a backend and compares all that it answers with the oracle.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/random/case.hpp"
#include "tests/random/failing_memory.hpp"

namespace raydex::test {

// The backend, opened once for all cases, with a stream for each of the threads that ask at once.
class place {
 public:
  static constexpr unsigned most_threads = 4;
  // Builds an index as `raydex::build` does; a test may replace it by a wrong build.
  using builder =
      std::function<std::unique_ptr<index>(std::string_view, backend, const context&, const column&,
                                           const std::optional<column>&, const option_map&)>;

  explicit place(const subject& tested, builder build = raydex::build);
  const subject& tested() const { return tested_; }
  const builder& build() const { return build_; }
  const session& at() const { return *sessions_.front(); }
  // The session of a thread.
  const session& at(unsigned thread) const { return *sessions_[thread]; }

 private:
  subject tested_;
  builder build_;
  std::vector<std::unique_ptr<session>> sessions_;
};

// An answer differs from the oracle's, or something else is wrong.
class disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Parts>
void require(bool holds, fmt::format_string<Parts...> text, Parts&&... parts) {
  if (!holds) throw disagreement(fmt::format(text, std::forward<Parts>(parts)...));
}

// Does a part of a case, and names it if it goes wrong.
template <class Do>
void do_part(const std::string& name, Do&& part) {
  try {
    part();
  } catch (const disagreement& difference) {
    throw disagreement(fmt::format("{}: {}", name, difference.what()));
  } catch (const std::exception& e) {
    throw disagreement(fmt::format("{}: it throws {}: {}", name, typeid(e).name(), e.what()));
  }
}

// What differed; nothing if all is right.
std::optional<std::string> try_case(const place& where, const test_case& tried);

// The kinds of cases. Throw `disagreement`.
void try_joins(const place& where, const test_case& tried);
void try_keys(const place& where, const test_case& tried);
void try_minima(const place& where, const test_case& tried);

// Which cells are present, as an Arrow bitmap from a bit on; those beside them are set.
std::vector<std::uint8_t> bitmap(const std::vector<cell>& cells, std::uint64_t first_bit);
// Where the bitmap of cells that lie so begins: at any bit.
inline std::uint64_t first_bit_of(const placing& lie) {
  return std::uint64_t{11} * lie.skew;
}

// Cells in the backend's memory.
class placed_column {
 public:
  placed_column(const session& at, key_format format, const std::vector<cell>& cells,
                const placing& lie, bool masked, std::uint64_t cell::*what = &cell::bits);
  const column& view() const { return view_; }

 private:
  buffer<std::byte> cells_;
  buffer<std::uint8_t> bits_;
  column view_;
};

// The ends of a step's ranges.
class placed_ranges {
 public:
  placed_ranges(const session& at, const test_case& of, const std::vector<range>& all,
                bool as_points);
  const probes& view() const { return view_; }

 private:
  std::vector<placed_column> ends_;
  probes view_;
};

// Makes one call of the library, in which an allocation is to fail. Returns whether the call
// succeeded; if not, it threw an error of the library.
template <class Call>
bool survives(failing_resource& memory, const fault& what, Call&& call) {
  const armed_fault armed(memory, what);
  try {
    call();
    return true;
  } catch (const unsupported&) {
    throw;
  } catch (const error& e) {
    if (armed.has_struck()) return false;
    throw;
  }
}

// Makes a query that may fail, and then repeats it.
template <class Call>
void query(failing_resource& memory, const fault& what, Call&& call) {
  const std::size_t before = memory.held();
  if (survives(memory, what, call)) return;
  require(memory.held() == before, "a failed query leaks {} bytes", memory.held() - before);
  call();
}

}  // namespace raydex::test
