// SPDX-License-Identifier: Apache-2.0
#include "src/interface/builders.hpp"

#include <unistd.h>

#include <cstring>
#include <fstream>

namespace raydex::cpu {

namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "cpu";
}

class host final : public platform {
 public:
  memory_resource& memory() noexcept override { return memory_; }
  stream_t stream() const noexcept override { return nullptr; }
  device_info device() const override {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return {.name = processor_name(),
            .driver = {},
            .rt_core_version = 0,
            .free_bytes = page * static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)),
            .total_bytes = page * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES))};
  }
  void copy_in(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  void synchronize() const override {}

 private:
  host_memory_resource memory_;
};

}  // namespace

std::unique_ptr<platform> open_platform() {
  return std::make_unique<host>();
}

extern const backend_table table{.where = backend::cpu,
                                 .why_unavailable = [] { return std::string(); },
                                 .open_platform = open_platform,
                                 .operations = &operations,
                                 .structures = &main_builders,
                                 .events = nullptr};

}  // namespace raydex::cpu
