// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory resources, streams and buffers. Calls that may allocate take a `context`: the resource
/// that memory comes from and the stream that work goes to. Those that change a structure take a
/// stream, and use the memory of its build.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "raydex/export.hpp"

struct CUstream_st;

namespace raydex {

/// A CUDA stream (the same type as `cudaStream_t`). The `cpu` backend ignores it: its work is done
/// when a call returns.
using stream_t = CUstream_st*;

/// Where memory is.
enum class memory_space : std::uint8_t {
  host,   ///< read and written by the CPU
  device  ///< read and written by the current CUDA device
};

/// Where memory comes from. Implementations are safe to call from several threads.
class RAYDEX_EXPORT memory_resource {
 public:
  /// What `allocate` aligns to.
  static constexpr std::size_t alignment = 256;

  memory_resource() = default;
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource();

  /// Returns `bytes` (at least 1) bytes, aligned to `alignment`, usable by work on `stream` from
  /// now on. Throws `out_of_memory`.
  virtual void* allocate(std::size_t bytes, stream_t stream) = 0;

  /// Takes back what `allocate` returned, once the work queued on `stream` so far is done.
  virtual void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept = 0;

  /// Where the memory is.
  virtual memory_space space() const noexcept = 0;

  /// Learns of memory that somebody else allocates (or frees, below 0) for those who use this
  /// resource, as a ray tracer on a CPU does. Nothing by default: it is for those that count.
  virtual void adopt(std::ptrdiff_t bytes) noexcept;

  /// What has to live as long as memory of this resource is held: buffers and indexes keep it. Null
  /// by default; whoever made the resource sees to that then.
  virtual std::shared_ptr<const void> owner() const noexcept;
};

/// Host memory from the C++ heap. Ignores streams.
class RAYDEX_EXPORT host_memory_resource final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, stream_t stream) override;
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override;
  memory_space space() const noexcept override { return memory_space::host; }
};

/// Passes requests on to another resource and counts the bytes: how an index measures what it holds
/// and what its build needed at most.
class RAYDEX_EXPORT tracking_resource final : public memory_resource {
 public:
  /// Counts the requests to `upstream`, which must outlive this resource unless it has an owner.
  explicit tracking_resource(memory_resource& upstream)
      : upstream_(&upstream), owner_(upstream.owner()) {}
  void* allocate(std::size_t bytes, stream_t stream) override;
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override;
  memory_space space() const noexcept override { return upstream_->space(); }

  /// Counts it, and passes it on.
  void adopt(std::ptrdiff_t bytes) noexcept override;

  /// Bytes held now.
  std::size_t current() const noexcept { return current_; }
  /// The most bytes held at any time.
  std::size_t peak() const noexcept { return peak_; }

 private:
  void count(std::ptrdiff_t bytes) noexcept;

  memory_resource* upstream_;
  std::shared_ptr<const void> owner_;
  std::atomic<std::size_t> current_ = 0;
  std::atomic<std::size_t> peak_ = 0;
};

/// What a call works with: the resource for its memory and the stream for its work.
struct context {
  memory_resource& memory;    ///< memory of the backend's space
  stream_t stream = nullptr;  ///< the stream; for `cpu`, null
};

/// The product of a count and a size, or the largest number where it has more than 64 bits: more
/// bytes than any memory has, so that whoever asks for them is refused.
constexpr std::uint64_t saturated_product(std::uint64_t count, std::uint64_t size) noexcept {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  return size != 0 && count > most / size ? most : count * size;
}

/// `bytes` bytes of a context's resource, for its stream. Throws `out_of_memory`, without asking
/// the resource where no object is as large: it need not expect such numbers.
RAYDEX_EXPORT void* allocate(const context& on, std::uint64_t bytes);

/// An owned array of `size` trivial T, uninitialised, in the memory of a resource. It is freed on
/// the stream that it was allocated on; resource and stream must outlive it unless the resource has
/// an owner, as that of a session. Moving leaves an empty buffer behind.
template <class T>
class buffer {
 public:
  /// Empty, no allocation.
  buffer() = default;

  /// Allocates `size` elements; none where `size` is 0. Throws `out_of_memory`.
  buffer(const context& on, std::uint64_t size)
      : memory_(&on.memory), owner_(on.memory.owner()), stream_(on.stream), size_(size) {
    if (size != 0) data_ = static_cast<T*>(allocate(on, saturated_product(size, sizeof(T))));
  }
  /// Takes over the array of `other`.
  buffer(buffer&& other) noexcept { swap(other); }
  /// Frees this array and takes over the one of `other`.
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~buffer() {
    if (data_ != nullptr) memory_->deallocate(data_, bytes(), stream_);
  }

  /// Exchanges two buffers.
  void swap(buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(owner_, other.owner_);
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  /// The elements as a range, so that spans and columns are made of it. They are read and written
  /// on the host only where the memory is the host's; so it is with `operator[]`.
  T* begin() noexcept { return data_; }
  /// See `begin`.
  const T* begin() const noexcept { return data_; }
  /// Behind the last element.
  T* end() noexcept { return data_ + size_; }
  /// Behind the last element.
  const T* end() const noexcept { return data_ + size_; }
  /// An element. Precondition: i < size().
  T& operator[](std::uint64_t i) noexcept { return data_[i]; }
  /// An element. Precondition: i < size().
  const T& operator[](std::uint64_t i) const noexcept { return data_[i]; }
  /// The first element; null where empty.
  T* data() noexcept { return data_; }
  /// The first element; null where empty.
  const T* data() const noexcept { return data_; }
  /// Number of elements.
  std::uint64_t size() const noexcept { return size_; }
  /// Number of bytes.
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(size_) * sizeof(T); }

 private:
  memory_resource* memory_ = nullptr;
  std::shared_ptr<const void> owner_;
  stream_t stream_ = nullptr;
  T* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace raydex
