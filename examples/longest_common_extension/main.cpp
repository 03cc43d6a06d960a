// SPDX-License-Identifier: Apache-2.0
// longest_common_extension FASTA: how far a genome reads the same from pairs of its positions, by
// range minima over its LCP array. Every answer is checked by comparing letters.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/longest_common_extension/common_extensions.hpp"
#include "examples/longest_common_extension/fasta.hpp"
#include "examples/longest_common_extension/suffixes.hpp"
#include "io/file_arguments.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "io/program.hpp"
#include "raydex/raydex.hpp"

namespace raydex::examples {
namespace {

struct arguments {
  std::string genome, lcp;
  std::string structure = "auto";
  std::string backend = "auto";
  std::uint32_t pairs = 1 << 20;
  unsigned mismatches = 3;
};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// What the extensions must be, found letter by letter.
std::uint32_t compare(std::string_view text, const position_pair& pair, unsigned mismatches) {
  const std::uint32_t end = static_cast<std::uint32_t>(text.size()) - std::max(pair.a, pair.b);
  std::uint32_t length = 0;
  for (; length < end; ++length) {
    if (text[pair.a + length] != text[pair.b + length] && mismatches-- == 0) break;
  }
  return length;
}

using pairs_of_positions = std::vector<position_pair>;

// Random pairs of positions.
pairs_of_positions random_pairs(const sorted_suffixes& suffixes, std::uint32_t count,
                                std::mt19937_64& random) {
  std::uniform_int_distribution<std::uint32_t> position(
      0, static_cast<std::uint32_t>(suffixes.ranks.size()) - 1);
  pairs_of_positions pairs(count);
  std::ranges::generate(pairs, [&] { return position_pair{position(random), position(random)}; });
  return pairs;
}

// Pairs of positions where the same passage of at least so many letters begins; none if there is no
// such passage.
pairs_of_positions repeated_pairs(const sorted_suffixes& suffixes, std::uint32_t letters,
                                  std::uint32_t count, std::mt19937_64& random) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 1; rank < suffixes.common.size(); ++rank) {
    if (suffixes.common[rank] >= letters) ranks.push_back(rank);
  }
  if (ranks.empty()) return {};
  std::uniform_int_distribution<std::size_t> choice(0, ranks.size() - 1);
  pairs_of_positions pairs(count);
  std::ranges::generate(pairs, [&] {
    const std::size_t rank = ranks[choice(random)];
    return position_pair{static_cast<std::uint32_t>(suffixes.positions[rank - 1]),
                         static_cast<std::uint32_t>(suffixes.positions[rank])};
  });
  return pairs;
}

// Asks for the extensions of pairs, prints a row of the table if there are any, and returns whether
// all are right.
bool ask(const char* title, common_extensions& extensions, std::string_view text,
         std::span<const position_pair> pairs, unsigned mismatches) {
  if (pairs.empty()) return true;
  const double before = extensions.query_ms();
  const std::vector<std::uint32_t> lengths = extensions.lengths(pairs, mismatches);
  const double query_ms = extensions.query_ms() - before;

  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::uint32_t> compared(pairs.size());
  std::ranges::transform(pairs, compared.begin(), [&](const position_pair& pair) {
    return compare(text, pair, mismatches);
  });
  const double compare_ms = milliseconds_since(begin);

  const bool right = lengths == compared;
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.);
  fmt::print("{:<18} {:>10} {:>8} {:>8} {:>10.1f} {:>10.2f} {:>11.2f}  {}\n", title, mismatches,
             pairs.size(), *std::ranges::max_element(lengths),
             sum / static_cast<double>(lengths.size()), query_ms, compare_ms,
             right ? "✓" : "✗ WRONG");
  return right;
}

bool run(const arguments& args) {
  // Fails before the work if the file cannot be written.
  io::check_outputs(std::array{io::file_argument{"--lcp", args.lcp}},
                    std::array{io::file_argument{"genome", args.genome}});
  std::optional<io::output_file> lcp;
  if (!args.lcp.empty()) lcp.emplace(args.lcp);
  const std::string text = read_fasta(args.genome);
  if (text.empty()) throw invalid_argument(fmt::format("{}: it has no letters", args.genome));
  if (args.pairs == 0) throw invalid_argument("--pairs: 0; at least 1 is needed");
  const auto begin = std::chrono::steady_clock::now();
  const sorted_suffixes suffixes(text);
  fmt::print("{}: {} letters; suffix array, ranks and LCP array in {:.0f} ms\n", args.genome,
             text.size(), milliseconds_since(begin));
  if (lcp) {
    io::write_npy(*lcp, format_of<std::uint32_t>, std::as_bytes(std::span(suffixes.common)));
    lcp->commit();
  }
  const auto longest = std::ranges::max_element(suffixes.common);
  const std::size_t rank = static_cast<std::size_t>(longest - suffixes.common.begin());
  if (*longest != 0) {
    fmt::print("The longest repeat: {} letters, at {} and {}.\n", *longest,
               suffixes.positions[rank - 1], suffixes.positions[rank]);
  }

  const session on(parse_backend(args.backend));
  common_extensions extensions(on, suffixes, args.structure);
  const rmq_info& info = extensions.info();
  fmt::print("{} on {}, {}: built in {:.2f} ms, {} bytes beside the {} of the LCP array\n\n",
             info.structure, to_string(info.where), on.device().name, extensions.build_ms(),
             info.resident_bytes, info.n * info.value.width);

  fmt::print("{:<18} {:>10} {:>8} {:>8} {:>10} {:>10} {:>11}  {}\n", "pairs of positions",
             "mismatches", "pairs", "longest", "on average", "minima, ms", "letters, ms",
             "checked");
  std::mt19937_64 random(args.pairs);
  const pairs_of_positions anywhere = random_pairs(suffixes, args.pairs, random);
  const pairs_of_positions repeats = repeated_pairs(suffixes, 1, args.pairs, random);
  const pairs_of_positions long_repeats = repeated_pairs(suffixes, 100, args.pairs, random);
  bool all_right = true;
  for (const unsigned mismatches : {0U, args.mismatches}) {
    all_right &= ask("anywhere", extensions, text, anywhere, mismatches);
    all_right &= ask("repeats", extensions, text, repeats, mismatches);
    all_right &= ask("100 letters repeat", extensions, text, long_repeats, mismatches);
  }
  return all_right;
}

int parse_and_run(int argc, char** argv) {
  arguments args;
  CLI::App app("Longest common extensions in a genome, by range minima over its LCP array.");
  app.add_option("genome", args.genome, "A FASTA file of one sequence")->required();
  app.add_option("--pairs", args.pairs, "How many pairs of positions of each kind")
      ->capture_default_str();
  app.add_option("--mismatches", args.mismatches, "Letters that may differ")->capture_default_str();
  app.add_option("--structure", args.structure, "See `raydex structures`")->capture_default_str();
  app.add_option("--backend", args.backend, "cpu, cuda, optix or auto")->capture_default_str();
  app.add_option("--lcp", args.lcp, "Where to write the LCP array, an .npy file of <u4");
  CLI11_PARSE(app, argc, argv);
  return run(args) ? 0 : 1;
}

}  // namespace
}  // namespace raydex::examples

int main(int argc, char** argv) {
  try {
    raydex::io::begin_program();
    return raydex::examples::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("longest_common_extension: {}\n", error.what()).c_str(), stderr);
    return 2;
  }
}
