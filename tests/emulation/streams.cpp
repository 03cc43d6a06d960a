// SPDX-License-Identifier: Apache-2.0
//
// Streams and events. Work is done when it is submitted, so there is nothing to wait for.
#include <chrono>

#include "cuda_runtime_api.h"
#include "tests/emulation/device.hpp"

namespace emulation {
namespace {

cudaError_t create_stream(cudaStream_t* stream) {
  return call([&](device_state& owner) {
    if (stream == nullptr) return cudaErrorInvalidValue;
    *stream = new CUstream_st;
    owner.streams.insert(*stream);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace emulation

using emulation::call;
using emulation::check;
using emulation::device_state;
using emulation::sure_call;
using emulation::valid;

cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return emulation::create_stream(stream);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  if (flags > cudaStreamNonBlocking)
    return call([](device_state&) { return cudaErrorInvalidValue; });
  return emulation::create_stream(stream);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return sure_call([&](device_state& owner) {
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

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return check(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return call([&](device_state& owner) {
    const bool known = valid(owner, stream) && valid(owner, event);
    return known ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&](device_state& owner) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = new CUevent_st{.timed = (flags & cudaEventDisableTiming) == 0, .recorded = {}};
    owner.events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return sure_call([&](device_state& owner) {
    if (owner.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](device_state& owner) {
    if (!valid(owner, event) || !valid(owner, stream)) return cudaErrorInvalidResourceHandle;
    event->recorded = CUevent_st::clock::now();
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
  return call([&](device_state& owner) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end}) {
      if (!valid(owner, event) || !event->timed || !event->recorded.has_value()) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    const std::chrono::duration<float, std::milli> elapsed = *end->recorded - *start->recorded;
    *milliseconds = elapsed.count();
    return cudaSuccess;
  });
}
