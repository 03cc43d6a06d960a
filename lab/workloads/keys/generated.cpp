// SPDX-License-Identifier: Apache-2.0
// Fills a backend's memory with a workload.
#include "lab/workloads/keys/generated.hpp"

#include <span>
#include <vector>

namespace raydex::bench {
namespace {

key_span allocate(buffer<std::byte>& memory, const context& on, std::uint64_t size, int bits) {
  memory = buffer<std::byte>(on, size * static_cast<std::uint64_t>(bits / 8));
  return {memory.data(), size, bits};
}

column part(const key_span& keys, std::uint64_t begin, std::uint64_t count) {
  column cells = keys.as_column();
  if (begin != 0) cells.data = static_cast<const std::byte*>(cells.data) + begin * cells.step();
  cells.size = count;
  return cells;
}

// Refuses what cannot be made before any work.
const workload& checked(const workload& what) {
  check(what);
  return what;
}

}  // namespace

generated_keys::generated_keys(const workload& what, machine& here) : set_(make_key_set(what)) {
  const std::vector<key_part> parts = make_key_parts(what);
  const context memory = here.on();
  parts_ = here.on().upload(std::span(parts));
  set_.parts = parts_.data();
  set_.part_count = parts.size();
  const std::uint64_t most = keys_after(what, what.waves);
  column_ = allocate(memory_, memory, most, what.key_bits);
  if (what.insert_order == order::sorted && what.keys != 0) {
    positions_ = buffer<std::uint64_t>(memory, what.keys);
    here.fill_positions(set_, what.key_bits, positions_.data());
    set_.position = positions_.data();
  }
  here.fill_keys(what.waves == 0 ? set_ : set_.resized(most), column_);
  column_.size = what.keys;
  here.on().synchronize();
}

void generated_keys::hold(std::uint64_t keys) {
  set_ = set_.resized(keys);
  column_.size = keys;
}

generated::generated(const workload& what, machine& here)
    : workload_(checked(what)), keys_(what, here) {
  const context memory = here.on();
  lower_ = allocate(lower_memory_, memory, what.probes, what.key_bits);
  upper_ = lower_;
  if (what.range_hits != 0) {
    upper_ = allocate(upper_memory_, memory, what.probes, what.key_bits);
  }
  draw_probes(here);
}

void generated::draw_probes(machine& here) {
  workload held = workload_;
  held.keys = set().n;
  const zipf_table table = make_zipf_table(held);
  cumulative_ = here.on().upload(std::span(table.cumulative));
  first_rank_ = here.on().upload(std::span(table.first));
  draw_ = make_probe_set(held, set(), {cumulative_.data(), first_rank_.data(), cumulative_.size()});
  draw_lower(here, lower_);
  if (held.probe_order == order::sorted) here.sort(lower_);
  if (held.range_hits != 0) here.fill_upper(draw_, lower_, upper_.data);
  matches_ = here.count_matches(set(), lower_, upper_);
}

void generated::advance(machine& here, std::uint64_t wave) {
  keys_.hold(keys_after(workload_, wave));
  draw_probes(here);
}

column generated::rows(std::uint64_t begin, std::uint64_t count) const {
  return part(keys(), begin, count);
}

probes generated::batch(std::uint64_t begin, std::uint64_t count) const {
  const column lower = part(lower_, begin, count);
  return workload_.range_hits == 0 ? points(lower) : ranges(lower, part(upper_, begin, count));
}

}  // namespace raydex::bench
