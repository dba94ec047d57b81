#pragma once
// CUDA objects as values that free themselves, and the one macro that checks a call. Only .cu files
// include this. Streams, events and buffers belong to the device that was current when they were
// made; `DeviceGuard` makes one current for a scope.
#include <cuda_runtime.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.hpp"

namespace stepsim::calibrate::gpu {

// A CUDA call returned an error, as opposed to a kernel with a wrong result.
class CudaError : public SimulationError {
  using SimulationError::SimulationError;
};

// An error after which CUDA answers every call of this process with the same error: no part of a
// measurement can go on, so that nobody but measure() catches it.
class DeviceLost : public SimulationError {
  using SimulationError::SimulationError;
};

// Whether every later call fails as well, as the CUDA reference says of these codes: uncorrectable
// errors of memory (214) and NVLink (220), an illegal address (700), a launch that took too long
// (702), and failures of a kernel (710, 714 to 719).
[[nodiscard]] constexpr bool loses_device(int code) {
  return code == 214 || code == 220 || code == 700 || code == 702 || code == 710 ||
         (code >= 714 && code <= 719);
}

// Throws CudaError, or DeviceLost, with the call, the text of the error and the place. A kernel
// that fails while it runs is reported by a later call, so that the call named here need not be the
// one at fault.
inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) {
    (void)cudaGetLastError(); // clears the error, so that the next check does not report it again
    const std::string text = std::string(call) + ": " + cudaGetErrorString(error) + " (" + file +
                             ":" + std::to_string(line) + ")";
    if (loses_device(error)) {
      throw DeviceLost(text + "; CUDA gives this process no other answer after such an error, so "
                              "that nothing was measured after it");
    }
    throw CudaError(text);
  }
}
#define STEPSIM_CUDA(call) ::stepsim::calibrate::gpu::check_cuda((call), #call, __FILE__, __LINE__)

// Throws if a kernel could not be launched since the last call: a launch returns nothing, but
// leaves its error. Called wherever the host waits for kernels.
inline void check_launches() { STEPSIM_CUDA(cudaGetLastError()); }

// Bytes of `elements` floats.
constexpr std::size_t bytes_of_floats(std::int64_t elements) {
  return static_cast<std::size_t>(elements) * sizeof(float);
}

// Makes `device` current for a scope; the destructor restores the device that was current before
// and ignores an error of that call.
class DeviceGuard {
public:
  explicit DeviceGuard(int device) : current_(device) {
    STEPSIM_CUDA(cudaGetDevice(&before_));
    STEPSIM_CUDA(cudaSetDevice(device));
  }
  // Makes another device current, without a call where it is already.
  void set(int device) {
    if (device != current_) {
      STEPSIM_CUDA(cudaSetDevice(device));
      current_ = device;
    }
  }
  ~DeviceGuard() { (void)cudaSetDevice(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

private:
  int before_ = 0;
  int current_;
};

// Owns a handle that `Free` releases. A failure of `Free` is ignored: at that point there is nobody
// who could handle it.
template <class Handle, auto Free> struct Release {
  using pointer = Handle;
  void operator()(Handle handle) const { (void)Free(handle); }
};
template <class Handle, auto Free> using Owner = std::unique_ptr<Handle, Release<Handle, Free>>;

// A stream that does not synchronize with the default stream: otherwise each operation on the
// default stream would wait for all ranks.
class Stream {
public:
  Stream() {
    cudaStream_t made = nullptr;
    STEPSIM_CUDA(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    stream_.reset(made);
  }
  operator cudaStream_t() const { return stream_.get(); }
  void synchronize() const {
    check_launches();
    STEPSIM_CUDA(cudaStreamSynchronize(*this));
  }

private:
  Owner<cudaStream_t, cudaStreamDestroy> stream_;
};

// An event made with Use::order has no time stamp, which would cost time at each record(); only
// events made with Use::timing can be given to seconds_between().
class Event {
public:
  enum class Use { order, timing };
  explicit Event(Use use) {
    cudaEvent_t made = nullptr;
    STEPSIM_CUDA(cudaEventCreateWithFlags(&made, use == Use::timing ? cudaEventDefault
                                                                    : cudaEventDisableTiming));
    event_.reset(made);
  }
  operator cudaEvent_t() const { return event_.get(); }
  void record(cudaStream_t stream) const { STEPSIM_CUDA(cudaEventRecord(*this, stream)); }

private:
  Owner<cudaEvent_t, cudaEventDestroy> event_;
};

// Seconds from one timing event to another; both must have completed. CUDA gives milliseconds in a
// float, with a resolution of about half a microsecond: samples must last much longer.
inline double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  STEPSIM_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  return static_cast<double>(milliseconds) * 1e-3;
}

// `count` elements that `Allocate` gives and `Free` takes; not initialised.
template <class T, auto Allocate, auto Free> class Memory {
public:
  Memory() = default;
  explicit Memory(std::integral auto count) : count_(static_cast<std::size_t>(count)) {
    void* made = nullptr;
    if (count_ > 0) {
      STEPSIM_CUDA(Allocate(&made, count_ * sizeof(T)));
    }
    memory_.reset(made);
  }
  [[nodiscard]] T* get() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const { return count_; }

private:
  Owner<void*, Free> memory_;
  std::size_t count_ = 0;
};

inline cudaError_t allocate_on_device(void** made, std::size_t bytes) {
  return cudaMalloc(made, bytes);
}
inline cudaError_t allocate_on_host(void** made, std::size_t bytes) {
  return cudaHostAlloc(made, bytes, cudaHostAllocPortable);
}
template <class T> using Buffer = Memory<T, allocate_on_device, cudaFree>; // of the current device
// Page-locked memory of the host, usable from every device.
template <class T> using PinnedBuffer = Memory<T, allocate_on_host, cudaFreeHost>;

// Waits for the calls on a stream so far and returns the value that they leave on the device.
template <class T> T value_of(const T* on_device, const Stream& stream) {
  T value;
  STEPSIM_CUDA(cudaMemcpyAsync(&value, on_device, sizeof(value), cudaMemcpyDeviceToHost, stream));
  stream.synchronize();
  return value;
}

// Blocking copies; the caller has waited for the streams that write.
template <class T> std::vector<T> to_host(const T* from, std::integral auto count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  STEPSIM_CUDA(cudaMemcpy(values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <class T> void to_device(T* to, const std::vector<T>& values) {
  STEPSIM_CUDA(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  STEPSIM_CUDA(cudaDeviceSynchronize());
}

// A CUDA graph, instantiated and ready to launch.
class Graph {
public:
  // Instantiates `captured` and destroys it.
  explicit Graph(cudaGraph_t captured) {
    const Owner<cudaGraph_t, cudaGraphDestroy> graph(captured);
    cudaGraphExec_t made = nullptr;
    STEPSIM_CUDA(cudaGraphInstantiate(&made, captured, 0));
    graph_.reset(made);
  }
  void launch(cudaStream_t stream) const { STEPSIM_CUDA(cudaGraphLaunch(graph_.get(), stream)); }

private:
  Owner<cudaGraphExec_t, cudaGraphExecDestroy> graph_;
};

} // namespace stepsim::calibrate::gpu
