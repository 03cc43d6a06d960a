// SPDX-License-Identifier: Apache-2.0
// Output files are there when they are complete, and not before.
#include "io/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "io/npz.hpp"
#include "tests/io/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

// The system calls that the code for files makes, in this order.
std::string asked;

}  // namespace

// These replace the C library's.
extern "C" int fsync(int descriptor) {
  asked += "fsync ";
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  asked += "rename ";
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace raydex::io {
namespace {

using test::expect_error;
using test::read_file;
using test::temporary_folder;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(OutputFile, AppearsWhenCommitted) {
  const temporary_folder folder;
  const std::string path = folder.write("o.npy", "before");
  output_file file(path);
  file.write(bytes("ab"));
  file.write(bytes("cd"));
  EXPECT_EQ(read_file(path), "before");
  file.commit();
  EXPECT_EQ(read_file(path), "abcd");
  EXPECT_EQ(folder.files(), 1);
}

TEST(OutputFile, IsOnTheDiskBeforeItTakesItsPlace) {
  const temporary_folder folder;
  output_file one(folder.path("one"));
  output_file other(folder.path("other"));
  asked.clear();
  one.commit();
  EXPECT_EQ(asked, "fsync rename ");
  other.finish();
  other.commit();
  EXPECT_EQ(asked, "fsync rename fsync rename ");
}

TEST(OutputFile, FollowsLinks) {
  const temporary_folder folder;
  const std::string target = folder.write("target", "before");
  std::filesystem::create_symlink("target", folder.path("link"));
  write_text(folder.path("link"), "after");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_file(target), "after");
}

TEST(OutputFile, KeepsTheMode) {
  const temporary_folder folder;
  const std::string path = folder.write("o.npy", "before");
  ::chmod(path.c_str(), 0604);
  write_text(path, "after");
  EXPECT_EQ(read_file(path), "after");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms{0604});
}

TEST(OutputFile, RefusesReadOnlyFiles) {
  const temporary_folder folder;
  const std::string path = folder.write("o.npy", "before");
  ::chmod(path.c_str(), 0444);
  expect_error([&] { output_file file(path); }, "o.npy: cannot be written: it is read-only");
  EXPECT_EQ(read_file(path), "before");
}

TEST(OutputFile, IsWrittenInPieces) {
  const temporary_folder folder;
  const std::string path = folder.path("o.npy");
  output_file file(path);
  file.write(bytes("abcd"));
  file.write(bytes("e"));
  file.commit();
  EXPECT_EQ(read_file(path), "abcde");
}

TEST(OutputFile, HasThePermissionsOfAnyFile) {
  const temporary_folder folder;
  const std::string path = folder.path("o.npy");
  output_file file(path);
  file.commit();
  const std::string other = folder.write("other", "");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::status(other).permissions());
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const temporary_folder folder;
  const std::string path = folder.write("o.npy", "before");
  {
    output_file file(path);
    file.write(bytes("after"));
  }
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(folder.files(), 1);
}

TEST(OutputFile, PathsThatCannotBeWritten) {
  const temporary_folder folder;
  expect_error([&] { output_file file(folder.path("none/o.npy")); },
               "none/o.npy: cannot be written", "No such file or directory");
  expect_error([&] { output_file file(folder.path("")); }, "not a regular file");
  expect_error([] { output_file file(""); }, "not a regular file");
  EXPECT_EQ(folder.files(), 0);
}

// Pipes and devices are not replaced.
TEST(OutputFile, StreamsAreWrittenAtOnce) {
  const temporary_folder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  output_file file(path);
  file.write(bytes("abc"));
  std::array<char, 8> got{};
  EXPECT_EQ(::read(reader, got.data(), got.size()), 3);
  EXPECT_EQ(std::string_view(got.data()), "abc");
  file.commit();
  EXPECT_EQ(::read(reader, got.data(), got.size()), 0) << "it is closed";
  EXPECT_EQ(folder.files(), 1);
  ::close(reader);

  output_file null("/dev/null");
  EXPECT_NO_THROW(null.write(bytes("abc")));
  EXPECT_NO_THROW(null.commit());
  output_file full("/dev/full");
  expect_error([&] { full.write(bytes("abc")); }, "/dev/full: cannot be written", "No space");
}

TEST(Npz, ArchivesAreEqualForEqualArrays) {
  const temporary_folder folder;
  const auto write = [&](const char* name) {
    output_file file(folder.path(name));
    write_npz(file, std::array{npz_member{"offsets", format_of<std::uint64_t>, bytes("abcdefgh")},
                               npz_member{"rows", format_of<std::uint32_t>, {}}});
    file.commit();
    return read_file(folder.path(name));
  };
  const std::string archive = write("a.npz");
  EXPECT_TRUE(archive.starts_with("PK"));
  EXPECT_NE(archive.find("offsets.npy"), std::string::npos);
  EXPECT_NE(archive.find("abcdefgh"), std::string::npos);  // stored, not compressed
  EXPECT_EQ(archive, write("b.npz"));
  EXPECT_EQ(folder.files(), 2);
  EXPECT_EQ(std::filesystem::status(folder.path("a.npz")).permissions(),
            std::filesystem::status(folder.write("other", "")).permissions());
}

}  // namespace
}  // namespace raydex::io
