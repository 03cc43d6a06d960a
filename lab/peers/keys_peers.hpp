// SPDX-License-Identifier: Apache-2.0
// Points asked of other people's structures and of raydex: the same workloads, clock and judge.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/keys/key_span.hpp"
#include "raydex/capability.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {

// A structure of somebody else over one column.
class keys_peer {
 public:
  keys_peer() = default;
  keys_peer(const keys_peer&) = delete;
  keys_peer& operator=(const keys_peer&) = delete;
  virtual ~keys_peer() = default;
  // Queues the lookups of all points on the stream of a context, and takes scratch from there.
  virtual void ask(const context& on, const key_span& points, void* out) const = 0;
};

struct keys_peer_entry {
  const char* name;
  // Builds over a column, in the memory and on the stream of a context; or returns null where it
  // does not take such probes.
  std::function<std::unique_ptr<keys_peer>(const context& on, const key_span& keys, bool ascending)>
      build;
};

// A program: its name and what it does, where its peers live, what they answer, and which
// structures of raydex are asked beside them.
struct keys_peers {
  const char* program;
  const char* description;
  backend where;
  result kind;
  std::string structures;
  std::vector<keys_peer_entry> peers;
};

// Reads the axes of workloads from the arguments, as `raydex bench` does, and prints a CSV table, a
// line a peer and workload. The exit status is 0 where all answers are right.
int run_keys_peers(int argc, char** argv, const keys_peers& all);

}  // namespace raydex::bench
