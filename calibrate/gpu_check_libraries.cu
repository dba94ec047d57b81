// What the libraries of the CUDA toolkit take for the work of calibrate/cuda and, where cuBLAS is
// installed, how much work on two streams disturbs each other. Built by calibrate/gpu_check; writes
// JSON Lines for gpu_check_page.py.
//
//   gpu_check_libraries FILE
//
// Times are medians of 11 samples of at least a millisecond, on buffers that are larger than the
// cache at the larger sizes only.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <functional>
#include <utility>
#include <vector>
#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif

namespace {

void check(cudaError_t error, int line) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
    std::exit(1);
  }
}
#define CHECK_CUDA(call) check((call), __LINE__)

__global__ void fill(float* x, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    const std::uint32_t hash = static_cast<std::uint32_t>(i + 1) * 2654435761U;
    const float u = static_cast<float>((hash >> 8) + 1) * 0x1p-24F;
    x[i] = sqrtf(-2 * logf(u)) * ((hash & 1U) != 0 ? 1.0F : -1.0F);
  }
}

#ifdef WITH_CUBLAS
__global__ void add(float* x, const float* y, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    x[i] += y[i];
  }
}
#endif

struct Above {
  float threshold;
  __host__ __device__ bool operator()(float value) const { return fabsf(value) > threshold; }
};

template <class T> T* buffer(std::int64_t n) {
  void* made = nullptr;
  CHECK_CUDA(cudaMalloc(&made, static_cast<std::size_t>(n) * sizeof(T)));
  return static_cast<T*>(made);
}

// Seconds of `calls` calls on a stream.
template <class Call> float seconds(cudaStream_t stream, int calls, Call call) {
  cudaEvent_t begin, end;
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  CHECK_CUDA(cudaEventRecord(begin, stream));
  for (int i = 0; i < calls; ++i) {
    call();
  }
  CHECK_CUDA(cudaEventRecord(end, stream));
  CHECK_CUDA(cudaEventSynchronize(end));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK_CUDA(cudaEventDestroy(begin));
  CHECK_CUDA(cudaEventDestroy(end));
  return 1e-3F * milliseconds;
}

template <class Call> double median_seconds(Call call) {
  (void)seconds(nullptr, 5, call);
  const float once = seconds(nullptr, 1, call);
  const int calls = std::max(1, static_cast<int>(1e-3F / std::max(once, 1e-6F)));
  std::vector<float> samples;
  for (int i = 0; i < 11; ++i) {
    samples.push_back(seconds(nullptr, calls, call) / static_cast<float>(calls));
  }
  std::sort(samples.begin(), samples.end());
  return samples[5];
}

void time_libraries(std::FILE* out, std::int64_t n) {
  const auto say = [&](const char* kernel, double time) {
    std::fprintf(out, "{\"kernel\": \"%s\", \"n\": %lld, \"time_s\": %.4e}\n", kernel,
                 static_cast<long long>(n), time);
    std::fflush(out);
  };
  auto* x = buffer<float>(n);
  auto* z = buffer<float>(n);
  auto* a = buffer<int>(n);
  auto* b = buffer<int>(n);
  auto* count = buffer<int>(1);
  fill<<<1024, 256>>>(x, n);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  CHECK_CUDA(cudaMemset(a, 0, bytes));
  say("memcpy",
      median_seconds([&] { CHECK_CUDA(cudaMemcpyAsync(z, x, bytes, cudaMemcpyDeviceToDevice)); }));
  // With a null pointer both say how much memory they need.
  const auto size = static_cast<int>(n);
  void* temporary = nullptr;
  std::size_t sort_bytes = 0;
  std::size_t select_bytes = 0;
  const auto sort = [&] {
    CHECK_CUDA(cub::DeviceRadixSort::SortPairsDescending(
        temporary, sort_bytes, reinterpret_cast<unsigned*>(x), reinterpret_cast<unsigned*>(z), a, b,
        size, 0, 31));
  };
  const auto select = [&] {
    CHECK_CUDA(cub::DeviceSelect::If(temporary, select_bytes, x, z, count, size, Above{2.5F}));
  };
  sort();
  select();
  temporary = buffer<unsigned char>(static_cast<std::int64_t>(std::max(sort_bytes, select_bytes)));
  say("cub_sort_pairs", median_seconds(sort));
  say("cub_select_if", median_seconds(select));
#ifdef WITH_CUBLAS
  cublasHandle_t handle;
  if (cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS) {
    const float one = 1;
    say("cublas_saxpy", median_seconds([&] { (void)cublasSaxpy(handle, size, &one, x, 1, z, 1); }));
    (void)cublasDestroy(handle);
  }
#endif
  for (void* each : {static_cast<void*>(x), static_cast<void*>(z), static_cast<void*>(a),
                     static_cast<void*>(b), static_cast<void*>(count), temporary}) {
    (void)cudaFree(each);
  }
}

#ifdef WITH_CUBLAS
// Work of one stream for about 20 ms alone; then two such streams at once. Both start after one
// event. The one that is alone longer has nobody beside it at its end, so that the other is kept
// busy three times as long, and each is timed where both run.
void time_interference(std::FILE* out) {
  constexpr std::int64_t kElements = std::int64_t{1} << 26;
  constexpr std::size_t kBytes = static_cast<std::size_t>(kElements) * sizeof(float);
  constexpr int kSide = 4096;
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  void* host = nullptr;
  CHECK_CUDA(cudaHostAlloc(&host, kBytes, cudaHostAllocDefault));
  float* memory[5];
  for (float*& each : memory) {
    each = buffer<float>(kElements);
    fill<<<1024, 256>>>(each, kElements);
  }
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
    return;
  }
  (void)cublasSetStream(handle, streams[0]);
  CHECK_CUDA(cudaDeviceSynchronize());
  const auto layer = [&] {
    const float one = 1;
    const float zero = 0;
    (void)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, memory[0], kSide,
                      memory[1], kSide, &zero, memory[2], kSide);
  };
  const auto calls_for = [](const auto& call, cudaStream_t stream) {
    (void)seconds(stream, 3, call);
    return std::max(4, static_cast<int>(0.02F / std::max(seconds(stream, 4, call) / 4, 1e-6F)));
  };
  const auto beside = [](cudaStream_t timed, int calls, const auto& call, int other_calls,
                         const auto& other) {
    for (int i = 0; i < 3 * other_calls; ++i) {
      other();
    }
    const double time = seconds(timed, calls, call);
    CHECK_CUDA(cudaDeviceSynchronize());
    return time;
  };
  const auto copy = [&](void* to, const void* from) {
    CHECK_CUDA(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault, streams[1]));
  };
  const std::pair<const char*, std::function<void()>> kinds[] = {
      {"copy_to_host", [&] { copy(host, memory[3]); }},
      {"copy_to_device", [&] { copy(memory[3], host); }},
      {"copy_on_device", [&] { copy(memory[4], memory[3]); }},
      {"reduction", [&] { add<<<1024, 256, 0, streams[1]>>>(memory[3], memory[4], kElements); }}};
  for (const auto& [kind, other] : kinds) {
    const int layers = calls_for(layer, streams[0]);
    const int others = calls_for(other, streams[1]);
    const double layer_alone = seconds(streams[0], layers, layer);
    const double other_alone = seconds(streams[1], others, other);
    std::fprintf(out,
                 "{\"interference\": \"%s\", \"model_slowdown\": %.4f, \"other_slowdown\": %.4f}\n",
                 kind, beside(streams[0], layers, layer, others, other) / layer_alone,
                 beside(streams[1], others, other, layers, layer) / other_alone);
    std::fflush(out);
  }
  for (float* each : memory) {
    (void)cudaFree(each);
  }
}
#endif

} // namespace

int main(int argc, char** argv) {
  std::FILE* file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "usage: gpu_check_libraries FILE\n");
    return 2;
  }
  std::size_t free = 0;
  std::size_t total = 0;
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
#ifdef WITH_CUBLAS
  time_interference(file);
#endif
  for (int power = 16; power <= 28; power += 2) {
    const std::int64_t n = std::int64_t{1} << power;
    if (static_cast<std::size_t>(n) * 40 < free / 2) {
      time_libraries(file, n);
    }
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
