// SPDX-License-Identifier: Apache-2.0
// When the C++ heap is exhausted, calls throw `out_of_memory`, as when a memory resource is. Other
// exceptions of the C++ library come out as errors of raydex, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/failures/failure.hpp"

namespace raydex {
namespace {

// Makes the n-th allocation of a call and all later ones fail, for n = 0, 1, .. until the call
// succeeds.
void exhaust(const char* name, const std::function<void()>& call) {
  SCOPED_TRACE(name);
  call();  // now everything exists that is made once and kept
  for (std::uint64_t good = 0; good < 2000; ++good) {
    std::string problem;
    try {
      const test::failure failing(good, test::shortage::lasting);
      call();
      EXPECT_GT(good, 0) << "it allocates nothing";
      return;
    } catch (const out_of_memory&) {
    } catch (const std::exception& other) {
      problem = other.what();
    }
    ASSERT_EQ(problem, "") << "after " << good << " allocations";
  }
  FAIL() << "it does not end";
}

class shortage : public testing::Test {
 protected:
  shortage() : cells(300) {
    std::iota(cells.begin(), cells.end(), 0);
    keys = column(std::span<const std::uint32_t>(cells));
  }

  const session cpu{backend::cpu};
  std::vector<std::uint32_t> cells;
  column keys;
};

TEST_F(shortage, builds_by_name) {
  for (const capability& able : capabilities()) {
    if (able.where != backend::cpu) continue;
    exhaust(able.structure.c_str(), [&] { build(able.structure, backend::cpu, cpu, keys); });
  }
  exhaust("auto", [&] { build("auto", backend::cpu, cpu, keys); });
  for (const rmq_capability& able : rmq_capabilities()) {
    if (able.where != backend::cpu) continue;
    exhaust(able.structure.c_str(), [&] { build_rmq(able.structure, backend::cpu, cpu, keys); });
  }
}

TEST_F(shortage, queries) {
  const auto built = build("cgrx", backend::cpu, cpu, keys, {}, {{"node", "32"}});
  std::vector<std::uint64_t> counts(cells.size());
  built->count(cpu, points(keys), counts);
  const column wrong(format_of<std::int32_t>, cells.data(), cells.size());
  // Messages are allocated on the heap.
  exhaust("a refused query", [&] {
    try {
      built->count(cpu, points(wrong), counts);
    } catch (const invalid_argument&) {
    }
  });
  exhaust("a download", [&] {
    const auto placed = cpu.upload(cells);
    cpu.download(placed);
  });
}

TEST_F(shortage, what_is_asked_at_run_time) {
  exhaust("capabilities", [] { capabilities(); });
  exhaust("rmq_capabilities", [] { rmq_capabilities(); });
  exhaust("advise", [&] {
    static const std::vector<capability> offered = capabilities();
    advise({.n = 1000}, speed_table::built_in(), offered);
  });
  exhaust("a session", [] { session(backend::cpu).device(); });
  exhaust("a measurement", [] {
    speed_table table;
    table.add({.structure = "rx", .n = 1, .lookups_per_s = 1, .bytes_per_key = 1});
  });
}

// Throws what a test wants.
class throwing_resource final : public memory_resource {
 public:
  explicit throwing_resource(std::function<void()> failure) : failure_(std::move(failure)) {}
  void* allocate(std::size_t bytes, stream_t stream) override {
    failure_();
    return heap_.allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    heap_.deallocate(memory, bytes, stream);
  }
  memory_space space() const noexcept override { return memory_space::host; }

 private:
  std::function<void()> failure_;
  host_memory_resource heap_;
};

TEST_F(shortage, errors_of_a_memory_resource_arrive_as_raydex_errors) {
  throwing_resource exhausted([] { throw std::bad_alloc(); });
  EXPECT_THROW(build("auto", backend::cpu, {exhausted}, keys), out_of_memory);
  EXPECT_THROW(buffer<int>({exhausted}, 3), out_of_memory);
  throwing_resource too_long([] { throw std::length_error("vector"); });
  EXPECT_THROW(build_rmq("auto", backend::cpu, {too_long}, keys), out_of_memory);
  throwing_resource broken([] { throw std::out_of_range("beyond the pool"); });
  try {
    build("auto", backend::cpu, {broken}, keys);
    ADD_FAILURE() << "built";
  } catch (const error& e) {
    EXPECT_STREQ(e.what(), "beyond the pool");
  }
  throwing_resource refusing([] { throw unsupported("not today"); });
  EXPECT_THROW(build("auto", backend::cpu, {refusing}, keys), unsupported);
}

}  // namespace
}  // namespace raydex
