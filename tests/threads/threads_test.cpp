// SPDX-License-Identifier: Apache-2.0
// Several threads query one index, and the threads of one call share its work. Under
// ThreadSanitizer, races between them are found.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "raydex/join.hpp"
#include "raydex/nearest_join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/raydex.hpp"
#include "raydex/window_join.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

constexpr std::size_t n = 70'000;  // several blocks of every sort, scan and merge
constexpr std::size_t probe_count = 3000;
constexpr std::size_t askers = 3;

struct subject {
  std::string structure;
  option_map options;

  std::string name() const {
    std::string all = structure;
    for (const auto& [option, value] : options)
      all += "_" + option + "_" + value;
    return all;
  }
  friend void PrintTo(const subject& printed, std::ostream* to) { *to << printed.name(); }
};

// Calls `f` on several threads at once.
template <class Function>
void at_once(const Function& f) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < askers; ++i)
    threads.emplace_back(f);
  for (std::thread& thread : threads)
    thread.join();
}

// Upper ends, a few keys above the lower ones.
std::vector<std::uint32_t> above(std::vector<std::uint32_t> ends) {
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] += static_cast<std::uint32_t>(i % 20);
  return ends;
}

std::vector<std::uint32_t> random_keys(std::size_t size, std::uint64_t salt) {
  auto random = generator(salt);
  std::vector<std::uint32_t> keys(size);
  for (std::uint32_t& key : keys)
    key = static_cast<std::uint32_t>(below(random, n / 2));
  return keys;
}

class index_threads : public testing::TestWithParam<subject> {
 protected:
  void SetUp() override {
    index_ = build(GetParam().structure, backend::cpu, at_, column(keys_), std::nullopt,
                   GetParam().options);
  }
  // All threads get the answers that a single one gets.
  void expect_same_answers() const {
    const probes batches[] = {points(column(lower_)), ranges(column(lower_), column(upper_))};
    for (const probes& batch : batches) {
      if (!batch.is_points && !takes_ranges()) continue;
      const answers alone = ask(at_, *index_, batch);
      at_once([&] {
        const session own(backend::cpu);
        EXPECT_TRUE(ask(own, *index_, batch) == alone);
        const interruptible looks([](const progress&) { return false; },
                                  std::chrono::milliseconds(0));
        EXPECT_TRUE(ask(own, *index_, batch) == alone);
      });
    }
  }

  // All threads save the same bytes while others ask.
  void expect_same_files() const {
    const probes batch = points(column(lower_));
    std::mutex comparing;
    std::optional<std::vector<std::byte>> first;
    at_once([&] {
      const session own(backend::cpu);
      const std::vector<std::byte> saved = to_bytes(own, *index_);
      const answers asked = ask(own, *index_, batch);
      const std::lock_guard one(comparing);
      if (!first) first = saved;
      EXPECT_TRUE(saved == *first);
      EXPECT_TRUE(asked == ask(own, *from_bytes(backend::cpu, own, saved).held, batch));
    });
  }

  static bool takes_ranges() {
    for (const capability& one : capabilities())
      if (one.structure == GetParam().structure && one.ranges) return true;
    return false;
  }

  const session at_{backend::cpu};
  const buffer<std::uint32_t> keys_ = at_.upload(random_keys(n, 1));
  const buffer<std::uint32_t> lower_ = at_.upload(random_keys(probe_count, 2));
  const buffer<std::uint32_t> upper_ = at_.upload(above(random_keys(probe_count, 2)));
  std::unique_ptr<index> index_;
};

TEST_P(index_threads, ask_at_once) {
  expect_same_answers();
}

TEST_P(index_threads, are_saved_while_others_ask) {
  expect_same_files();
}

std::string name_of(const testing::TestParamInfo<subject>& tested) {
  return tested.param.name();
}

INSTANTIATE_TEST_SUITE_P(
    structures, index_threads,
    testing::Values(subject{"sorted_array", {}}, subject{"sorted_array", {{"layout", "row"}}},
                    subject{"eytzinger", {}}, subject{"pivot_tree", {}},
                    subject{"pivot_tree", {{"nodes", "quantised"}}},
                    subject{"pivot_tree", {{"nodes", "narrow"}}},
                    subject{"pivot_tree", {{"search", "groups"}}}, subject{"btree", {}},
                    subject{"hash_open", {}}, subject{"hash_open", {{"placement", "choices"}}},
                    subject{"hash_bucket", {}}, subject{"direct", {}}, subject{"rx", {}},
                    subject{"rx", {{"hits", "any"}, {"order", "sorted"}}},
                    subject{"rx", {{"inverse", "on"}}}, subject{"cgrx", {}},
                    subject{"cgrx", {{"node", "32"}}}, subject{"cgrx", {{"mapping", "bits"}}}),
    name_of);

TEST_P(index_threads, stop_while_others_ask) {
  const probes batch = points(column(lower_));
  const answers alone = ask(at_, *index_, batch);
  std::atomic<int> number = 0;
  at_once([&] {
    const session own(backend::cpu);
    const bool stops = number++ == 0;
    const interruptible asked([&](const progress&) { return stops; }, std::chrono::milliseconds(0));
    if (stops) {
      EXPECT_THROW(ask(own, *index_, batch), interrupted);
      EXPECT_THROW(
          build(GetParam().structure, backend::cpu, own, column(keys_), {}, GetParam().options),
          interrupted);
    } else {
      EXPECT_TRUE(ask(own, *index_, batch) == alone);
    }
  });
}

class edited_threads : public index_threads {};

TEST_P(edited_threads, ask_at_once_after_edits) {
  std::vector<std::uint32_t> row_ids(n / 2);
  for (std::size_t i = 0; i < row_ids.size(); ++i)
    row_ids[i] = static_cast<std::uint32_t>(n + i);
  const auto insert = at_.upload(random_keys(row_ids.size(), 4));
  const auto insert_rows = at_.upload(row_ids);
  const auto erase = at_.upload(random_keys(n / 10, 5));
  index_->edit(
      nullptr,
      {.insert = column(insert), .insert_rows = column(insert_rows), .erase = column(erase)});
  expect_same_files();
  expect_same_answers();
}

INSTANTIATE_TEST_SUITE_P(structures, edited_threads,
                         testing::Values(subject{"cgrx", {}}, subject{"cgrx", {{"node", "32"}}},
                                         subject{"pivot_tree", {}}, subject{"btree", {}},
                                         subject{"hash_open", {}}, subject{"hash_bucket", {}},
                                         subject{"direct", {}}, subject{"rx", {}}),
                         name_of);

class join_threads : public testing::TestWithParam<subject> {
 protected:
  // All rows of a join, which all threads get.
  template <class Match>
  void expect_same_rows(const Match& match) const {
    const auto rows = [&](const session& at) {
      const std::unique_ptr<joined> found = match(at);
      std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> all;
      all.first.resize(found->size());
      all.second.resize(found->size());
      found->rows(at, gather_maps(all.first, all.second));
      return all;
    };
    const auto alone = rows(at_);
    EXPECT_FALSE(alone.first.empty());
    at_once([&] {
      const session own(backend::cpu);
      EXPECT_TRUE(rows(own) == alone);
    });
  }
  std::unique_ptr<join> built(const key_parts& keys) const {
    return build_join(backend::cpu, at_, keys,
                      {.structure = GetParam().structure, .options = GetParam().options});
  }

  const session at_{backend::cpu};
  const buffer<std::uint32_t> keys_ = at_.upload(random_keys(n, 10));
  const buffer<std::uint32_t> asked_ = at_.upload(random_keys(probe_count, 11));
};

TEST_P(join_threads, match_at_once) {
  // As they are, side by side, and hashed.
  for (const std::size_t columns : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    SCOPED_TRACE(columns);
    const auto tested = built(key_parts(columns, column(keys_)));
    const key_parts probe(columns, column(asked_));
    expect_same_rows([&](const session& at) { return tested->match(at, probe, join_kind::full); });
  }
}

INSTANTIATE_TEST_SUITE_P(structures, join_threads,
                         testing::Values(subject{"sorted_array", {}}, subject{"pivot_tree", {}},
                                         subject{"hash_open", {}}, subject{"hash_bucket", {}},
                                         subject{"rx", {}}, subject{"rx", {{"inverse", "on"}}},
                                         subject{"cgrx", {}}),
                         name_of);

TEST(other_join_threads, match_at_once) {
  const session at(backend::cpu);
  const auto keys = at.upload(random_keys(n, 12));
  const auto asked = at.upload(random_keys(probe_count, 13));
  const column times(keys);
  const auto band = build_join(backend::cpu, at, {times});
  const auto intervals = build_interval_join(backend::cpu, at, times, times);
  const auto closest = build_asof_join(backend::cpu, at, times, {times, times});
  const auto windows = build_window_join(backend::cpu, at, times, {times}, times);
  const auto nearest = build_nearest_join(backend::cpu, at, times, times);
  using answer = std::vector<std::vector<std::uint32_t>>;
  const auto ask = [&](const context& on) {
    const auto rows = [&](const joined& found) {
      std::vector<std::uint32_t> probe_rows(found.size());
      std::vector<std::uint32_t> build_rows(found.size());
      found.rows(on, gather_maps(probe_rows, build_rows));
      return build_rows;
    };
    answer all;
    all.push_back(rows(*band->match_band(on, column(asked), 1, join_kind::inner)));
    for (const std::size_t columns : {std::size_t{1}, std::size_t{3}}) {
      const key_parts build(columns, times);
      const key_parts probe(columns, column(asked));
      all.push_back(rows(*match_tables(backend::cpu, on, build, probe, join_kind::inner)));
    }
    all.push_back(rows(*intervals->match(on, column(asked), join_kind::inner)));
    all.emplace_back(probe_count);
    closest->match(on, column(asked), {column(asked), column(asked)}, {}, all.back());
    all.emplace_back(probe_count);
    windows->match(on, column(asked), {column(asked)}, time_window{})->argmax(on, all.back());
    all.emplace_back(probe_count);
    nearest->match(on, column(asked), column(asked), {}, {}, all.back());
    return all;
  };
  const answer alone = ask(at);
  at_once([&] {
    const session own(backend::cpu);
    EXPECT_TRUE(ask(own) == alone);
  });
}

class rmq_threads : public testing::TestWithParam<subject> {
 protected:
  using minima = std::pair<std::vector<std::int32_t>, std::vector<std::uint64_t>>;

  minima ask(const rmq& asked) const {
    minima all{std::vector<std::int32_t>(probe_count), std::vector<std::uint64_t>(probe_count)};
    const probes batch = ranges(column(lower_), column(upper_));
    asked.minimum(at_, batch, value_span(std::span(all.first)));
    asked.position(at_, batch, std::span(all.second));
    return all;
  }
  static std::vector<std::int32_t> values() {
    auto random = generator(6);
    std::vector<std::int32_t> all(n);
    for (std::int32_t& value : all)
      value = static_cast<std::int32_t>(below(random, 1 << 20));
    return all;
  }

  const session at_{backend::cpu};
  buffer<std::int32_t> values_ = at_.upload(values());
  const buffer<std::uint32_t> lower_ = at_.upload(random_keys(probe_count, 7));
  const buffer<std::uint32_t> upper_ = at_.upload(random_keys(probe_count, 8));
};

TEST_P(rmq_threads, ask_at_once_before_and_after_changes) {
  const auto built =
      build_rmq(GetParam().structure, backend::cpu, at_, column(values_), GetParam().options);
  const auto expect_same_answers = [&] {
    const minima alone = ask(*built);
    at_once([&] { EXPECT_TRUE(ask(*built) == alone); });
  };
  expect_same_answers();
  const auto all = rmq_capabilities();
  const bool updates = std::any_of(all.begin(), all.end(), [](const rmq_capability& can) {
    return can.structure == GetParam().structure && can.where == backend::cpu && can.updates;
  });
  if (!updates) return;
  const auto changed = at_.upload(random_keys(n / 10, 9));  // some are repeated
  for (std::size_t i = 0; i < changed.size(); ++i)
    values_.data()[changed.data()[i]] = static_cast<std::int32_t>(i);
  built->refresh(nullptr, column(changed));
  expect_same_answers();
}

INSTANTIATE_TEST_SUITE_P(
    structures, rmq_threads,
    testing::Values(subject{"rmq_cover", {}}, subject{"rmq_cover", {{"memory", "small"}}},
                    subject{"rmq_hierarchy", {}}, subject{"rmq_hierarchy", {{"top", "rays"}}},
                    subject{"rmq_lca", {}}, subject{"rmq_rx", {}}, subject{"rmq_scan", {}}),
    name_of);

}  // namespace
}  // namespace raydex::test
