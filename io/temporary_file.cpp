// SPDX-License-Identifier: Apache-2.0
// Files that are gone when the program ends, unless they are moved to their place.
#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <utility>

namespace raydex::io {

// A signal handler may read a name at any moment, so none is ever freed.
struct temporary_file::name {
  std::string path;
  std::atomic<bool> in_use = true;
  name* next = nullptr;
};

std::atomic<temporary_file::name*> temporary_file::names = nullptr;

// The name is random, so that the leftovers of a killed run block no other run; process numbers
// repeat in other namespaces.
temporary_file::name& temporary_file::add_name(const std::filesystem::path& folder) {
  std::random_device random;
  const std::string own = fmt::format("raydex-{:08x}{:08x}.tmp", random(), random());
  auto* const added = new name{.path = folder / own};
  added->next = names;
  while (!names.compare_exchange_weak(added->next, added)) {
  }
  return *added;
}

temporary_file::temporary_file(const std::filesystem::path& folder)
    : name_(add_name(folder)),
      descriptor_(::open(name_.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) name_.in_use = false;
}

temporary_file::~temporary_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (name_.in_use) ::unlink(name_.path.c_str());
  name_.in_use = false;
}

bool temporary_file::finish() {
  if (descriptor_ < 0) return true;
  const bool synced = ::fsync(descriptor_) == 0;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  return synced && closed;
}

bool temporary_file::move_to(const std::string& path) {
  if (std::rename(name_.path.c_str(), path.c_str()) != 0) return false;
  name_.in_use = false;
  return true;
}

void temporary_file::remove_all() noexcept {
  for (const name* one = names; one != nullptr; one = one->next) {
    if (one->in_use) ::unlink(one->path.c_str());
  }
}

}  // namespace raydex::io
