// SPDX-License-Identifier: Apache-2.0
// Batches laid over threads in every way that a schedule allows: numbers of lookups that are not
// powers of two, groups that do not divide a warp, blocks that sort their probes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "emulation/control.hpp"
#include "raydex/raydex.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

// A column with duplicates, and unordered ranges and points.
template <class Key>
class schedules_of : public testing::Test {
 protected:
  using key = Key;

  explicit schedules_of(std::size_t probes = test::small_scale() ? 700 : 2500) {
    auto random = test::generator();
    std::vector<key> cells(3000);
    for (key& cell : cells)
      cell = static_cast<key>(100 + 2 * test::below(random, 1500));
    for (std::uint32_t row = 0; row < cells.size(); ++row)
      sorted_.emplace_back(cells[row], row);
    std::sort(sorted_.begin(), sorted_.end());
    keys_ = at_.upload(cells);
    for (std::size_t i = 0; i < probes; ++i) {
      const auto lower = static_cast<key>(test::below(random, 3300));
      const auto length = static_cast<key>(test::below(random, i % 50 == 0 ? 1000 : 20));
      lower_.push_back(i % 40 == 0 ? not_found<key> : lower);
      upper_.push_back(i % 30 == 0 ? 0 : lower + length);
    }
  }

  void check(const std::string& structure, const option_map& options) {
    std::string text = structure;
    for (const auto& [name, value] : options)
      text.append(" ").append(name).append("=").append(value);
    SCOPED_TRACE(text);
    const auto built = build(structure, backend::cuda, at_, column(keys_), {}, options);
    // Whole blocks, and a block that is not full.
    for (const std::size_t size : {lower_.size(), std::size_t{77}}) {
      const auto lower = at_.upload(std::span<const key>(lower_).first(size));
      const auto upper = at_.upload(std::span<const key>(upper_).first(size));
      for (const bool as_points : {true, false}) {
        const probes batch =
            as_points ? points(column(lower)) : ranges(column(lower), column(upper));
        check_batch(*built, batch);
        if (HasFatalFailure()) return;
      }
    }
  }

 private:
  using entry = std::pair<key, std::uint32_t>;

  std::vector<std::uint32_t> rows(key lower, key upper) const {
    std::vector<std::uint32_t> found;
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), entry{lower, 0});
    for (; at != sorted_.end() && at->first <= upper; ++at)
      found.push_back(at->second);
    return found;
  }

  void check_batch(const index& built, const probes& batch) const {
    const std::size_t size = batch.size();
    buffer<std::uint32_t> first(at_, size);
    buffer<std::uint64_t> count(at_, size);
    buffer<std::uint64_t> sum(at_, size);
    built.first(at_, batch, std::span(first.data(), size));
    built.count(at_, batch, std::span(count.data(), size));
    built.sum(at_, batch, std::span(sum.data(), size));
    const matches all = built.rows(at_, batch);
    const auto firsts = at_.download(first);
    const auto counts = at_.download(count);
    const auto sums = at_.download(sum);
    const auto offsets = at_.download(all.offsets);
    std::vector<std::uint32_t> listed(all.total);
    at_.copy_out(listed.data(), all.rows.data(), all.rows.bytes());
    for (std::size_t i = 0; i < size; ++i) {
      const auto expected = rows(lower_[i], batch.is_points ? lower_[i] : upper_[i]);
      ASSERT_EQ(firsts[i], expected.empty() ? not_found<std::uint32_t>
                                            : *std::min_element(expected.begin(), expected.end()))
          << "probe " << i;
      ASSERT_EQ(counts[i], expected.size()) << "probe " << i;
      ASSERT_EQ(sums[i], std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}))
          << "probe " << i;
      const std::vector<std::uint32_t> got(
          listed.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
          listed.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
      ASSERT_EQ(got, expected) << "probe " << i;
    }
  }

  const session at_{backend::cuda};
  std::vector<entry> sorted_;
  buffer<key> keys_;
  std::vector<key> lower_;
  std::vector<key> upper_;
};

using schedules = schedules_of<std::uint32_t>;

// With less room to sort in than a block would take, as on Turing.
class schedules_in_little_room : public schedules_of<std::uint64_t> {
 protected:
  // Enough probes for a block of 1024 threads on each multiprocessor.
  schedules_in_little_room() : schedules_of(1500) {
    emulation::set_shared_memory(std::size_t{64} << 10);
  }
  ~schedules_in_little_room() override {
    emulation::set_shared_memory(emulation::usual_shared_bytes);
  }
};

// Each structure, with options of its own.
const std::vector<std::pair<std::string, option_map>>& structures() {
  static const std::vector<std::pair<std::string, option_map>> all{
      {"sorted_array", {}},
      {"eytzinger", {{"k", "9"}}},
      {"pivot_tree", {{"nodes", "quantised"}}},
      {"pivot_tree", {{"nodes", "narrow"}}},
      {"pivot_tree", {{"search", "groups"}, {"k", "5"}}},
      {"btree", {}}};
  return all;
}

// Those whose blocks can sort their probes.
std::vector<std::pair<std::string, option_map>> sorting_structures() {
  auto all = structures();
  std::erase_if(all, [](const auto& one) {
    return one.first == "btree" || (one.first == "pivot_tree" && one.second.contains("nodes"));
  });
  return all;
}

option_map with(option_map options, const option_map& others) {
  options.insert(others.begin(), others.end());
  return options;
}

TEST_F(schedules, sorting_blocks_have_any_number_of_lookups) {
  for (const auto& [structure, own] : sorting_structures()) {
    for (const char* reorder : {"single", "double"}) {
      for (const char* lookups : {"1", "3", "7", "16"}) {
        check(structure,
              with(own, {{"reorder", reorder}, {"lookups", lookups}, {"threads", "128"}}));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(schedules, the_largest_blocks_sort_the_most_lookups) {
  for (const auto& [structure, own] : sorting_structures()) {
    check(structure, with(own, {{"reorder", "double"}, {"lookups", "16"}, {"threads", "1024"}}));
    if (HasFatalFailure()) return;
  }
}

TEST_F(schedules, blocks_that_stay_answer_every_part) {
  for (const auto& [structure, own] : structures()) {
    check(structure, with(own, {{"schedule", "static"}, {"lookups", "5"}, {"threads", "128"}}));
    check(structure, with(own, {{"schedule", "one"}, {"lookups", "3"}, {"threads", "128"}}));
    check(structure, with(own, {{"schedule", "static"}, {"pin", "full"}, {"threads", "128"}}));
    if (HasFatalFailure()) return;
  }
  for (const auto& [structure, own] : sorting_structures()) {
    check(
        structure,
        with(own,
             {{"schedule", "static"}, {"reorder", "double"}, {"pin", "full"}, {"threads", "128"}}));
    if (HasFatalFailure()) return;
  }
}

TEST_F(schedules, groups_need_not_divide_a_warp) {
  using list = std::vector<const char*>;
  for (const char* k : test::small_scale()
                           ? list{"2", "6", "13", "33"}
                           : list{"2", "4", "6", "8", "12", "13", "18", "20", "32", "33"}) {
    for (const char* group : {"exact", "power"}) {
      const option_map options{{"k", k}, {"group", group}, {"lookups", "3"}, {"threads", "128"}};
      check("eytzinger", options);
      check("pivot_tree", with(options, {{"search", "groups"}}));
      check("pivot_tree",
            with(options, {{"search", "groups"}, {"levels", "1"}, {"reorder", "single"}}));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(schedules, trees_are_pinned_in_part_in_whole_or_not) {
  for (const auto& [structure, own] : structures()) {
    for (const char* pin : {"none", "steps", "full"}) {
      check(structure, with(own, {{"pin", pin}, {"scan", "single"}}));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(schedules_in_little_room, blocks_sort_what_they_have_room_for) {
  for (const char* structure : {"sorted_array", "eytzinger", "pivot_tree"}) {
    for (const char* pin : {"none", "full"}) {
      option_map options{{"reorder", "double"}, {"threads", "1024"}, {"pin", pin}};
      if (structure != std::string("sorted_array")) options["k"] = "2";
      if (structure == std::string("pivot_tree")) options["search"] = "groups";
      check(structure, options);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace raydex
