// SPDX-License-Identifier: Apache-2.0
// Genomes in FASTA files: a line that begins with >, then lines of letters.
#include "examples/longest_common_extension/fasta.hpp"

#include <fmt/format.h>

#include <cctype>

#include "io/input_file.hpp"
#include "raydex/error.hpp"

namespace raydex::examples {

std::string read_fasta(const std::string& path) {
  io::input_file file = io::open_input(path);
  const auto fail = [&](const char* problem) {
    throw invalid_argument(fmt::format("{}: {}", path, problem));
  };
  std::string line;
  if (!io::read_line(file.stream, path, line) || !line.starts_with('>')) {
    fail("it is not a FASTA file: it does not begin with >");
  }
  std::string letters;
  letters.reserve(file.size);
  while (io::read_line(file.stream, path, line)) {
    if (line.starts_with('>')) fail("it holds several sequences; give a file of one");
    for (const char c : line) {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) letters += c;
    }
  }
  return letters;
}

}  // namespace raydex::examples
