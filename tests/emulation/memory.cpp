// SPDX-License-Identifier: Apache-2.0
//
// Device and pinned host memory, copies, fills, and pools.
//
// Under AddressSanitizer device memory may be touched only by kernels and by the calls here, so
// that host code which follows a device pointer is caught.
#include "tests/emulation/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>

#include "tests/emulation/device.hpp"
#include "tests/emulation/sanitizer.hpp"

namespace emulation {
namespace {

constexpr std::align_val_t allocation_alignment{256};
constexpr int unwritten = 0xA5;

allocation_map::const_iterator find(const device_state& owner, const void* pointer) {
  const auto* const address = static_cast<const std::byte*>(pointer);
  auto after = owner.allocations.upper_bound(address);
  if (after == owner.allocations.begin()) return owner.allocations.end();
  --after;
  const bool inside =
      std::less<>()(address, after->first + after->second.bytes) || address == after->first;
  return inside ? after : owner.allocations.end();
}

// Opens a part of an allocation, which a copy or fill is about to touch. The sanitizer knows no
// less than 8 bytes, and an allocation begins at a multiple of them.
class partial_access {
 public:
  partial_access(const device_state& owner, const void* pointer, std::size_t bytes) {
    const auto found = find(owner, pointer);
    if (bytes == 0 || found == owner.allocations.end()) return;
    if (found->second.place == memory_place::host) return;
    const auto* const address = static_cast<const std::byte*>(pointer);
    const auto from = static_cast<std::size_t>(address - found->first) / 8 * 8;
    const auto to = static_cast<std::size_t>(address - found->first) + bytes;
    begin_ = found->first + from;
    bytes_ = std::min((to + 7) / 8 * 8, found->second.bytes) - from;
    detail::permit(begin_, bytes_);
  }
  ~partial_access() {
    if (begin_ != nullptr) detail::forbid(begin_, bytes_);
  }
  partial_access(const partial_access&) = delete;
  partial_access& operator=(const partial_access&) = delete;

 private:
  const std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

cudaError_t allocate(device_state& owner, void** pointer, std::size_t bytes, memory_place place,
                     cudaMemPool_t pool) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (owner.allocations_to_failure.has_value()) {
    if (*owner.allocations_to_failure == 0) {
      owner.allocations_to_failure.reset();
      return cudaErrorMemoryAllocation;
    }
    --*owner.allocations_to_failure;
  }
  if (place == memory_place::device) {
    const std::size_t left = owner.used < owner.memory ? owner.memory - owner.used : 0;
    if (bytes > left) return cudaErrorMemoryAllocation;
    if (pool != nullptr && bytes > pool->limit - pool->used) return cudaErrorMemoryAllocation;
  }
  void* const memory = ::operator new(bytes, allocation_alignment, std::nothrow);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(memory, unwritten, bytes);
  owner.allocations.emplace(static_cast<const std::byte*>(memory),
                            allocation_record{bytes, place, pool});
  if (place == memory_place::device) {
    owner.used += bytes;
    detail::forbid(memory, bytes);
  }
  if (pool != nullptr) {
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
  }
  *pointer = memory;
  return cudaSuccess;
}

void drop_pool(device_state& owner, cudaMemPool_t pool) {
  owner.pools.erase(pool);
  delete pool;
}

cudaError_t release(device_state& owner, void* pointer, memory_place place) {
  if (pointer == nullptr) return cudaSuccess;
  const auto found = owner.allocations.find(static_cast<const std::byte*>(pointer));
  if (found == owner.allocations.end() || found->second.place != place) {
    return cudaErrorInvalidValue;
  }
  const allocation_record allocation = found->second;
  owner.allocations.erase(found);
  if (place == memory_place::device) {
    owner.used -= allocation.bytes;
    detail::permit(pointer, allocation.bytes);
  }
  if (allocation.pool != nullptr) {
    allocation.pool->used -= allocation.bytes;
    if (allocation.pool->destroyed && allocation.pool->used == 0) drop_pool(owner, allocation.pool);
  }
  ::operator delete(pointer, allocation_alignment);
  return cudaSuccess;
}

// Whether a whole range may be one side of a copy: within one allocation of the place, or, for
// the host, in memory that is not the runtime's.
bool is_in(const device_state& owner, const void* pointer, std::size_t bytes, memory_place place) {
  const auto found = find(owner, pointer);
  if (found == owner.allocations.end()) return place == memory_place::host && pointer != nullptr;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - found->first);
  return found->second.place == place && bytes <= found->second.bytes - offset;
}

memory_place place_of(const device_state& owner, const void* pointer) {
  const auto found = find(owner, pointer);
  return found == owner.allocations.end() ? memory_place::host : found->second.place;
}

cudaError_t copy(device_state& owner, void* destination, const void* source, std::size_t bytes,
                 cudaMemcpyKind kind) {
  memory_place to = place_of(owner, destination);
  memory_place from = place_of(owner, source);
  switch (kind) {
    case cudaMemcpyHostToHost:
      to = from = memory_place::host;
      break;
    case cudaMemcpyHostToDevice:
      to = memory_place::device;
      from = memory_place::host;
      break;
    case cudaMemcpyDeviceToHost:
      to = memory_place::host;
      from = memory_place::device;
      break;
    case cudaMemcpyDeviceToDevice:
      to = from = memory_place::device;
      break;
    case cudaMemcpyDefault:
      break;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
  if (bytes == 0) return cudaSuccess;
  if (!is_in(owner, destination, bytes, to) || !is_in(owner, source, bytes, from)) {
    return cudaErrorInvalidValue;
  }
  const partial_access destination_access(owner, destination, bytes);
  const partial_access source_access(owner, source, bytes);
  // Ranges that overlap are the caller's mistake; memcpy lets the sanitizer say so.
  std::memcpy(destination, source, bytes);
  return cudaSuccess;
}

cudaError_t fill(device_state& owner, void* destination, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!is_in(owner, destination, bytes, place_of(owner, destination))) {
    return cudaErrorInvalidValue;
  }
  if (find(owner, destination) == owner.allocations.end()) return cudaErrorInvalidValue;
  const partial_access access(owner, destination, bytes);
  std::memset(destination, value, bytes);
  return cudaSuccess;
}

}  // namespace

device_memory_access::device_memory_access(const device_state& owner) : owner_(owner) {
  for_each(&detail::permit);
}

device_memory_access::~device_memory_access() {
  for_each(&detail::forbid);
}

void device_memory_access::for_each(void (*change)(const void*, std::size_t)) const {
  for (const auto& [begin, allocation] : owner_.allocations) {
    if (allocation.place == memory_place::device) change(begin, allocation.bytes);
  }
}

}  // namespace emulation

using emulation::allocate;
using emulation::call;
using emulation::copy;
using emulation::device_state;
using emulation::fill;
using emulation::find;
using emulation::memory_place;
using emulation::release;
using emulation::sure_call;
using emulation::valid;

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call([&](device_state& owner) {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *free_bytes = owner.used < owner.memory ? owner.memory - owner.used : 0;
    *total_bytes = owner.memory;
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call([&](device_state& owner) {
    return allocate(owner, pointer, bytes, memory_place::device, nullptr);
  });
}

cudaError_t cudaFree(void* pointer) {
  return sure_call(
      [&](device_state& owner) { return release(owner, pointer, memory_place::device); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call([&](device_state& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    if (!valid(owner, pool)) return cudaErrorInvalidValue;
    return allocate(owner, pointer, bytes, memory_place::device, pool);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                            cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, &emulation::device().default_pool, stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return sure_call([&](device_state& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return release(owner, pointer, memory_place::device);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned int) {
  return call([&](device_state& owner) {
    return allocate(owner, pointer, bytes, memory_place::host, nullptr);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return cudaMallocHost(pointer, bytes, flags);
}

cudaError_t cudaFreeHost(void* pointer) {
  return sure_call(
      [&](device_state& owner) { return release(owner, pointer, memory_place::host); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&](device_state& owner) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    // An attribute's pointers are mutable, whatever they were asked for with.
    void* const address = const_cast<void*>(pointer);
    const auto found = find(owner, pointer);
    if (found == owner.allocations.end()) {
      *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, address};
    } else if (found->second.place == memory_place::device) {
      *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
    } else {
      *attributes = {cudaMemoryTypeHost, 0, address, address};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes,
                       cudaMemcpyKind kind) {
  return call([&](device_state& owner) { return copy(owner, destination, source, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](device_state& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    return copy(owner, destination, source, bytes, kind);
  });
}

cudaError_t cudaMemset(void* destination, int value, std::size_t bytes) {
  return call([&](device_state& owner) { return fill(owner, destination, value, bytes); });
}

cudaError_t cudaMemsetAsync(void* destination, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&](device_state& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    return fill(owner, destination, value, bytes);
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&](device_state& owner) {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice || properties->location.id != 0) {
      return cudaErrorInvalidValue;
    }
    *pool = new CUmemPoolHandle_st;
    if (properties->maxSize != 0) (*pool)->limit = properties->maxSize;
    owner.pools.insert(*pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return sure_call([&](device_state& owner) {
    if (!valid(owner, pool) || pool == &owner.default_pool) return cudaErrorInvalidValue;
    // As in CUDA, it is freed with its last allocation.
    pool->destroyed = true;
    if (pool->used == 0) emulation::drop_pool(owner, pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&](device_state& owner) {
    if (!valid(owner, pool) || value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies: {
        int flag = 0;
        std::memcpy(&flag, value, sizeof flag);
        pool->settings[attribute] = flag != 0 ? 1 : 0;
        return cudaSuccess;
      }
      case cudaMemPoolAttrReleaseThreshold:
        std::memcpy(&pool->settings[attribute], value, sizeof(std::uint64_t));
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        pool->used_high = pool->used;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&](device_state& owner) {
    if (!valid(owner, pool) || value == nullptr) return cudaErrorInvalidValue;
    std::uint64_t wide = 0;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies: {
        const auto found = pool->settings.find(attribute);
        const int flag = found == pool->settings.end() || found->second != 0 ? 1 : 0;
        std::memcpy(value, &flag, sizeof flag);
        return cudaSuccess;
      }
      case cudaMemPoolAttrReleaseThreshold:
        wide = pool->settings[attribute];
        break;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        wide = pool->used;
        break;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        wide = pool->used_high;
        break;
      default:
        return cudaErrorInvalidValue;
    }
    std::memcpy(value, &wide, sizeof wide);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return call([&](device_state& owner) {
    return valid(owner, pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&](device_state& owner) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = &owner.default_pool;
    return cudaSuccess;
  });
}
