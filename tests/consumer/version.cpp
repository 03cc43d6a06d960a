// SPDX-License-Identifier: Apache-2.0
// Prints the version of the raydex that it is compiled with, as a text and as numbers.
#include <iostream>
#include <raydex/version.hpp>

int main() {
  std::cout << RAYDEX_VERSION " " << RAYDEX_VERSION_MAJOR << '.' << RAYDEX_VERSION_MINOR << '.'
            << RAYDEX_VERSION_PATCH << '\n';
}
