// SPDX-License-Identifier: Apache-2.0
// raydex_hash_maps: hash maps that C++ programs use on CPUs, std::unordered_map and Abseil's
// flat_hash_map, beside the hash tables of raydex. Maps are built by one thread, since they know no
// other way, and asked by all cores.
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "lab/machine/parallel.hpp"
#include "lab/peers/keys_peers.hpp"

namespace raydex::bench {
namespace {

template <class Map>
class map_peer final : public keys_peer {
  using key = typename Map::key_type;

 public:
  explicit map_peer(const key_span& keys) {
    rows_.reserve(keys.size);
    for (std::uint32_t row = 0; row < keys.size; ++row)
      rows_.emplace(keys.as<const key>()[row], row);  // of equal keys, the first stays
  }
  void ask(const context& /*on*/, const key_span& points, void* out) const override {
    const auto* const wanted = points.as<const key>();
    auto* const found = static_cast<std::uint32_t*>(out);
    parallel_for(points.size, [&](std::uint64_t i) {
      const auto at = rows_.find(wanted[i]);
      found[i] = at == rows_.end() ? not_found<std::uint32_t> : at->second;
    });
  }

 private:
  Map rows_;
};

template <template <class...> class Map>
std::unique_ptr<keys_peer> build(const context& /*on*/, const key_span& keys, bool /*ascending*/) {
  return with_width(keys.bits, [&](auto zero) -> std::unique_ptr<keys_peer> {
    return std::make_unique<map_peer<Map<decltype(zero), std::uint32_t>>>(keys);
  });
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) {
  using namespace raydex::bench;
  return run_keys_peers(
      argc, argv,
      {.program = "raydex_hash_maps",
       .description = "Points asked of hash maps on the CPU; the options of `raydex bench`.",
       .where = raydex::backend::cpu,
       .kind = result::first,
       .structures = "hash_open",
       .peers = {{"std::unordered_map", build<std::unordered_map>},
                 {"absl::flat_hash_map", build<absl::flat_hash_map>}}});
}
