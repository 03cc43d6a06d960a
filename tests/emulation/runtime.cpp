// SPDX-License-Identifier: Apache-2.0
//
// The emulated device behind the runtime's calls: its memory, handles, errors and launches. All
// work is done before a call returns.
//
// Under AddressSanitizer device memory may be touched only by kernels and by the calls here, so
// that host code which follows a device pointer is caught.
#include "cuda_runtime_api.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <unordered_map>

#include "emulation/control.hpp"
#include "emulation/launch.hpp"
#include "sanitizer.hpp"

struct CUstream_st {};

struct CUevent_st {
  using Clock = std::chrono::steady_clock;

  bool timed = true;
  std::optional<Clock::time_point> recorded;
};

struct CUmemPoolHandle_st {
  std::size_t used = 0;
  std::size_t used_high = 0;
  std::size_t limit = SIZE_MAX;
  std::map<cudaMemPoolAttr, std::uint64_t> settings;
  bool destroyed = false;
};

namespace emulation {
namespace {

constexpr int max_block_threads = 1024;
constexpr unsigned int max_block_z = 64;
constexpr unsigned int max_grid_yz = 65535;
constexpr std::size_t default_shared_bytes = std::size_t{48} << 10;
constexpr std::size_t optin_shared_bytes = std::size_t{227} << 10;
constexpr std::size_t multiprocessor_shared_bytes = std::size_t{228} << 10;
constexpr int multiprocessor_threads = 2048;
constexpr int multiprocessor_blocks = 32;
constexpr int multiprocessors = 2;
constexpr int l2_bytes = 4 << 20;
constexpr int compute_major = 9;
constexpr int compute_minor = 0;
constexpr std::align_val_t allocation_alignment{256};
constexpr int unwritten = 0xA5;

enum class Place { device, host };

struct Allocation {
  std::size_t bytes;
  Place place;
  cudaMemPool_t pool;
};

// Sorted so that what contains an address can be looked up.
using Allocations = std::map<const std::byte*, Allocation>;

struct Device {
  std::recursive_mutex mutex;
  cudaError_t last_error = cudaSuccess;
  std::size_t memory = std::size_t{1} << 30;
  std::size_t used = 0;
  Allocations allocations;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  std::set<cudaMemPool_t> pools;
  CUmemPoolHandle_st default_pool;
  std::unordered_map<const void*, int> shared_limits;
  std::optional<cudaError_t> launch_failure;
  std::optional<std::size_t> allocations_to_failure;
  std::size_t launches = 0;
};

Device& device() {
  static Device instance;
  return instance;
}

// Runs a call's work on the locked device and remembers its error.
template <typename Work>
cudaError_t call(Work work) {
  Device& locked = device();
  const std::lock_guard lock(locked.mutex);
  const cudaError_t error = work(locked);
  if (error != cudaSuccess) locked.last_error = error;
  return error;
}

bool valid(const Device& owner, cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         owner.streams.contains(stream);
}

bool valid(const Device& owner, cudaEvent_t event) {
  return owner.events.contains(event);
}

bool valid(const Device& owner, cudaMemPool_t pool) {
  return pool == &owner.default_pool || (owner.pools.contains(pool) && !pool->destroyed);
}

Allocations::const_iterator find(const Device& owner, const void* pointer) {
  const auto* const address = static_cast<const std::byte*>(pointer);
  auto after = owner.allocations.upper_bound(address);
  if (after == owner.allocations.begin()) return owner.allocations.end();
  --after;
  const bool inside =
      std::less<>()(address, after->first + after->second.bytes) || address == after->first;
  return inside ? after : owner.allocations.end();
}

// Device memory is open to everybody while one of these lives.
class Access {
 public:
  explicit Access(const Device& owner) : owner_(owner) { for_each(&detail::permit); }
  ~Access() { for_each(&detail::forbid); }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  void for_each(void (*change)(const void*, std::size_t)) const {
    for (const auto& [begin, allocation] : owner_.allocations) {
      if (allocation.place == Place::device) change(begin, allocation.bytes);
    }
  }

  const Device& owner_;
};

// Opens a part of an allocation, which a copy or fill is about to touch. The sanitizer knows no
// less than 8 bytes, and an allocation begins at a multiple of them.
class PartialAccess {
 public:
  PartialAccess(const Device& owner, const void* pointer, std::size_t bytes) {
    const auto found = find(owner, pointer);
    if (bytes == 0 || found == owner.allocations.end()) return;
    if (found->second.place == Place::host) return;
    const auto* const address = static_cast<const std::byte*>(pointer);
    const auto from = static_cast<std::size_t>(address - found->first) / 8 * 8;
    const auto to = static_cast<std::size_t>(address - found->first) + bytes;
    begin_ = found->first + from;
    bytes_ = std::min((to + 7) / 8 * 8, found->second.bytes) - from;
    detail::permit(begin_, bytes_);
  }
  ~PartialAccess() {
    if (begin_ != nullptr) detail::forbid(begin_, bytes_);
  }
  PartialAccess(const PartialAccess&) = delete;
  PartialAccess& operator=(const PartialAccess&) = delete;

 private:
  const std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

cudaError_t allocate(Device& owner, void** pointer, std::size_t bytes, Place place,
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
  if (place == Place::device) {
    const std::size_t left = owner.used < owner.memory ? owner.memory - owner.used : 0;
    if (bytes > left) return cudaErrorMemoryAllocation;
    if (pool != nullptr && bytes > pool->limit - pool->used) return cudaErrorMemoryAllocation;
  }
  void* const memory = ::operator new(bytes, allocation_alignment, std::nothrow);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(memory, unwritten, bytes);
  owner.allocations.emplace(static_cast<const std::byte*>(memory), Allocation{bytes, place, pool});
  if (place == Place::device) {
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

void drop_pool(Device& owner, cudaMemPool_t pool) {
  owner.pools.erase(pool);
  delete pool;
}

cudaError_t release(Device& owner, void* pointer, Place place) {
  if (pointer == nullptr) return cudaSuccess;
  const auto found = owner.allocations.find(static_cast<const std::byte*>(pointer));
  if (found == owner.allocations.end() || found->second.place != place) {
    return cudaErrorInvalidValue;
  }
  const Allocation allocation = found->second;
  owner.allocations.erase(found);
  if (place == Place::device) {
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
bool is_in(const Device& owner, const void* pointer, std::size_t bytes, Place place) {
  const auto found = find(owner, pointer);
  if (found == owner.allocations.end()) return place == Place::host && pointer != nullptr;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - found->first);
  return found->second.place == place && bytes <= found->second.bytes - offset;
}

Place place_of(const Device& owner, const void* pointer) {
  const auto found = find(owner, pointer);
  return found == owner.allocations.end() ? Place::host : found->second.place;
}

cudaError_t copy(Device& owner, void* destination, const void* source, std::size_t bytes,
                 cudaMemcpyKind kind) {
  Place to = place_of(owner, destination);
  Place from = place_of(owner, source);
  switch (kind) {
    case cudaMemcpyHostToHost:
      to = from = Place::host;
      break;
    case cudaMemcpyHostToDevice:
      to = Place::device;
      from = Place::host;
      break;
    case cudaMemcpyDeviceToHost:
      to = Place::host;
      from = Place::device;
      break;
    case cudaMemcpyDeviceToDevice:
      to = from = Place::device;
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
  const PartialAccess destination_access(owner, destination, bytes);
  const PartialAccess source_access(owner, source, bytes);
  // Ranges that overlap are the caller's mistake; memcpy lets the sanitizer say so.
  std::memcpy(destination, source, bytes);
  return cudaSuccess;
}

cudaError_t fill(Device& owner, void* destination, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!is_in(owner, destination, bytes, place_of(owner, destination))) {
    return cudaErrorInvalidValue;
  }
  if (find(owner, destination) == owner.allocations.end()) return cudaErrorInvalidValue;
  const PartialAccess access(owner, destination, bytes);
  std::memset(destination, value, bytes);
  return cudaSuccess;
}

cudaError_t create_stream(cudaStream_t* stream) {
  return call([&](Device& owner) {
    if (stream == nullptr) return cudaErrorInvalidValue;
    *stream = new CUstream_st;
    owner.streams.insert(*stream);
    return cudaSuccess;
  });
}

// Calls that have nothing to do but to check their handle.
template <typename Handle>
cudaError_t check(Handle handle) {
  return call([&](Device& owner) {
    return valid(owner, handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

template <typename Type>
cudaError_t give(Type* destination, Type value) {
  return call([&](Device&) {
    if (destination == nullptr) return cudaErrorInvalidValue;
    *destination = value;
    return cudaSuccess;
  });
}

cudaError_t check_launch(const Device& owner, const cudaLaunchConfig_t& config,
                         const void* function) {
  const dim3 block = config.blockDim;
  const dim3 grid = config.gridDim;
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (!valid(owner, config.stream)) return cudaErrorInvalidResourceHandle;
  const auto too_many = [](unsigned int size) { return size == 0 || size > max_block_threads; };
  if (too_many(block.x) || too_many(block.y) || block.z == 0 || block.z > max_block_z) {
    return cudaErrorInvalidConfiguration;
  }
  if (too_many(block.x * block.y * block.z)) return cudaErrorInvalidConfiguration;
  if (grid.x == 0 || grid.x > static_cast<unsigned int>(INT_MAX) || grid.y == 0 ||
      grid.y > max_grid_yz || grid.z == 0 || grid.z > max_grid_yz) {
    return cudaErrorInvalidConfiguration;
  }
  const auto set = owner.shared_limits.find(function);
  const std::size_t limit =
      set == owner.shared_limits.end()
          ? default_shared_bytes
          : std::max(default_shared_bytes, static_cast<std::size_t>(set->second));
  if (config.dynamicSmemBytes > limit) return cudaErrorInvalidValue;
  if (config.numAttrs != 0 && config.attrs == nullptr) return cudaErrorInvalidValue;
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0) {
      return cudaErrorNotSupported;
    }
    if (attribute.id == cudaLaunchAttributeClusterDimension &&
        cluster.x * cluster.y * cluster.z != 1) {
      return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

std::optional<int> attribute_value(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return max_block_threads;
    case cudaDevAttrMaxBlockDimZ:
      return max_block_z;
    case cudaDevAttrMaxGridDimX:
      return INT_MAX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return max_grid_yz;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(default_shared_bytes);
    case cudaDevAttrWarpSize:
      return warpSize;
    case cudaDevAttrMultiProcessorCount:
      return multiprocessors;
    case cudaDevAttrL2CacheSize:
      return l2_bytes;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return multiprocessor_threads;
    case cudaDevAttrComputeCapabilityMajor:
      return compute_major;
    case cudaDevAttrComputeCapabilityMinor:
      return compute_minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(multiprocessor_shared_bytes);
    case cudaDevAttrCooperativeLaunch:
      return 0;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(optin_shared_bytes);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return multiprocessor_blocks;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 1024;
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
  }
  return std::nullopt;
}

}  // namespace

namespace detail {

cudaError_t launch(const cudaLaunchConfig_t* config, const void* function, KernelBody body,
                   const void* arguments) {
  return call([&](Device& owner) {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = check_launch(owner, *config, function);
    if (error != cudaSuccess) return error;
    if (owner.launch_failure.has_value()) {
      const cudaError_t failure = *owner.launch_failure;
      owner.launch_failure.reset();
      return failure;
    }
    ++owner.launches;
    const Access access(owner);
    run_grid(config->gridDim, config->blockDim, config->dynamicSmemBytes, body, arguments);
    return cudaSuccess;
  });
}

}  // namespace detail

void set_device_memory(std::size_t bytes) {
  const std::lock_guard lock(device().mutex);
  device().memory = bytes;
}

std::size_t device_memory_in_use() {
  const std::lock_guard lock(device().mutex);
  return device().used;
}

std::size_t live_allocations() {
  const std::lock_guard lock(device().mutex);
  return device().allocations.size();
}

std::size_t live_handles() {
  const std::lock_guard lock(device().mutex);
  const auto is_live = [](cudaMemPool_t pool) { return !pool->destroyed; };
  const auto pools = std::count_if(device().pools.begin(), device().pools.end(), is_live);
  return device().streams.size() + device().events.size() + static_cast<std::size_t>(pools);
}

void fail_next_launch(cudaError_t error) {
  const std::lock_guard lock(device().mutex);
  device().launch_failure = error;
}

void fail_allocation_after(std::size_t successes) {
  const std::lock_guard lock(device().mutex);
  device().allocations_to_failure = successes;
}

void clear_failures() {
  const std::lock_guard lock(device().mutex);
  device().launch_failure.reset();
  device().allocations_to_failure.reset();
}

std::size_t launches() {
  const std::lock_guard lock(device().mutex);
  return device().launches;
}

}  // namespace emulation

using emulation::allocate;
using emulation::call;
using emulation::check;
using emulation::Device;
using emulation::give;
using emulation::Place;
using emulation::release;
using emulation::valid;

cudaError_t cudaGetLastError() {
  const std::lock_guard lock(emulation::device().mutex);
  return std::exchange(emulation::device().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(emulation::device().mutex);
  return emulation::device().last_error;
}

#define EMULATION_ERRORS(item)                                                                     \
  item(cudaSuccess, "no error") item(cudaErrorInvalidValue, "invalid argument")                    \
      item(cudaErrorMemoryAllocation, "out of memory")                                             \
          item(cudaErrorInitializationError, "initialization error") item(                         \
              cudaErrorInvalidConfiguration, "invalid configuration argument")                     \
              item(cudaErrorInvalidDevicePointer, "invalid device pointer") item(                  \
                  cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")            \
                  item(cudaErrorInvalidDeviceFunction, "invalid device function") item(            \
                      cudaErrorNoDevice, "no CUDA-capable device is detected")                     \
                      item(cudaErrorInvalidDevice, "invalid device ordinal") item(                 \
                          cudaErrorInvalidResourceHandle, "invalid resource handle")               \
                          item(cudaErrorNotReady, "device not ready") item(                        \
                              cudaErrorIllegalAddress, "an illegal memory access was encountered") \
                              item(cudaErrorLaunchOutOfResources,                                  \
                                   "too many resources requested for launch")                      \
                                  item(cudaErrorLaunchFailure, "unspecified launch failure")       \
                                      item(cudaErrorNotSupported, "operation not supported")       \
                                          item(cudaErrorUnknown, "unknown error")

const char* cudaGetErrorName(cudaError_t error) {
#define EMULATION_NAME(name, text) \
  case name:                       \
    return #name;
  switch (error) { EMULATION_ERRORS(EMULATION_NAME) }
#undef EMULATION_NAME
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
#define EMULATION_TEXT(name, text) \
  case name:                       \
    return text;
  switch (error) { EMULATION_ERRORS(EMULATION_TEXT) }
#undef EMULATION_TEXT
  return "unrecognized error code";
}

#undef EMULATION_ERRORS

cudaError_t cudaDriverGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaGetDeviceCount(int* count) {
  return give(count, 1);
}
cudaError_t cudaGetDevice(int* device) {
  return give(device, 0);
}

cudaError_t cudaSetDevice(int device) {
  return call([&](Device&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](Device&) {
    const std::optional<int> known = emulation::attribute_value(attribute);
    if (device != 0) return cudaErrorInvalidDevice;
    if (value == nullptr || !known.has_value()) return cudaErrorInvalidValue;
    *value = *known;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&](Device& owner) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (properties == nullptr) return cudaErrorInvalidValue;
    *properties = {
        .name = "emulated",
        .totalGlobalMem = owner.memory,
        .sharedMemPerBlock = emulation::default_shared_bytes,
        .warpSize = warpSize,
        .maxThreadsPerBlock = emulation::max_block_threads,
        .maxThreadsDim = {emulation::max_block_threads, emulation::max_block_threads,
                          emulation::max_block_z},
        .maxGridSize = {INT_MAX, emulation::max_grid_yz, emulation::max_grid_yz},
        .major = emulation::compute_major,
        .minor = emulation::compute_minor,
        .multiProcessorCount = emulation::multiprocessors,
        .l2CacheSize = emulation::l2_bytes,
        .maxThreadsPerMultiProcessor = emulation::multiprocessor_threads,
        .sharedMemPerMultiprocessor = emulation::multiprocessor_shared_bytes,
        .sharedMemPerBlockOptin = emulation::optin_shared_bytes,
        .maxBlocksPerMultiProcessor = emulation::multiprocessor_blocks,
        .memoryPoolsSupported = 1,
    };
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call([&](Device& owner) {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *free_bytes = owner.used < owner.memory ? owner.memory - owner.used : 0;
    *total_bytes = owner.memory;
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call(
      [&](Device& owner) { return allocate(owner, pointer, bytes, Place::device, nullptr); });
}

cudaError_t cudaFree(void* pointer) {
  return call([&](Device& owner) { return release(owner, pointer, Place::device); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call([&](Device& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    if (!valid(owner, pool)) return cudaErrorInvalidValue;
    return allocate(owner, pointer, bytes, Place::device, pool);
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
  return call([&](Device& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return release(owner, pointer, Place::device);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned int) {
  return call([&](Device& owner) { return allocate(owner, pointer, bytes, Place::host, nullptr); });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return cudaMallocHost(pointer, bytes, flags);
}

cudaError_t cudaFreeHost(void* pointer) {
  return call([&](Device& owner) { return release(owner, pointer, Place::host); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&](Device& owner) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    // An attribute's pointers are mutable, whatever they were asked for with.
    void* const address = const_cast<void*>(pointer);
    const auto found = find(owner, pointer);
    if (found == owner.allocations.end()) {
      *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, address};
    } else if (found->second.place == Place::device) {
      *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
    } else {
      *attributes = {cudaMemoryTypeHost, 0, address, address};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes,
                       cudaMemcpyKind kind) {
  return call([&](Device& owner) { return copy(owner, destination, source, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](Device& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    return copy(owner, destination, source, bytes, kind);
  });
}

cudaError_t cudaMemset(void* destination, int value, std::size_t bytes) {
  return call([&](Device& owner) { return fill(owner, destination, value, bytes); });
}

cudaError_t cudaMemsetAsync(void* destination, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&](Device& owner) {
    if (!valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    return fill(owner, destination, value, bytes);
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&](Device& owner) {
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
  return call([&](Device& owner) {
    if (!valid(owner, pool) || pool == &owner.default_pool) return cudaErrorInvalidValue;
    // As in CUDA, it goes when its last allocation does.
    pool->destroyed = true;
    if (pool->used == 0) emulation::drop_pool(owner, pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&](Device& owner) {
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
  return call([&](Device& owner) {
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
  return call(
      [&](Device& owner) { return valid(owner, pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&](Device& owner) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = &owner.default_pool;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return emulation::create_stream(stream);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  if (flags > cudaStreamNonBlocking) return call([](Device&) { return cudaErrorInvalidValue; });
  return emulation::create_stream(stream);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](Device& owner) {
    if (owner.streams.erase(stream) == 0) return cudaErrorInvalidResourceHandle;
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return check(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return check(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return call([&](Device& owner) {
    const bool known = valid(owner, stream) && valid(owner, event);
    return known ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&](Device& owner) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = new CUevent_st{.timed = (flags & cudaEventDisableTiming) == 0, .recorded = {}};
    owner.events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](Device& owner) {
    if (owner.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](Device& owner) {
    if (!valid(owner, event) || !valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    event->recorded = CUevent_st::Clock::now();
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return check(event);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return check(event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Device& owner) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    for (const cudaEvent_t event : {start, end}) {
      if (!valid(owner, event) || !event->timed || !event->recorded.has_value()) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    const std::chrono::duration<float, std::milli> elapsed = *end->recorded - *start->recorded;
    *milliseconds = elapsed.count();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&](Device& owner) {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<std::size_t>(value) > emulation::optin_shared_bytes) {
      return cudaErrorInvalidValue;
    }
    owner.shared_limits[function] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call([&](Device& owner) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto set = owner.shared_limits.find(function);
    *attributes = {};
    attributes->maxThreadsPerBlock = emulation::max_block_threads;
    attributes->numRegs = 32;
    attributes->maxDynamicSharedSizeBytes = set == owner.shared_limits.end()
                                                ? static_cast<int>(emulation::default_shared_bytes)
                                                : set->second;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return call([&](Device&) {
    if (blocks == nullptr || block_size < 1) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (block_size > emulation::max_block_threads ||
        dynamic_shared_bytes > emulation::optin_shared_bytes) {
      *blocks = 0;
      return cudaSuccess;
    }
    const int threads = (block_size + warpSize - 1) / warpSize * warpSize;
    const std::size_t shared = dynamic_shared_bytes + 1024;
    *blocks =
        std::min({emulation::multiprocessor_blocks, emulation::multiprocessor_threads / threads,
                  static_cast<int>(emulation::multiprocessor_shared_bytes / shared)});
    return cudaSuccess;
  });
}
