// SPDX-License-Identifier: Apache-2.0
// raydex_key_kinds: builds and points of keys that are no numbers of 64 bits, on any backend:
// strings and UUIDs by a key_dictionary, pairs of columns by composite_keys. Beside them the
// streamed gather from a table of 16 bytes a key, and the sort of as many 64-bit keys with their
// rows. Rows are compared with what was asked for. Prints CSV.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lab/machine/machine.hpp"
#include "lab/machine/median.hpp"
#include "lab/machine/parallel.hpp"
#include "lab/workloads/random.hpp"
#include "raydex/raydex.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::string where = "cuda";
  std::uint64_t keys = std::uint64_t{1} << 26;
  int repetitions = 7;
  std::vector<std::string> shapes = {"uuids", "pairs32", "pairs64", "words", "common", "hosts"};
  std::vector<std::string> structures = {"pivot_tree", "by_row"};
};

// Random numbers of a seed.
class drawn {
 public:
  explicit drawn(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t operator()() { return random(seed_, stream::values, next_++); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

// The bytes of a key of a shape, by its seed.
std::uint64_t size_of_key(const std::string& shape, std::uint64_t seed) {
  if (shape == "uuids" || shape == "pairs64") return 16;
  if (shape == "pairs32") return 8;
  drawn next(seed);
  if (shape == "words") return 12 + next() % 29;
  if (shape == "common") return 64 + 8 + next() % 17;
  return 46;
}

void put_key(const std::string& shape, std::uint64_t seed, char* out, std::uint64_t size) {
  drawn next(seed);
  next();  // which sizes are drawn by
  constexpr std::string_view common =
      "https://www.example.com/a/path/that/all/of/them/have/in/common/?";
  std::uint64_t at = 0;
  if (shape == "hosts") {
    const std::string text = fmt::format("https://host{:03}.example.org/products/{:09}",
                                         next() % 1000, next() % 1'000'000'000);
    for (; at < size; ++at)
      out[at] = text[at];
    return;
  }
  if (shape == "common")
    for (; at < common.size(); ++at)
      out[at] = common[at];
  const bool is_text = shape == "words" || shape == "common";
  for (std::uint64_t word = 0; at < size; ++at, word >>= 8) {
    if (word == 0) word = next();
    out[at] = static_cast<char>(is_text ? 'a' + (word & 255) % 26 : word & 255);
  }
}

// Strings one after the other, and where each begins.
struct drawn_keys {
  std::vector<char> bytes;
  std::vector<std::uint64_t> offsets;

  drawn_keys(const std::string& shape, const std::vector<std::uint64_t>& seeds)
      : offsets(seeds.size() + 1) {
    parallel_for(seeds.size(),
                 [&](std::uint64_t i) { offsets[i + 1] = size_of_key(shape, seeds[i]); });
    for (std::uint64_t i = 0; i < seeds.size(); ++i)
      offsets[i + 1] += offsets[i];
    bytes.resize(offsets.back());
    parallel_for(seeds.size(), [&](std::uint64_t i) {
      put_key(shape, seeds[i], bytes.data() + offsets[i], offsets[i + 1] - offsets[i]);
    });
  }
};

// The same where the backend is: as strings, or as two columns of records.
class placed_keys {
 public:
  placed_keys(const session& on, const std::string& shape, const drawn_keys& from)
      : bytes_(on.upload(from.bytes)),
        offsets_(on.upload(from.offsets)),
        size_(from.offsets.size() - 1) {
    if (shape.starts_with("pairs")) width_ = shape == "pairs32" ? 4 : 8;
  }
  bool are_pairs() const { return width_ != 0; }
  string_column strings() const { return {bytes_.data(), offsets_.data(), true, size_, {}}; }
  key_parts columns() const {
    const key_format format(width_ == 4 ? key_type::int32 : key_type::int64);
    column first(format, bytes_.data(), size_);
    first.stride = 2 * width_;
    column second = first;
    second.data = bytes_.data() + width_;
    return {first, second};
  }

 private:
  buffer<char> bytes_;
  buffer<std::uint64_t> offsets_;
  std::uint64_t size_;
  std::uint64_t width_ = 0;
};

// An index over keys, by their numbers.
class indexed_keys {
 public:
  indexed_keys(const session& on, const std::string& structure, const placed_keys& keys) {
    packed_keys numbers;
    packed_keys rows;
    if (keys.are_pairs()) {
      std::vector<composite_column> columns;
      for (const raydex::key_part& one : keys.columns())
        columns.emplace_back(one);
      columns_.emplace(on.where(), on, columns, &numbers);
      over_ = build(structure, on.where(), on, numbers.view());
    } else {
      const bool by_row = structure == "by_row";
      words_.emplace(on.where(), on, keys.strings(), &numbers, by_row ? nullptr : &rows,
                     by_row ? key_numbering::by_row : key_numbering::by_order);
      over_ = by_row ? build("direct", on.where(), on, numbers.view())
                     : build(structure, on.where(), on, numbers.view(), rows.view());
    }
  }
  void first(const session& on, const placed_keys& wanted, buffer<std::uint32_t>& out) const {
    const packed_keys numbers = words_ ? words_->numbers(on, wanted.strings())
                                       : columns_->pack_points(on, wanted.columns());
    over_->first(on, points(numbers.view()), out);
  }
  std::uint64_t resident_bytes() const {
    return over_->info().resident_bytes +
           (words_ ? words_->resident_bytes() : columns_->resident_bytes());
  }

 private:
  std::optional<key_dictionary> words_;
  std::optional<composite_keys> columns_;
  std::unique_ptr<index> over_;
};

std::vector<std::uint64_t> seeds_of(std::uint64_t count, std::uint64_t range) {
  std::vector<std::uint64_t> all(count);
  parallel_for(count, [&](std::uint64_t i) { all[i] = range == 0 ? i : drawn(i)() % range; });
  return all;
}

double gather_ms(machine& of, std::uint64_t table_bytes, std::uint64_t probes, int repetitions) {
  const session& on = of.on();
  buffer<std::uint64_t> table(on, table_bytes / sizeof(std::uint64_t));
  buffer<std::uint32_t> places(on, probes);
  buffer<std::uint32_t> out(on, probes);
  of.poison(table.data(), table.bytes());
  of.fill_random(1, places.data(), probes);
  std::vector<double> times;
  for (int i = 0; i <= repetitions; ++i)
    times.push_back(of.milliseconds(
        [&] { of.gather(table.data(), table.size(), places.data(), out.data(), probes); }));
  times.erase(times.begin());
  return median(times);
}

void measure(const settings& asked, machine& of, const std::string& shape) {
  const session& on = of.on();
  const std::vector<std::uint64_t> wanted = seeds_of(asked.keys, asked.keys);
  const drawn_keys keys(shape, seeds_of(asked.keys, 0));
  const placed_keys placed(on, shape, keys);
  const placed_keys probes(on, shape, drawn_keys(shape, wanted));
  const double floor_ms = gather_ms(of, 16 * asked.keys, asked.keys, asked.repetitions);
  buffer<std::uint64_t> codes(on, asked.keys);
  of.fill_random(2, reinterpret_cast<std::uint32_t*>(codes.data()), 2 * asked.keys);
  const double sort_ms =
      of.sort_pairs_ms({codes.data(), codes.size(), 64}, row_id_type::uint32, asked.repetitions);
  codes = {};
  for (const std::string& structure : asked.structures) {
    if (structure == "by_row" && placed.are_pairs()) continue;  // a dictionary is of one column
    std::vector<double> builds, points;
    std::unique_ptr<indexed_keys> made;
    for (int i = 0; i < 3; ++i) {
      made = nullptr;
      builds.push_back(
          of.milliseconds([&] { made = std::make_unique<indexed_keys>(on, structure, placed); }));
    }
    buffer<std::uint32_t> rows(on, asked.keys);
    for (int i = 0; i <= asked.repetitions; ++i)
      points.push_back(of.milliseconds([&] { made->first(on, probes, rows); }));
    points.erase(points.begin());
    const auto found = on.download(rows);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < asked.keys; ++i) {
      const std::uint64_t row = found[i];
      if (row == wanted[i]) continue;
      const auto text = [&](std::uint64_t r) {
        return std::string_view(keys.bytes.data() + keys.offsets[r],
                                keys.offsets[r + 1] - keys.offsets[r]);
      };
      if (row >= wanted[i] || text(row) != text(wanted[i])) ++wrong;
    }
    const double ms = median(points);
    fmt::print("{},{},{},{:.2f},{:.2f},{:.3f},{:.3f},{:.2f},{:.1f},{}\n", shape, structure,
               asked.keys, median(builds), sort_ms, ms, floor_ms, floor_ms / ms,
               static_cast<double>(made->resident_bytes()) / static_cast<double>(asked.keys),
               wrong);
    std::fflush(stdout);
    if (wrong != 0) throw std::runtime_error(fmt::format("{}: wrong answers", shape));
  }
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) try {
  using namespace raydex::bench;
  CLI::App app("Builds and points of strings, UUIDs and pairs of columns");
  settings asked;
  app.add_option("--backend", asked.where, "cpu or cuda");
  app.add_option("--keys", asked.keys, "keys, and as many points");
  app.add_option("--shapes", asked.shapes, "uuids, pairs32, pairs64, words, common, hosts")
      ->delimiter(',');
  app.add_option("--structures", asked.structures, "what is built over numbers by order; or by_row")
      ->delimiter(',');
  app.add_option("--repetitions", asked.repetitions, "whose median counts");
  CLI11_PARSE(app, argc, argv);
  const raydex::session on(raydex::parse_backend(asked.where));
  const auto of = make_machine(on);
  fmt::print("shape,structure,keys,build_ms,sort_ms,points_ms,gather_ms,ratio,bytes_a_key,wrong\n");
  for (const std::string& shape : asked.shapes)
    measure(asked, *of, shape);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "raydex_key_kinds: {}\n", e.what());
  return 1;
}
