#pragma once
// The selection of CUB as a sequential one: what is tested are the calls around it.
#include <cuda_runtime.h>

namespace cub {

struct DeviceSelect {
  template <class Value, class Predicate>
  static cudaError_t If(void* temporary, std::size_t& bytes, const Value* in, Value* out,
                        int* count, int n, Predicate predicate, cudaStream_t stream) {
    constexpr std::size_t kNeeded = 2048;
    if (temporary == nullptr) {
      bytes = kNeeded;
      return cudaSuccess;
    }
    if (bytes < kNeeded) {
      return cudaErrorInvalidValue;
    }
    const auto select = [=] {
      *count = 0;
      for (int i = 0; i < n; ++i) {
        if (predicate(in[i])) {
          out[(*count)++] = in[i];
        }
      }
    };
    return static_cast<cudaError_t>(cuda_on_cpu::submit(stream, {.what = "select", .run = select}));
  }
};

} // namespace cub
