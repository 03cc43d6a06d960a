// SPDX-License-Identifier: Apache-2.0
// `raydex info`: what is in the file of an index.
#pragma once

namespace CLI {
class App;
}

namespace raydex::cli {

void add_info_command(CLI::App& app);

}  // namespace raydex::cli
