#pragma once
// What the sources of calibrate/cuda use of the CUDA runtime and of its language, for a C++
// compiler: tests put this folder before that of CUDA. Launches and shared memory are rewritten by
// rewrite.py.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "shim/blocks.hpp"
#include "shim/streams.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorTooManyPeers = 711,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905
};
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaGraph_t = CUgraph_st*;
using cudaGraphExec_t = CUgraphExec_st*;
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39
};
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline constexpr unsigned cudaHostAllocPortable = 1;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[64];
  cudaUUID_t uuid;
  int multiProcessorCount, l2CacheSize, major, minor;
  std::size_t totalGlobalMem;
};
struct float4 {
  float x, y, z, w;
};

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* devices);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to);
cudaError_t cudaDeviceEnablePeerAccess(int to, unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int threads,
                                                          std::size_t) {
  *blocks = cuda_on_cpu::machine().blocks_per_multiprocessor * 256 / threads;
  return cudaSuccess;
}

namespace cuda_on_cpu {

// Of kernels (float* to, const float* from, n) and no others it is known what they access: both
// vectors, `to` is written.
template <class... Arguments> void describe(Work&, const Arguments&...) {}
inline void describe(Work& work, float* const& to, const float* const& from,
                     const std::int64_t& n) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  work.reads = {{from, bytes}, {to, bytes}};
  work.writes = {{to, bytes}};
}

// kernel<<<grid, threads, 0, stream>>>(arguments...), parameters as the kernel declares them.
template <class... Parameters>
void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, unsigned threads,
            std::size_t, cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  Work work;
  work.what = name;
  work.run = [=] { run_grid(name, grid, threads, [&] { kernel(arguments...); }); };
  work.seconds = machine().kernel_s +
                 machine().kernel_s_per_thread * grid.x * grid.y * static_cast<double>(threads);
  describe(work, arguments...);
  set_last_error(submit(stream, std::move(work)));
}

template <class T> T sum_of(T a, T b) { return a + b; }
template <class T> T larger_of(T a, T b) { return a > b ? a : b; }

} // namespace cuda_on_cpu

#define threadIdx cuda_on_cpu::thread_index()
#define blockIdx cuda_on_cpu::block_index
#define blockDim cuda_on_cpu::block_size
#define gridDim cuda_on_cpu::grid_size
#define __syncthreads() cuda_on_cpu::block_barrier(cuda_on_cpu::Site::current())

inline void __syncwarp(unsigned mask = 0xffffffffU,
                       const cuda_on_cpu::Site& site = cuda_on_cpu::Site::current()) {
  cuda_on_cpu::warp_operation(cuda_on_cpu::WarpOperation::barrier, mask, 0, 0, site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance, int = 32,
                  const cuda_on_cpu::Site& site = cuda_on_cpu::Site::current()) {
  return cuda_on_cpu::shuffle(mask, value,
                              cuda_on_cpu::here().lane ^ static_cast<unsigned>(distance), site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, int distance, int = 32,
                 const cuda_on_cpu::Site& site = cuda_on_cpu::Site::current()) {
  return cuda_on_cpu::shuffle(mask, value,
                              cuda_on_cpu::here().lane - static_cast<unsigned>(distance), site);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int = 32,
              const cuda_on_cpu::Site& site = cuda_on_cpu::Site::current()) {
  return cuda_on_cpu::shuffle(mask, value, static_cast<unsigned>(lane), site);
}
inline unsigned __ballot_sync(unsigned mask, bool vote,
                              const cuda_on_cpu::Site& site = cuda_on_cpu::Site::current()) {
  return static_cast<unsigned>(
      cuda_on_cpu::warp_operation(cuda_on_cpu::WarpOperation::ballot, mask, vote ? 1 : 0, 0, site));
}
inline unsigned __match_any_sync(unsigned mask, unsigned value,
                                 const cuda_on_cpu::Site& site = cuda_on_cpu::Site::current()) {
  return static_cast<unsigned>(
      cuda_on_cpu::warp_operation(cuda_on_cpu::WarpOperation::match, mask, value, 0, site));
}
inline int __popc(unsigned value) { return std::popcount(value); }
inline int __ffs(unsigned value) { return value == 0 ? 0 : std::countr_zero(value) + 1; }

template <class T> T atomicAdd(T* to, std::type_identity_t<T> value) {
  const T before = *to;
  *to = before + value;
  return before;
}
template <class T> T atomicMax(T* to, std::type_identity_t<T> value) {
  const T before = *to;
  *to = value > before ? value : before;
  return before;
}
template <class T> T atomicAdd(cuda_on_cpu::Word<T>* to, std::type_identity_t<T> value) {
  return to->exchange(cuda_on_cpu::sum_of<T>, value);
}
template <class T> T atomicMax(cuda_on_cpu::Word<T>* to, std::type_identity_t<T> value) {
  return to->exchange(cuda_on_cpu::larger_of<T>, value);
}

// Rounded as on the device: to the nearest, never fused.
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline float cospif(float x) { return static_cast<float>(std::cos(M_PI * static_cast<double>(x))); }
inline std::int64_t min(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
inline std::uint32_t min(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
inline std::uint32_t max(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
