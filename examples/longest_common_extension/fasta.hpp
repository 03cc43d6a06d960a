// SPDX-License-Identifier: Apache-2.0
// Genomes in FASTA files.
#pragma once

#include <string>

namespace raydex::examples {

// The letters of a file with a single sequence. Throws `invalid_argument` with one line that names
// the file.
std::string read_fasta(const std::string& path);

}  // namespace raydex::examples
