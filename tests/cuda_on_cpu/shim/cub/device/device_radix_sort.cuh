#pragma once
// The sort of CUB as a sequential one: what is tested are the calls around it.
#include <cuda_runtime.h>

#include <numeric>
#include <vector>

namespace cub {

struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairsDescending(void* temporary, std::size_t& bytes, const Key* keys_in,
                                         Key* keys_out, const Value* values_in, Value* values_out,
                                         int n, int first_bit, int end_bit, cudaStream_t stream) {
    constexpr std::size_t kNeeded = 1024;
    if (temporary == nullptr) {
      bytes = kNeeded;
      return cudaSuccess;
    }
    if (bytes < kNeeded) {
      return cudaErrorInvalidValue;
    }
    const auto sort = [=] {
      const Key mask = (end_bit < 32 ? (Key{1} << end_bit) : 0) - (Key{1} << first_bit);
      std::vector<int> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return (keys_in[a] & mask) > (keys_in[b] & mask); });
      for (int i = 0; i < n; ++i) {
        keys_out[i] = keys_in[order[static_cast<std::size_t>(i)]];
        values_out[i] = values_in[order[static_cast<std::size_t>(i)]];
      }
    };
    return static_cast<cudaError_t>(cuda_on_cpu::submit(stream, {.what = "sort", .run = sort}));
  }
};

} // namespace cub
