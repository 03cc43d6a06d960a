// SPDX-License-Identifier: Apache-2.0
// Memory from other libraries' resources, and memory of a session that is gone.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex {
namespace {

const std::vector<std::int32_t> keys{50, 20, 40, 20, 30};

std::vector<std::uint64_t> counts_of(const index& built, const context& on) {
  std::vector<std::uint64_t> counts(keys.size());
  built.count(on, points(column(keys)), counts);
  return counts;
}
const std::vector<std::uint64_t> expected_counts{1, 2, 1, 2, 1};

TEST(sessions, indexes_and_buffers_outlive_them) {
  for (const std::string structure :
       {"sorted_array", "eytzinger", "pivot_tree", "btree", "rx", "cgrx"}) {
    auto own = std::make_optional<session>(backend::cpu);
    const auto built = build(structure, backend::cpu, *own, column(keys));
    const auto minima = build_rmq("auto", backend::cpu, *own, column(keys));
    const buffer<std::int32_t> copy = own->upload(keys);
    const matches found = built->rows(*own, points(column(keys)));
    own.reset();

    const session other(backend::cpu);
    EXPECT_EQ(counts_of(*built, other), expected_counts);
    std::vector<std::uint64_t> position(1);
    const std::vector<int> lower{0};
    const std::vector<int> upper{4};
    minima->position(other, ranges(column(lower), column(upper)), position);
    EXPECT_EQ(position.front(), 1U);
    EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), 0), 160);
    EXPECT_EQ(found.offsets[5], 7U);
  }
}

TEST(sessions, copy_between_places) {
  const session on(backend::cpu);
  std::uint32_t number = 1;
  EXPECT_THROW(on.copy_in(nullptr, &number, sizeof number), invalid_argument);
  EXPECT_THROW(on.copy_in(&number, nullptr, sizeof number), invalid_argument);
  EXPECT_THROW(on.copy_out(nullptr, &number, sizeof number), invalid_argument);
  EXPECT_THROW(on.copy_out(&number, nullptr, sizeof number), invalid_argument);
  on.copy_in(nullptr, nullptr, 0);
}

TEST(sessions, take_a_backend_by_themselves) {
  EXPECT_EQ(session().where(), parse_backend("auto"));
}

TEST(sessions, an_index_is_edited_after_its_session) {
  auto own = std::make_optional<session>(backend::cpu);
  const auto built = build("cgrx", backend::cpu, *own, column(keys));
  own.reset();
  const std::vector<std::uint32_t> rows{5};
  const std::vector<std::int32_t> inserted{30};
  built->edit(nullptr, {.insert = column(inserted), .insert_rows = column(rows)});
  EXPECT_EQ(counts_of(*built, session(backend::cpu)), (std::vector<std::uint64_t>{1, 2, 1, 2, 2}));
}

// Counts what it hands out.
class counting_pmr : public std::pmr::memory_resource {
 public:
  std::size_t held = 0;
  std::size_t calls = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    EXPECT_EQ(alignment, raydex::memory_resource::alignment);
    held += bytes;
    ++calls;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    held -= bytes;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

TEST(pmr_resource, serves_an_index) {
  counting_pmr upstream;
  pmr_resource memory(&upstream);
  auto built = build("sorted_array", backend::cpu, {memory}, column(keys));
  EXPECT_EQ(upstream.held, built->info().resident_bytes);
  EXPECT_EQ(counts_of(*built, {memory}), expected_counts);
  built.reset();
  EXPECT_GT(upstream.calls, 0U);
  EXPECT_EQ(upstream.held, 0U);
}

TEST(pmr_resource, what_it_cannot_give_is_out_of_memory) {
  pmr_resource memory(std::pmr::null_memory_resource());
  EXPECT_THROW(build("sorted_array", backend::cpu, {memory}, column(keys)), out_of_memory);
}

// A stream as CCCL and RMM wrap it.
struct stream_ref {
  stream_t stream;
  stream_ref(stream_t of) : stream(of) {}  // NOLINT(google-explicit-constructor)
};

// What resources were asked for last.
struct asked {
  stream_t stream = nullptr;
  std::size_t bytes = 0;
  std::size_t alignment = 0;
  void* freed = nullptr;
};

// The three ways in which resources are asked.
struct takes_stream_first {
  asked last;
  void* allocate(stream_ref stream, std::size_t bytes, std::size_t alignment = 16) {
    last = {stream.stream, bytes, alignment};
    return &last;
  }
  void deallocate(stream_ref stream, void* memory, std::size_t bytes, std::size_t alignment = 16) {
    last = {stream.stream, bytes, alignment, memory};
  }
};
struct takes_stream_last {
  asked last;
  void* allocate(std::size_t, std::size_t) { throw std::bad_alloc(); }  // not on a stream
  void deallocate(void*, std::size_t, std::size_t) {}
  void* allocate_async(std::size_t bytes, std::size_t alignment, stream_ref stream) {
    last = {stream.stream, bytes, alignment};
    return &last;
  }
  void deallocate_async(void* memory, std::size_t bytes, std::size_t alignment, stream_ref stream) {
    last = {stream.stream, bytes, alignment, memory};
  }
};
struct takes_no_alignment {
  asked last;
  void* allocate(std::size_t bytes, stream_ref stream) {
    last = {stream.stream, bytes, memory_resource::alignment};  // by itself
    return &last;
  }
  void deallocate(void* memory, std::size_t bytes, stream_ref stream) {
    last = {stream.stream, bytes, memory_resource::alignment, memory};
  }
};

template <class Upstream>
class stream_ordered : public testing::Test {};
using upstreams = testing::Types<takes_stream_first, takes_stream_last, takes_no_alignment>;
TYPED_TEST_SUITE(stream_ordered, upstreams);

TYPED_TEST(stream_ordered, requests_arrive_as_they_were_made) {
  TypeParam upstream;
  stream_ordered_resource memory(upstream);
  EXPECT_EQ(memory.space(), memory_space::device);
  const auto stream = reinterpret_cast<stream_t>(std::uintptr_t{64});
  void* const got = memory.allocate(1000, stream);
  EXPECT_EQ(got, &upstream.last);
  EXPECT_EQ(upstream.last.stream, stream);
  EXPECT_EQ(upstream.last.bytes, 1000U);
  EXPECT_EQ(upstream.last.alignment, memory_resource::alignment);
  memory.deallocate(got, 1000, stream);
  EXPECT_EQ(upstream.last.freed, got);
  EXPECT_EQ(upstream.last.stream, stream);
  EXPECT_EQ(upstream.last.bytes, 1000U);
}

}  // namespace
}  // namespace raydex
