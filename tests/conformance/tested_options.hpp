// SPDX-License-Identifier: Apache-2.0
/// @file
/// With which options the conformance tests build each structure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex::test {

// The options that each structure is tested with: the first with every key type, the others with
// one type per width, or, on a CPU and at small scale, with widths in turn. A structure not named
// here is tested with its defaults.
inline const std::map<std::string, std::vector<option_map>>& tested_options() {
  static const std::map<std::string, std::vector<option_map>> all{
      {"sorted_array",
       {{},
        {{"layout", "row"}},
        {{"pin", "steps"}, {"schedule", "static"}, {"threads", "128"}},
        {{"pin", "full"}, {"layout", "row"}, {"lookups", "3"}, {"reorder", "double"}},
        {{"reorder", "single"}, {"threads", "256"}, {"lookups", "4"}, {"scan", "single"}}}},
      {"eytzinger",
       {{},
        {{"layout", "column"}, {"k", "2"}},
        {{"k", "3"}, {"pin", "steps"}, {"lookups", "5"}},
        {{"k", "4"}, {"group", "exact"}, {"layout", "column"}, {"reorder", "double"}},
        {{"k", "17"}, {"scan", "single"}, {"schedule", "static"}},
        {{"k", "33"}, {"pin", "full"}, {"reorder", "single"}}}},
      {"pivot_tree",
       {{},
        {{"nodes", "quantised"}},
        {{"nodes", "narrow"}},
        {{"nodes", "quantised"}, {"pin", "none"}, {"schedule", "dynamic"}},
        {{"nodes", "exact"}, {"threads", "256"}, {"lookups", "2"}},
        {{"layout", "keys"}},
        {{"search", "groups"}},
        {{"search", "groups"}, {"k", "2"}, {"layout", "column"}, {"pin", "steps"}},
        {{"search", "groups"}, {"k", "2"}, {"levels", "3"}, {"pin", "full"}},
        {{"search", "groups"}, {"k", "6"}, {"group", "exact"}, {"reorder", "single"}},
        {{"search", "groups"}, {"k", "33"}, {"levels", "1"}, {"scan", "single"}}}},
      {"btree",
       {{},
        {{"fill", "50"}, {"pin", "none"}, {"schedule", "dynamic"}, {"lookups", "1"}},
        {{"fill", "100"}, {"schedule", "dynamic"}, {"threads", "256"}, {"lookups", "2"}},
        {{"fill", "93"}, {"pin", "none"}, {"scan", "single"}}}},
      {"direct", {{}, {{"limit", "100"}, {"scan", "single"}, {"lookups", "3"}}}},
      {"hash_open",
       {{},
        {{"load", "95"}},
        {{"bucket", "128"}, {"load", "95"}, {"reading", "single"}},
        {{"placement", "jumps"}, {"load", "95"}},
        {{"placement", "choices"}, {"load", "90"}, {"bucket", "128"}},
        {{"placement", "jumps"}, {"load", "10"}, {"reading", "single"}}}},
      {"hash_bucket", {{}, {{"occupancy", "400"}}, {{"occupancy", "25"}, {"reading", "single"}}}},
      {"rx",
       {{},
        {{"hits", "any"}, {"duplicates", "keep"}, {"primitive", "triangle"}, {"order", "batch"}},
        {{"primitive", "box"}, {"hits", "any"}, {"parts", "7"}, {"order", "tiles"}},
        {{"primitive", "box"}, {"duplicates", "keep"}, {"order", "sorted"}},
        {{"primitive", "sphere"}, {"compact", "off"}, {"build", "trace"}},
        {{"primitive", "triangle"}, {"bits", "18/23/23"}, {"ranges", "zero"}, {"parts", "3"}},
        {{"primitive", "triangle"}, {"bits", "23/20/21"}, {"hits", "any"}},
        {{"parts", "7"}, {"scale", "15/21"}},
        {{"parts", "3"}, {"hits", "any"}, {"primitive", "triangle"}},
        {{"inverse", "on"}, {"primitive", "triangle"}, {"scale", "9/18"}},
        {{"primitives", "rows"}, {"parts", "3"}},
        {{"primitives", "rows"}, {"primitive", "sphere"}},
        {{"inverse", "auto"}, {"primitive", "box"}, {"hits", "any"}, {"duplicates", "keep"}}}},
      {"cgrx",
       {{},
        {{"node", "32"}, {"order", "sorted"}, {"scan", "single"}},
        {{"mapping", "bits"}, {"bucket", "4"}, {"parts", "3"}, {"order", "sorted"}},
        {{"mapping", "bits"},
         {"scene", "naive"},
         {"bucket", "3"},
         {"scale", "0/0"},
         {"layout", "packed"}},
        {{"bucket", "2"},
         {"search", "linear"},
         {"parts", "5"},
         {"order", "tiles"},
         {"scene", "naive"},
         {"layout", "packed"}},
        {{"search", "interpolated"},
         {"bucket", "300"},
         {"compact", "on"},
         {"build", "trace"},
         {"layout", "aligned"},
         {"scan", "single"}}}},
  };
  return all;
}

}  // namespace raydex::test
