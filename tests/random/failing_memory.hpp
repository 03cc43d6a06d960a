// SPDX-License-Identifier: Apache-2.0
// Memory in which a chosen allocation fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "raydex/memory.hpp"
#include "tests/failures/failure.hpp"
#include "tests/random/case.hpp"

namespace raydex::test {

// Counts the bytes handed out, and refuses an allocation when told to.
class failing_resource final : public memory_resource {
 public:
  explicit failing_resource(memory_resource& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, stream_t stream) override;
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override;
  memory_space space() const noexcept override { return upstream_.space(); }

  std::size_t held() const { return held_; }

 private:
  friend class armed_fault;

  memory_resource& upstream_;
  std::atomic<std::size_t> held_ = 0;
  std::atomic<std::int64_t> until_failure_ = 0;  // allocations, including the one that fails
};

// While this object lives, the call that the case names fails, on any thread.
class armed_fault {
 public:
  armed_fault(failing_resource& memory, const fault& what);
  armed_fault(const armed_fault&) = delete;
  armed_fault& operator=(const armed_fault&) = delete;
  ~armed_fault();

  // Whether it has failed.
  bool has_struck() const;

 private:
  failing_resource& memory_;
  fault::source of_;
  std::optional<failure> call_;
};

}  // namespace raydex::test
