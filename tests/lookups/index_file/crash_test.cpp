// SPDX-License-Identifier: Apache-2.0
// A process that ends while it saves: at each call that has the system write, the old index or the
// new one is there, whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

// Calls until the process is killed; it never is while this is negative.
std::atomic<int> calls_left{-1};

bool is_last_call() {
  return calls_left >= 0 && calls_left-- == 0;
}
[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  std::abort();
}

}  // namespace

// These stand before those of the C library, for the library under test, too.
#pragma GCC visibility push(default)
extern "C" {
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  const bool is_last = is_last_call();
  const ssize_t written = ::syscall(SYS_pwrite64, file, from, is_last ? size / 2 : size, at);
  if (is_last) die();
  return written;
}
int fsync(int file) {
  if (is_last_call()) die();
  return static_cast<int>(::syscall(SYS_fsync, file));
}
int rename(const char* from, const char* to) noexcept {
  if (is_last_call()) die();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
}
#pragma GCC visibility pop

namespace raydex::test {
namespace {

TEST(index_crash, leaves_the_old_index_or_the_new_one) {
  const temporary_folder folder;
  const std::string path = folder.path("an.index");
  const session at(backend::cpu);
  const auto built = [&](std::uint32_t size) {
    std::vector<std::uint32_t> keys(size);
    std::iota(keys.begin(), keys.end(), 0U);
    return build("btree", backend::cpu, at, column(at.upload(keys)));
  };
  const auto before = built(1000);
  const auto after = built(3000);

  int killed = 0;
  bool replaced = false;
  for (bool ends_well = false; !ends_well; ++killed) {
    save(at, *before, path);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      calls_left = killed;
      save(at, *after, path);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ends_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ASSERT_TRUE(ends_well || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    const std::uint64_t n = load(backend::cpu, at, path).held->info().n;
    ASSERT_TRUE(n == 1000 || n == 3000) << n;
    ASSERT_GE(n, replaced ? 3000U : 1000U);  // once the new name is there it stays
    replaced = n == 3000;
  }
  EXPECT_TRUE(replaced);
  EXPECT_GT(killed, 10);
}

}  // namespace
}  // namespace raydex::test
