// SPDX-License-Identifier: Apache-2.0
// Entries come and go in all structures that take edits; what they leave behind does not stay: an
// index holds at most twice the bytes of a new one, and its lookups take at most twice the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

struct tested_structure {
  std::string name;
  option_map options;
};

std::vector<tested_structure> tested_structures() {
  std::vector<tested_structure> all;
  for (const capability& one : capabilities()) {
    if (one.where == test::tested_backend() && one.updates) {
      all.push_back({one.structure, {}});
      if (!one.sparse) all.back().options = {{"limit", "1024"}};
    }
  }
  for (const tested_structure& more :
       std::vector<tested_structure>{{"hash_open", {{"placement", "jumps"}}},
                                     {"hash_bucket", {{"occupancy", "300"}}},
                                     {"btree", {{"fill", "100"}}},
                                     {"cgrx", {{"node", "32"}}},
                                     {"cgrx", {{"bucket", "16"}, {"node", "16"}}},
                                     {"cgrx", {{"bucket", "14"}, {"node", "16"}}},
                                     {"cgrx", {{"bucket", "4"}, {"layout", "aligned"}}}}) {
    const auto has_its_name = [&](const tested_structure& one) { return one.name == more.name; };
    if (std::any_of(all.begin(), all.end(), has_its_name)) all.push_back(more);
  }
  return all;
}

class churn : public test::backend_test {
 protected:
  using keys = std::vector<std::uint32_t>;

  static std::uint32_t size() {
    return test::small_scale() || test::tested_by_emulation() ? 1000 : 20'000;
  }
  static keys numbers(std::uint32_t begin, std::uint32_t end) {
    keys all(end - begin);
    std::iota(all.begin(), all.end(), begin);
    return all;
  }
  std::unique_ptr<index> build(const tested_structure& what, const keys& of) const {
    const auto cells = at().upload(of);
    return raydex::build(what.name, at().where(), at(), column(cells), column(cells), what.options);
  }
  // Row ids are keys.
  void edit(index& of, const keys& insert, const keys& erase) const {
    const auto come = at().upload(insert);
    const auto gone = at().upload(erase);
    of.edit(context(at()).stream,
            {.insert = column(come), .insert_rows = column(come), .erase = column(gone)});
  }
  // `held` ascends. A few buckets, a root or a page more are allowed.
  void check(const index& tested, const tested_structure& what, const keys& held) const {
    const auto fresh = build(what, held);
    ASSERT_EQ(tested.info().entries, held.size());
    ASSERT_LE(tested.info().resident_bytes, 2 * fresh->info().resident_bytes + (20 << 10));
    keys asked = held;
    asked.push_back(not_found<std::uint32_t> - 5);
    const auto cells = at().upload(asked);
    buffer<std::uint32_t> found(at(), asked.size());
    const auto look_up = [&](const index& in) {
      in.first(at(), points(column(cells)), std::span(found.data(), found.size()));
    };
    check_time("points", tested, *fresh, look_up);
    if (answers_ranges(what)) {
      // Over all keys, so that what is left of those that went is met.
      const auto lower = at().upload(keys(64, 0));
      const auto upper = at().upload(keys(64, asked.back()));
      buffer<std::uint64_t> counts(at(), 64);
      check_time("ranges", tested, *fresh, [&](const index& in) {
        in.count(at(), ranges(column(lower), column(upper)), std::span(counts.data(), 64));
      });
    }
    if (HasFatalFailure()) return;
    look_up(tested);
    asked.back() = not_found<std::uint32_t>;
    ASSERT_EQ(at().download(found), asked);
  }
  // By the time of processors, since machines have other work, too, and the least of many.
  template <class Query>
  void check_time(const char* name, const index& tested, const index& fresh,
                  const Query& query) const {
    if (test::tested_by_emulation()) return;
    const auto time_of = [&](const index& in) {
      const std::clock_t begin = std::clock();
      query(in);
      at().synchronize();
      return 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    double least = time_of(tested);
    double of_fresh = time_of(fresh);
    const auto is_slow = [&] { return least > 2 * of_fresh + 50; };
    for (int i = 0; i < 100 && is_slow(); ++i) {
      least = std::min(least, time_of(tested));
      of_fresh = std::min(of_fresh, time_of(fresh));
    }
    ASSERT_FALSE(is_slow()) << name << ": " << least << " us, of a new index " << of_fresh;
  }
  static bool answers_ranges(const tested_structure& what) {
    for (const capability& one : capabilities())
      if (one.structure == what.name && one.where == test::tested_backend()) return one.ranges;
    return false;
  }
  template <class Test>
  void for_all(const Test& test) const {
    for (const tested_structure& what : tested_structures()) {
      std::string trace = what.name;
      for (const auto& [name, value] : what.options)
        trace += " " + name + "=" + value;
      SCOPED_TRACE(trace);
      test(what);
      if (HasFatalFailure()) return;
    }
  }

  std::mt19937_64 random_ = test::generator();
};

TEST_F(churn, of_a_window_that_moves) {
  for_all([&](const tested_structure& what) {
    const std::uint32_t half = size() / 2;
    const auto tested = build(what, numbers(0, size()));
    for (std::uint32_t begin = half; begin < 12 * half; begin += half) {
      edit(*tested, numbers(begin + half, begin + 2 * half), numbers(begin - half, begin));
      if (begin % (3 * half) == 0) check(*tested, what, numbers(begin, begin + 2 * half));
      if (HasFatalFailure()) return;
    }
  });
}

TEST_F(churn, of_random_keys) {
  for_all([&](const tested_structure& what) {
    // Dense enough for `direct`.
    keys all = numbers(0, 3 * size());
    std::shuffle(all.begin(), all.end(), random_);
    const auto tested = build(what, {all.begin(), all.begin() + size()});
    const std::uint32_t step = size() / 8;
    std::uint32_t begin = 0;
    for (; begin + size() + step <= all.size(); begin += step) {
      const auto gone = all.begin() + begin;
      const auto come = gone + size();
      edit(*tested, {come, come + step}, {gone, gone + step});
    }
    keys held(all.begin() + begin, all.begin() + begin + size());
    std::sort(held.begin(), held.end());
    check(*tested, what, held);
  });
}

// At first keys that lie anywhere, then from the front.
TEST_F(churn, down_to_a_few) {
  for_all([&](const tested_structure& what) {
    keys held = numbers(0, size());
    const auto tested = build(what, held);
    keys gone;
    keys left;
    for (const std::uint32_t key : held)
      (key % 200 == 7 ? left : gone).push_back(key);
    edit(*tested, {}, gone);
    check(*tested, what, left);
    while (!HasFatalFailure() && left.size() > 3) {
      const auto middle = left.begin() + static_cast<std::ptrdiff_t>(left.size() / 2);
      edit(*tested, {}, {left.begin(), middle});
      left.erase(left.begin(), middle);
      check(*tested, what, left);
    }
  });
}

// Batches of copies of one key cost what others do.
TEST_F(churn, of_copies_of_a_key) {
  for_all([&](const tested_structure& what) {
    const std::uint32_t copies = size() / 16;
    const keys first = numbers(0, size());
    const auto tested = build(what, first);
    for (std::uint32_t wave = 0; wave < 4; ++wave) {
      const keys same(copies, 77);
      const auto cells = at().upload(same);
      const auto rows = at().upload(numbers(size() + wave * copies, size() + (wave + 1) * copies));
      tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(rows)});
      const auto asked = at().upload(keys{76, 77, 78});
      buffer<std::uint64_t> counts(at(), 3);
      tested->count(at(), points(column(asked)), std::span(counts.data(), 3));
      ASSERT_EQ(at().download(counts),
                (std::vector<std::uint64_t>{1, 1 + (wave + 1) * std::uint64_t{copies}, 1}));
    }
    keys all(4 * copies, 77);
    all.insert(all.end(), first.begin(), first.end());
    ASSERT_LE(tested->info().resident_bytes,
              2 * build(what, all)->info().resident_bytes + (20 << 10));
  });
}

}  // namespace
}  // namespace raydex
