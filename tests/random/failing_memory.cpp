// SPDX-License-Identifier: Apache-2.0
#include "tests/random/failing_memory.hpp"

#include "raydex/error.hpp"

namespace raydex::test {

void* failing_resource::allocate(std::size_t bytes, stream_t stream) {
  // Most of the time nothing should fail.
  if (until_failure_ > 0 && until_failure_.fetch_sub(1) == 1) throw out_of_memory(bytes, 0);
  void* const memory = upstream_.allocate(bytes, stream);
  held_ += bytes;
  return memory;
}

void failing_resource::deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept {
  upstream_.deallocate(memory, bytes, stream);
  held_ -= bytes;
}

armed_fault::armed_fault(failing_resource& memory, const fault& what)
    : memory_(memory), of_(what.of) {
  if (of_ == fault::source::resource) {
    memory_.until_failure_ = what.at;
  } else if (of_ != fault::source::none) {
    call_.emplace(what.at - 1, of_ == fault::source::call ? shortage::once : shortage::lasting);
  }
}

armed_fault::~armed_fault() {
  memory_.until_failure_ = 0;
}

bool armed_fault::has_struck() const {
  return call_ ? has_failed() : of_ == fault::source::resource && memory_.until_failure_ <= 0;
}

}  // namespace raydex::test
