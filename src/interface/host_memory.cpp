// SPDX-License-Identifier: Apache-2.0
#include "src/interface/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace raydex {

namespace {

using std::filesystem::path;

// The number that a file begins with; nothing of "max".
std::optional<std::uint64_t> number_in(const path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}
// The number after a word.
std::optional<std::uint64_t> number_after(const path& file, std::string_view wanted) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  for (std::string word; in >> word;)
    if (word == wanted && in >> number) return number;
  return std::nullopt;
}

// How a version of control groups names its files.
struct group_files {
  const char* most;
  const char* used;
  const char* cached;  // which the system gives up for who needs it
};
constexpr group_files first_version{"memory.limit_in_bytes", "memory.usage_in_bytes",
                                    "total_cache"};
constexpr group_files second_version{"memory.max", "memory.current", "file"};

// What a group has left, without swapping.
std::optional<std::uint64_t> left_of(const path& group, const group_files& files) {
  const auto most = number_in(group / files.most);
  const auto used = number_in(group / files.used);
  if (!most || !used) return std::nullopt;
  const std::uint64_t cached = number_after(group / "memory.stat", files.cached).value_or(0);
  return *most - std::min(*most, *used - std::min(*used, cached));
}

bool has_memory(std::string_view controllers) {
  for (;;) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "memory") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

// Calls f(folder, files) for each group that counts the memory of this process, from its own up. In
// a container the files of its own may lie at the top.
template <class Function>
void for_each_group(const path& root, const Function& f) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers(line.data() + first + 1, second - first - 1);
    const bool is_second = controllers.empty();
    if (!is_second && !has_memory(controllers)) continue;
    const path top = root / (is_second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    for (path own = path(line.substr(second + 1)).relative_path();; own = own.parent_path()) {
      f(top / own, is_second ? second_version : first_version);
      if (own.empty()) break;
    }
  }
}

}  // namespace

std::optional<std::uint64_t> host_memory_left(const path& root) {
  constexpr std::uint64_t kilobyte = 1024;
  const path facts = root / "proc/meminfo";
  const auto available = number_after(facts, "MemAvailable:");
  if (!available) return std::nullopt;
  std::uint64_t left = *available * kilobyte;
  for_each_group(root, [&](const path& group, const group_files& files) {
    left = std::min(left, left_of(group, files).value_or(left));
  });
  return left + number_after(facts, "SwapFree:").value_or(0) * kilobyte;
}

}  // namespace raydex
