// SPDX-License-Identifier: Apache-2.0
// A build that the host has no memory for is refused before it begins.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/interface/host_memory.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

// A system's files, as they are written.
class system_files : public testing::Test {
 protected:
  system_files()
      : root_(std::filesystem::path(testing::TempDir()) /
              (std::string("raydex_room_test_") + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~system_files() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::optional<std::uint64_t> left() const { return host_memory_left(root_); }

 private:
  std::filesystem::path root_;
};

TEST_F(system_files, tell_what_is_left) {
  EXPECT_EQ(left(), std::nullopt);
  write("proc/meminfo", "MemTotal: 100 kB\nMemFree: 1 kB\nSwapFree: 7 kB\n");
  EXPECT_EQ(left(), std::nullopt);
  write("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:   50 kB\nSwapFree:   7 kB\n");
  EXPECT_EQ(left(), 57 * 1024);
  write("proc/meminfo", "MemAvailable: 50 kB\n");
  EXPECT_EQ(left(), 50 * 1024);
}

TEST_F(system_files, have_groups_of_the_second_version) {
  write("proc/meminfo", "MemAvailable: 50 kB\nSwapFree: 2 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(left(), 52 * 1024);
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "4096\n");
  EXPECT_EQ(left(), 52 * 1024);
  write("sys/fs/cgroup/a/memory.max", "20480\n");
  write("sys/fs/cgroup/a/memory.current", "8192\n");
  EXPECT_EQ(left(), 12'288 + 2048);
  write("sys/fs/cgroup/a/memory.stat", "anon 1024\nfile 4096\n");
  EXPECT_EQ(left(), 16'384 + 2048);
  write("sys/fs/cgroup/a/b/memory.max", "4000\n");
  EXPECT_EQ(left(), 2048);
  write("proc/self/cgroup", "0::/elsewhere\n");
  write("sys/fs/cgroup/memory.max", "10240\n");
  write("sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(left(), 10'240 + 2048);
}

TEST_F(system_files, have_groups_of_the_first_version) {
  write("proc/meminfo", "MemAvailable: 50 kB\n");
  write("proc/self/cgroup", "9:name=systemd:/a\n5:cpu,memory:/a\n4:memory_of_old:/b\nnone\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "8192\n");
  EXPECT_EQ(left(), 50 * 1024);
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "20480\n");
  write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "8192\n");
  write("sys/fs/cgroup/memory/a/memory.stat", "cache 1\ntotal_cache 8193\n");
  EXPECT_EQ(left(), 20'480);
}

// Pages that no memory is behind until they are touched.
class pages {
 public:
  explicit pages(std::size_t bytes)
      : bytes_(bytes),
        at_(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  ~pages() {
    if (are_there()) munmap(at_, bytes_);
  }
  bool are_there() const { return at_ != MAP_FAILED; }
  const void* at() const { return at_; }

 private:
  std::size_t bytes_;
  void* at_;
};

class room : public testing::Test {
 protected:
  static constexpr std::uint64_t n = std::uint64_t{1} << 40;  // 2^43 bytes
  void SetUp() override {
    if (!cells_.are_there()) GTEST_SKIP() << "the address space has no room";
  }
  column keys(std::uint64_t size = n) const {
    return {format_of<std::uint64_t>, cells_.at(), size};
  }

  const pages cells_{n * 8};
  const session cpu_{backend::cpu};
};

TEST_F(room, is_looked_for_before_work_begins) {
  host_memory_resource host;
  for (const char* const structure : {"auto", "sorted_array", "pivot_tree", "btree", "hash_open",
                                      "hash_bucket", "eytzinger", "cgrx", "rx"}) {
    SCOPED_TRACE(structure);
    for (const context& on : {context(cpu_), context{host}}) {
      test::expect_error<out_of_memory>(
          [&] { build(structure, backend::cpu, on, keys()); },
          {"1099511627776 keys takes at least 16384.00 GiB", "index_file_builder"});
    }
    // Of row ids of 32 bits; a large machine has room for them.
    constexpr std::uint64_t needed = std::uint64_t{40} << 30;
    if (host_memory_left().value_or(needed) >= needed) continue;
    test::expect_error<out_of_memory>(
        [&] { build(structure, backend::cpu, cpu_, keys((std::uint64_t{1} << 32) - 2)); },
        {"4294967294 keys takes at least "});
  }
}

TEST_F(room, is_said_in_bytes) {
  try {
    build("sorted_array", backend::cpu, cpu_, keys());
    FAIL() << "it was built";
  } catch (const out_of_memory& refused) {
    EXPECT_EQ(refused.asked(), n * 16);
    EXPECT_GT(refused.free(), 0);
    EXPECT_LT(refused.free(), n * 16);
  }
}

// Where what it needs is not known, and where memory is somebody else's.
TEST_F(room, is_not_looked_for_otherwise) {
  const auto refused_by_allocation = [&](const context& on, const column& keys) {
    test::expect_error<out_of_memory>([&] { build("sorted_array", backend::cpu, on, keys); },
                                      {"bytes asked"});
  };
  class none final : public memory_resource {
   public:
    void* allocate(std::size_t bytes, stream_t /*stream*/) override {
      throw out_of_memory(bytes, 0);
    }
    void deallocate(void* /*memory*/, std::size_t /*bytes*/,
                    stream_t /*stream*/) noexcept override {}
    memory_space space() const noexcept override { return memory_space::host; }
  } others;
  refused_by_allocation({others}, keys());
  // A wrong argument comes first.
  test::expect_error<invalid_argument>(
      [&] {
        build("sorted_array", backend::cpu, cpu_, {format_of<std::uint64_t>, nullptr, n});
      },
      {"null pointer"});
  test::expect_error<invalid_argument>(
      [&] {
        build("btree", backend::cpu, cpu_, keys(), std::nullopt, {{"fill", "7"}});
      },
      {"fill"});
}

TEST_F(room, is_there_for_what_fits) {
  std::vector<std::uint64_t> few((std::size_t{1} << 20) + 1);
  std::iota(few.begin(), few.end(), 0);
  EXPECT_EQ(build("auto", backend::cpu, cpu_, column(few))->info().entries, few.size());
}

}  // namespace
}  // namespace raydex
