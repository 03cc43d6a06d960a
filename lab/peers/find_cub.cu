// SPDX-License-Identifier: Apache-2.0
// raydex_find_cub: ranks by cub::DeviceFind, of CCCL 3.5 or newer, beside `index::rank`. Its
// `LowerBoundSortedValues` merges ascending probes with the keys.
#include <cub/device/device_find.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/functional>

#include <cstdint>
#include <memory>

#include "lab/peers/keys_peers.hpp"
#include "src/machines/cuda/check.hpp"

namespace raydex::bench {
namespace {

// Has CUB say how much scratch it needs, and then do its work with it.
template <class Call>
void with_scratch(const context& on, const char* name, const Call& call) {
  std::size_t bytes = 0;
  cuda::check(call(static_cast<void*>(nullptr), bytes), name);
  buffer<std::byte> scratch(on, bytes);
  cuda::check(call(static_cast<void*>(scratch.data()), bytes), name);
}

template <class Key, bool Merged>
class find_peer final : public keys_peer {
 public:
  find_peer(const context& on, const key_span& keys) : sorted_(on, keys.size) {
    with_scratch(on, "cub::DeviceRadixSort::SortKeys", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys.as<const Key>(), sorted_.data(),
                                            keys.size, 0, 8 * static_cast<int>(sizeof(Key)),
                                            on.stream);
    });
  }
  void ask(const context& on, const key_span& points, void* out) const override {
    with_scratch(on, "cub::DeviceFind", [&](void* scratch, std::size_t& bytes) {
      const Key* const keys = sorted_.data();
      const Key* const wanted = points.as<const Key>();
      auto* const ranks = static_cast<std::uint64_t*>(out);
      const ::cuda::std::less<> below;
      if constexpr (Merged) {
        return cub::DeviceFind::LowerBoundSortedValues(scratch, bytes, keys, sorted_.size(), wanted,
                                                       points.size, ranks, below, on.stream);
      } else {
        return cub::DeviceFind::LowerBound(scratch, bytes, keys, sorted_.size(), wanted,
                                           points.size, ranks, below, on.stream);
      }
    });
  }

 private:
  buffer<Key> sorted_;
};

template <bool Merged>
std::unique_ptr<keys_peer> build(const context& on, const key_span& keys, bool ascending) {
  if (Merged && !ascending) return nullptr;
  return with_width(keys.bits, [&](auto zero) -> std::unique_ptr<keys_peer> {
    return std::make_unique<find_peer<decltype(zero), Merged>>(on, keys);
  });
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) {
  using namespace raydex::bench;
  return run_keys_peers(
      argc, argv,
      {.program = "raydex_find_cub",
       .description = "Ranks of points by cub::DeviceFind; the options of `raydex bench`.",
       .where = raydex::backend::cuda,
       .kind = result::rank,
       .structures = "pivot_tree",
       .peers = {{"cub::DeviceFind::LowerBound", build<false>},
                 {"cub::DeviceFind::LowerBoundSortedValues", build<true>}}});
}
