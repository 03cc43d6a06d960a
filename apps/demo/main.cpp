// SPDX-License-Identifier: Apache-2.0
// raydex_demo DATA_DIR: asks every flight that left New York City in 2013 some questions through
// indexes, checks each answer by a plain scan, and prints what it took.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/demo/plain_scan.hpp"
#include "apps/demo/resident_column.hpp"
#include "io/program.hpp"
#include "io/read.hpp"
#include "raydex/raydex.hpp"

namespace raydex::demo {
namespace {

using tail_number = std::array<char, 8>;

// Milliseconds that the work takes, queued work included: the fastest of three runs, so that
// neither the first launch of a kernel nor a busy machine shows.
template <class Work>
double milliseconds(const session& on, Work&& work) {
  using clock = std::chrono::steady_clock;
  double fastest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    on.synchronize();
    const auto begin = clock::now();
    work();
    on.synchronize();
    fastest =
        std::min(fastest, std::chrono::duration<double, std::milli>(clock::now() - begin).count());
  }
  return fastest;
}

// The table on the terminal, and whether all of its checks passed.
class table {
 public:
  void print_head() {
    fmt::print("{:<9} {:<6} {:>6} {:>6}  {:<42} {:<5} {:>6} {:>6} {:>7}  {}\n", "column", "keys",
               "bytes/", "build", "question", "asks", "probes", "rows", "lookup", "checked");
    fmt::print("{:<9} {:<6} {:>6} {:>6}  {:<42} {:<5} {:>6} {:>6} {:>7}\n", "", "", "key", "ms", "",
               "for", "", "found", "µs");
    fmt::print("{:─<105}\n", "");
  }

  void print_row(const std::string& column, const char* text, const char* result,
                 std::size_t probes, std::size_t matches, double ms, bool right) {
    fmt::print("{}  {:<42} {:<5} {:>6} {:>6} {:>7.1f}  {}\n", column, text, result, probes, matches,
               1000 * ms, right ? "✓" : "✗ WRONG");
    all_right_ = all_right_ && right;
  }

  bool all_right() const { return all_right_; }

 private:
  bool all_right_ = true;
};

// A column of the flights with an index over it. Each question is answered by the index on the
// backend, checked by a plain scan on the host, and becomes a row of the table.
template <class Key>
class indexed_column {
 public:
  indexed_column(const session& on, table& out, const char* name, const io::host_column& host)
      : on_(on), out_(out), host_(host), keys_(on, host) {
    const double ms =
        milliseconds(on, [&] { index_ = build("auto", on_.where(), on_, keys_.view()); });
    const index_info& info = index_->info();
    head_ = fmt::format(
        "{:<9} {:<6} {:>6.1f} {:>6.2f}", name, to_string(info.key),
        static_cast<double>(info.resident_bytes) / static_cast<double>(info.entries), ms);
  }

  // How many rows match each probe.
  std::vector<std::uint64_t> count(const question<Key>& query) {
    return ask<std::uint64_t>(
        query, "count",
        [&](const probes& batch, buffer<std::uint64_t>& out) {
          index_->count(on_, batch, {out.data(), out.size()});
        },
        [](const std::vector<std::uint32_t>& rows) { return std::uint64_t{rows.size()}; });
  }

  // The first row that matches each probe, or `not_found`.
  std::vector<std::uint32_t> first(const question<Key>& query) {
    return ask<std::uint32_t>(
        query, "first",
        [&](const probes& batch, buffer<std::uint32_t>& out) {
          index_->first(on_, batch, std::span(out.data(), out.size()));
        },
        [](const std::vector<std::uint32_t>& rows) {
          return rows.empty() ? not_found<std::uint32_t> : rows.front();
        });
  }

  // The sum of another column over the rows that match each probe. Value: what the column holds,
  // Sum: what its sums are.
  template <class Value, class Sum>
  std::vector<Sum> sum(const question<Key>& query, const io::host_column& values) {
    const resident_column resident(on_, values);
    return ask<Sum>(
        query, "sum",
        [&](const probes& batch, buffer<Sum>& out) {
          index_->sum(on_, batch, resident.view(), std::span(out.data(), out.size()));
        },
        [&](const std::vector<std::uint32_t>& rows) {
          return std::accumulate(rows.begin(), rows.end(), Sum{0}, [&](Sum sum, std::uint32_t row) {
            return is_present(values, row) ? sum + static_cast<Sum>(cells<Value>(values)[row])
                                           : sum;
          });
        });
  }

  // All rows that match each probe. The probes are points: the scan finds rows in ascending order,
  // as the index gives the rows of one key.
  void rows(const question<Key>& query) {
    const resident_column points_there(on_, query.lower);
    const probes batch = points(points_there.view());
    matches found;
    const double ms = milliseconds(on_, [&] { found = index_->rows(on_, batch); });

    const auto scanned = plain_scan(host_, query);
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint32_t> all;
    for (const auto& rows : scanned) {
      all.insert(all.end(), rows.begin(), rows.end());
      offsets.push_back(all.size());
    }
    std::vector<std::uint32_t> answers(found.total);
    on_.copy_out(answers.data(), found.rows.data(), answers.size() * sizeof(answers[0]));
    const bool right = answers == all && on_.download(found.offsets) == offsets;
    print_row(query, "rows", all.size(), ms, right);
  }

 private:
  template <class Answer, class Lookup, class Expect>
  std::vector<Answer> ask(const question<Key>& query, const char* result, Lookup&& lookup,
                          Expect&& expect) {
    const resident_column lower(on_, query.lower);
    const resident_column upper(on_, query.upper);
    const probes batch =
        query.is_points() ? points(lower.view()) : ranges(lower.view(), upper.view());
    buffer<Answer> out(on_, query.size());
    const double ms = milliseconds(on_, [&] { lookup(batch, out); });
    std::vector<Answer> answers = on_.download(out);

    bool right = true;
    std::size_t matches = 0;
    const auto scanned = plain_scan(host_, query);
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      right = right && answers[i] == expect(scanned[i]);
      matches += scanned[i].size();
    }
    print_row(query, result, matches, ms, right);
    return answers;
  }

  void print_row(const question<Key>& query, const char* result, std::size_t matches, double ms,
                 bool right) {
    out_.print_row(head_, query.text, result, query.size(), matches, ms, right);
    head_ = std::string(30, ' ');  // the column is named once
  }

  const session& on_;
  table& out_;
  const io::host_column& host_;
  resident_column keys_;
  std::unique_ptr<index> index_;
  std::string head_;
};

// The ranges [first, first + width - gap], [first + width, ..], and so on, `count` of them.
template <class Key>
question<Key> bands(const char* text, Key first, Key width, Key gap, int count) {
  question<Key> query{text, {}};
  for (int i = 0; i < count; ++i) {
    query.lower.push_back(first + static_cast<Key>(i) * width);
    query.upper.push_back(query.lower.back() + width - gap);
  }
  return query;
}

bool run(const std::string& data) {
  const std::string flights = data + "/flights.csv:";
  const auto distance = io::read_column(flights + "distance:i4");
  const auto delay = io::read_column(flights + "arr_delay:f8");  // NA where it never arrived
  const auto tail = io::read_column(flights + "tailnum:S8");
  const auto plane_column = io::read_column(data + "/planes.csv:tailnum:S8");
  const std::vector<tail_number> planes(cells<tail_number>(plane_column),
                                        cells<tail_number>(plane_column) + plane_column.size);

  const session on;
  fmt::print("{} flights that left New York City in 2013, on {}: {}\n", tail.size,
             to_string(on.where()), on.device().name);
  if (on.where() == backend::cpu) {
    fmt::print("(no GPU is used here: {})\n", why_unavailable(backend::cuda));
  }
  fmt::print("\n");

  table out;
  out.print_head();

  indexed_column<std::int32_t> by_distance(on, out, "distance", distance);
  std::vector<std::int32_t> miles(5000);
  std::iota(miles.begin(), miles.end(), 0);
  by_distance.count({"flights of exactly 0, 1, .. 4999 miles", miles});
  by_distance.sum<double, double>(bands("minutes late, by hundreds of miles", 0, 100, 1, 50),
                                  delay);

  indexed_column<double> by_delay(on, out, "arr_delay", delay);
  const auto quarters =
      by_delay.count(bands("flights by quarter hours late, from -1:30", -90., 15., 1., 92));
  std::vector<double> minutes(1500);
  std::iota(minutes.begin(), minutes.end(), -100.);
  by_delay.first({"first flight late by -100, .. 1399 minutes", minutes});

  indexed_column<tail_number> by_tail(on, out, "tailnum", tail);
  by_tail.rows({"all flights of each registered plane", planes});
  const auto flown = by_tail.sum<std::int32_t, std::int64_t>(
      {"miles flown by each registered plane", planes}, distance);
  by_tail.count({"flights by first digit of tail number",
                 {{"N1"}, {"N2"}, {"N3"}, {"N4"}, {"N5"}, {"N6"}, {"N7"}, {"N8"}, {"N9"}},
                 {{"N1ZZZZZ"},
                  {"N2ZZZZZ"},
                  {"N3ZZZZZ"},
                  {"N4ZZZZZ"},
                  {"N5ZZZZZ"},
                  {"N6ZZZZZ"},
                  {"N7ZZZZZ"},
                  {"N8ZZZZZ"},
                  {"N9ZZZZZ"}}});

  const auto farthest = std::max_element(flown.begin(), flown.end()) - flown.begin();
  const auto arrived = std::accumulate(quarters.begin(), quarters.end(), std::uint64_t{0});
  const auto early = std::accumulate(quarters.begin(), quarters.begin() + 6, std::uint64_t{0});
  fmt::print("\n{} flew farthest, {} miles. {:.0f} % of the flights that arrived were early.\n",
             planes[static_cast<std::size_t>(farthest)].data(),
             flown[static_cast<std::size_t>(farthest)],
             100. * static_cast<double>(early) / static_cast<double>(arrived));
  fmt::print("{}\n", out.all_right() ? "Every answer equals that of a plain scan."
                                     : "Some answers differ from those of a plain scan.");
  return out.all_right();
}

}  // namespace
}  // namespace raydex::demo

int main(int argc, char** argv) {
  constexpr const char* usage = "usage: raydex_demo FOLDER, one with flights.csv and planes.csv";
  try {
    raydex::io::begin_program();
    if (argc != 2) throw raydex::invalid_argument(usage);
    if (std::string_view(argv[1]) == "--help") {
      fmt::print("{}\n", usage);
      return std::fflush(stdout) == 0 ? 0 : 2;
    }
    return raydex::demo::run(argv[1]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fputs(fmt::format("raydex_demo: {}\n", error.what()).c_str(), stderr);
    return 2;
  }
}
