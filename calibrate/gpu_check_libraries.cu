// What the libraries of the CUDA toolkit take for the work of calibrate/cuda, and how much work on
// two streams disturbs each other. Built by calibrate/gpu_check; writes JSON Lines for
// gpu_check_page.py.
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
#include <string>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
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

__global__ void add(float* x, const float* y, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    x[i] += y[i];
  }
}

#ifndef WITH_CUBLAS
// Products in registers only: stands for a layer of a model where cuBLAS is missing.
__global__ void compute(float* x, int rounds) {
  float a = x[blockIdx.x * blockDim.x + threadIdx.x];
  float b = a + 1;
  for (int i = 0; i < rounds; ++i) {
    a = fmaf(a, 0.999F, b);
    b = fmaf(b, 0.999F, a);
  }
  x[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
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

class Libraries {
public:
  Libraries(std::FILE* file, std::int64_t elements)
      : out(file), n(elements), x(buffer<float>(n)), y(buffer<float>(n)), z(buffer<float>(n)),
        a(buffer<int>(n)), b(buffer<int>(n)), count(buffer<int>(1)) {
    fill<<<1024, 256>>>(x, n);
    fill<<<1024, 256>>>(y, n);
    CHECK_CUDA(cudaMemset(a, 0, static_cast<std::size_t>(n) * sizeof(int)));
  }
  ~Libraries() {
    for (void* each : {static_cast<void*>(x), static_cast<void*>(y), static_cast<void*>(z),
                       static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(count)}) {
      (void)cudaFree(each);
    }
  }
  void say(const char* kernel, double time) const {
    std::fprintf(out, "{\"kernel\": \"%s\", \"n\": %lld, \"time_s\": %.4e}\n", kernel,
                 static_cast<long long>(n), time);
    std::fflush(out);
  }

  void run() {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    say("memcpy", median_seconds(
                      [&] { CHECK_CUDA(cudaMemcpyAsync(z, x, bytes, cudaMemcpyDeviceToDevice)); }));
    auto* keys = reinterpret_cast<unsigned*>(x);
    auto* sorted = reinterpret_cast<unsigned*>(z);
    const auto size = static_cast<int>(n);
    std::size_t sort_bytes = 0;
    std::size_t select_bytes = 0;
    CHECK_CUDA(cub::DeviceRadixSort::SortPairsDescending(nullptr, sort_bytes, keys, sorted, a, b,
                                                         size, 0, 31));
    CHECK_CUDA(cub::DeviceSelect::If(nullptr, select_bytes, x, z, count, size, Above{2.5F}));
    auto* temporary =
        buffer<unsigned char>(static_cast<std::int64_t>(std::max(sort_bytes, select_bytes)));
    say("cub_sort_pairs", median_seconds([&] {
          CHECK_CUDA(cub::DeviceRadixSort::SortPairsDescending(temporary, sort_bytes, keys, sorted,
                                                               a, b, size, 0, 31));
        }));
    say("cub_select_if", median_seconds([&] {
          CHECK_CUDA(
              cub::DeviceSelect::If(temporary, select_bytes, x, z, count, size, Above{2.5F}));
        }));
    CHECK_CUDA(cudaFree(temporary));
    if (n <= (std::int64_t{1} << 26)) {
      say("thrust_sort_by_key", median_seconds([&] {
            CHECK_CUDA(cudaMemcpyAsync(z, x, bytes, cudaMemcpyDeviceToDevice));
            thrust::sort_by_key(thrust::cuda::par, thrust::device_ptr<float>(z),
                                thrust::device_ptr<float>(z + n), thrust::device_ptr<int>(a));
          }));
    }
#ifdef WITH_CUBLAS
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
      return;
    }
    const float one = 1;
    const float zero = 0;
    (void)cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH); // fp32, as the kernels
    say("cublas_saxpy", median_seconds([&] { (void)cublasSaxpy(handle, size, &one, x, 1, y, 1); }));
    int columns = 1;
    while (static_cast<std::int64_t>(columns) * columns * 4 <= n) {
      columns *= 2;
    }
    const auto rows = static_cast<int>(n / columns);
    for (const int rank : {4, 32}) { // of row-major matrices, which cuBLAS sees transposed
      const std::string suffix = "_r" + std::to_string(rank);
      say(("cublas_left" + suffix).c_str(), median_seconds([&] {
            (void)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rank, rows, columns, &one, y, rank,
                              x, columns, &zero, z, rank);
          }));
      say(("cublas_right" + suffix).c_str(), median_seconds([&] {
            (void)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, rank, columns, rows, &one, y, rank,
                              x, columns, &zero, z, rank);
          }));
    }
    (void)cublasDestroy(handle);
#endif
  }

private:
  std::FILE* out;
  std::int64_t n;
  float *x, *y, *z;
  int *a, *b, *count;
};

// Work of one stream for about 20 ms alone; then two such streams at once.
class Interference {
public:
  explicit Interference(std::FILE* file) : out_(file) {
    for (cudaStream_t& stream : streams_) {
      CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    void* host = nullptr;
    CHECK_CUDA(cudaHostAlloc(&host, kBytes, cudaHostAllocDefault));
    host_ = static_cast<float*>(host);
    for (float*& each : memory_) {
      each = buffer<float>(kElements);
      fill<<<1024, 256>>>(each, kElements);
    }
#ifdef WITH_CUBLAS
    (void)cublasCreate(&handle_);
#endif
    CHECK_CUDA(cudaDeviceSynchronize());
  }

  void run() {
    constexpr const char* kKinds[] = {"copy_to_host", "copy_to_device", "copy_on_device",
                                      "reduction"};
    for (const char* kind : kKinds) {
      const auto layer = [&] { product(streams_[0]); };
      const auto other = [&] { communication(kind, streams_[1]); };
      const int layers = calls_for(layer, streams_[0]);
      const int others = calls_for(other, streams_[1]);
      const double layer_alone = seconds(streams_[0], layers, layer);
      const double other_alone = seconds(streams_[1], others, other);
      const auto [layer_beside, other_beside] = together(layers, layer, others, other);
      std::fprintf(out_,
                   "{\"interference\": \"%s\", \"model_slowdown\": %.4f, \"other_slowdown\": "
                   "%.4f}\n",
                   kind, layer_beside / layer_alone, other_beside / other_alone);
      std::fflush(out_);
    }
  }

private:
  static constexpr std::int64_t kElements = std::int64_t{1} << 26;
  static constexpr std::size_t kBytes = static_cast<std::size_t>(kElements) * sizeof(float);
  static constexpr int kSide = 4096;

  void product(cudaStream_t stream) const {
#ifdef WITH_CUBLAS
    const float one = 1;
    const float zero = 0;
    (void)cublasSetStream(handle_, stream);
    (void)cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, memory_[0],
                      kSide, memory_[1], kSide, &zero, memory_[2], kSide);
#else
    compute<<<4096, 256, 0, stream>>>(memory_[0], 20000);
#endif
  }
  void communication(const std::string& kind, cudaStream_t stream) const {
    if (kind == "copy_to_host") {
      CHECK_CUDA(cudaMemcpyAsync(host_, memory_[3], kBytes, cudaMemcpyDeviceToHost, stream));
    } else if (kind == "copy_to_device") {
      CHECK_CUDA(cudaMemcpyAsync(memory_[3], host_, kBytes, cudaMemcpyHostToDevice, stream));
    } else if (kind == "copy_on_device") {
      CHECK_CUDA(cudaMemcpyAsync(memory_[4], memory_[3], kBytes, cudaMemcpyDeviceToDevice, stream));
    } else {
      add<<<1024, 256, 0, stream>>>(memory_[3], memory_[4], kElements);
    }
  }
  template <class Call> static int calls_for(const Call& call, cudaStream_t stream) {
    (void)seconds(stream, 3, call);
    return std::max(4, static_cast<int>(0.02F / std::max(seconds(stream, 4, call) / 4, 1e-6F)));
  }
  // Both streams start after one event. The one that is alone longer has nobody beside it at its
  // end, so that the other is kept busy three times as long, and each is timed where both run.
  template <class A, class B>
  std::pair<double, double> together(int a_calls, const A& a, int b_calls, const B& b) const {
    const auto beside = [](cudaStream_t timed, int calls, const auto& call, int other_calls,
                           const auto& other) {
      for (int i = 0; i < 3 * other_calls; ++i) {
        other();
      }
      const double time = seconds(timed, calls, call);
      CHECK_CUDA(cudaDeviceSynchronize());
      return time;
    };
    return {beside(streams_[0], a_calls, a, b_calls, b),
            beside(streams_[1], b_calls, b, a_calls, a)};
  }

  std::FILE* out_;
  cudaStream_t streams_[2]{};
  float* memory_[5]{};
  float* host_ = nullptr;
#ifdef WITH_CUBLAS
  cublasHandle_t handle_{};
#endif
};

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
  Interference(file).run();
  for (int power = 16; power <= 28; power += 2) {
    const std::int64_t n = std::int64_t{1} << power;
    if (static_cast<std::size_t>(n) * 40 < free / 2) {
      Libraries(file, n).run();
    }
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
