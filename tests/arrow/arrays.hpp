// SPDX-License-Identifier: Apache-2.0
// Arrays of Arrow's C interfaces, as somebody else would make them.
#pragma once

#include <cstdint>
#include <vector>

#include "raydex/arrow.hpp"

namespace raydex::test {

// An array of buffers that it does not own, and its type.
class made_array {
 public:
  made_array(const char* format, std::int64_t length, std::vector<const void*> buffers,
             std::int64_t offset = 0)
      : buffers_(std::move(buffers)) {
    schema.format = format;
    schema.name = "";
    schema.release = [](ArrowSchema* own) { own->release = nullptr; };
    array.length = length;
    array.null_count = buffers_.empty() || buffers_[0] == nullptr ? 0 : -1;  // not counted
    array.offset = offset;
    array.n_buffers = static_cast<std::int64_t>(buffers_.size());
    array.buffers = buffers_.data();
    array.release = [](ArrowArray* own) { own->release = nullptr; };
  }
  made_array(const made_array&) = delete;
  made_array& operator=(const made_array&) = delete;

  // The same on a device.
  ArrowDeviceArray on(ArrowDeviceType type, std::int64_t number, void* event = nullptr) const {
    ArrowDeviceArray there{};
    there.array = array;
    there.device_type = type;
    there.device_id = number;
    there.sync_event = event;
    return there;
  }

  ArrowSchema schema{};
  ArrowArray array{};

 private:
  std::vector<const void*> buffers_;
};

}  // namespace raydex::test
