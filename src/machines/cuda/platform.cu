// SPDX-License-Identifier: Apache-2.0
#include "src/interface/builders.hpp"

#include <mutex>
#include <string>
#include <vector>

#include "src/machines/cuda/check.hpp"

namespace raydex::cuda {

namespace {

int current_device() {
  int number = 0;
  check(cudaGetDevice(&number), "cudaGetDevice");
  return number;
}

void wait_for_event(stream_t stream, void* event) {
  check(cudaStreamWaitEvent(stream, *static_cast<cudaEvent_t*>(event), 0), "cudaStreamWaitEvent");
}

std::shared_ptr<void> record_event(stream_t stream) {
  const auto destroy = [](cudaEvent_t* event) {
    if (*event != nullptr) cudaEventDestroy(*event);
    delete event;
  };
  const std::shared_ptr<cudaEvent_t> event(new cudaEvent_t(nullptr), destroy);
  check(cudaEventCreateWithFlags(event.get(), cudaEventDisableTiming), "cudaEventCreateWithFlags");
  check(cudaEventRecord(*event, stream), "cudaEventRecord");
  return event;
}

// A pool of the current device. It keeps what is freed, so that the next build need not ask the
// system again, and gives all back when it goes.
class pool_resource final : public memory_resource {
 public:
  explicit pool_resource(int device) : pool_resource() {  // so that it is destroyed if this throws
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
    std::uint64_t keep = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep),
          "cudaMemPoolSetAttribute");
  }
  ~pool_resource() override {
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
  }

  void* allocate(std::size_t bytes, stream_t stream) override {
    void* memory = nullptr;
    const cudaError_t code = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      std::size_t free = 0;
      std::size_t total = 0;
      cudaMemGetInfo(&free, &total);
      throw out_of_memory(bytes, free);
    }
    check(code, "cudaMallocFromPoolAsync");
    return memory;
  }
  void deallocate(void* memory, std::size_t /*bytes*/, stream_t stream) noexcept override {
    cudaFreeAsync(memory, stream);
  }
  memory_space space() const noexcept override { return memory_space::device; }

 private:
  pool_resource() = default;

  cudaMemPool_t pool_ = nullptr;
};

// Keeps small blocks that the session's own stream gave back for its next calls: those of a batch
// ask for the same sizes again and again, and the driver takes 1 us or more for each. What a graph
// is made of is left to the driver, since a graph outlives the calls that it was captured from.
class reusing_resource final : public memory_resource {
 public:
  reusing_resource(pool_resource& pool, cudaStream_t stream) : pool_(&pool), stream_(stream) {}
  ~reusing_resource() override {
    for (const block& one : kept_)
      pool_->deallocate(one.memory, one.bytes, stream_);
  }

  void* allocate(std::size_t bytes, stream_t stream) override {
    if (reusable(bytes, stream)) {
      const std::lock_guard lock(mutex_);
      for (block& one : kept_) {
        if (one.bytes != bytes) continue;
        void* const memory = one.memory;
        one = kept_.back();
        kept_.pop_back();
        return memory;
      }
    }
    return pool_->allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    if (reusable(bytes, stream)) {
      const std::lock_guard lock(mutex_);
      if (kept_.size() < most_blocks) {
        kept_.push_back({memory, bytes});
        return;
      }
    }
    pool_->deallocate(memory, bytes, stream);
  }
  memory_space space() const noexcept override { return memory_space::device; }

 private:
  struct block {
    void* memory;
    std::size_t bytes;
  };
  static constexpr std::size_t most_blocks = 16;
  static constexpr std::size_t most_bytes = std::size_t{4} << 20;  // of a block

  bool reusable(std::size_t bytes, stream_t stream) const noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return stream == stream_ && bytes <= most_bytes &&
           cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status == cudaStreamCaptureStatusNone;
  }

  pool_resource* pool_;
  cudaStream_t stream_;
  std::mutex mutex_;
  std::vector<block> kept_ = reserved();

  // So that giving back allocates nothing.
  static std::vector<block> reserved() {
    std::vector<block> blocks;
    blocks.reserve(most_blocks);
    return blocks;
  }
};

class owned_stream {
 public:
  owned_stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~owned_stream() { cudaStreamDestroy(stream_); }
  owned_stream(const owned_stream&) = delete;
  owned_stream& operator=(const owned_stream&) = delete;
  operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class gpu final : public platform {
 public:
  memory_resource& memory() noexcept override { return memory_; }
  stream_t stream() const noexcept override { return stream_; }

  device_info device() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, number_), "cudaGetDeviceProperties");
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    device_info info;
    info.name = properties.name;
    info.driver =
        "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    check(cudaMemGetInfo(&info.free_bytes, &info.total_bytes), "cudaMemGetInfo");
    return info;
  }

  void copy_in(void* to, const void* from, std::size_t bytes) const override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
    synchronize();
  }
  void copy_out(void* to, const void* from, std::size_t bytes) const override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    synchronize();
  }
  void synchronize() const override {
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  int number_ = current_device();
  pool_resource pool_{number_};
  owned_stream stream_;
  reusing_resource memory_{pool_, stream_};
};

}  // namespace

std::unique_ptr<platform> open_platform() {
  return std::make_unique<gpu>();
}

std::string why_unavailable() {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code == cudaSuccess && devices > 0) return {};
  cudaGetLastError();
  if (code == cudaErrorInsufficientDriver) {
    return "no NVIDIA driver, or one older than this build's CUDA; install a newer driver";
  }
  if (code == cudaSuccess || code == cudaErrorNoDevice) return "no CUDA device on this machine";
  return std::string("the CUDA runtime says: ") + cudaGetErrorString(code);
}

extern const event_table events{
    .device = current_device, .wait = wait_for_event, .record = record_event};
extern const backend_table table{.where = backend::cuda,
                                 .why_unavailable = why_unavailable,
                                 .open_platform = open_platform,
                                 .operations = &operations,
                                 .structures = &main_builders,
                                 .events = &events};

}  // namespace raydex::cuda
