#pragma once
// Compares results on the device with expected values on the host: copies between device and host,
// and bit-by-bit comparisons. For .cu files.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "calibrate/cuda/device.cuh"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

// Blocking copies; the caller has waited for the streams that write.
template <class T> std::vector<T> to_host(const T* from, std::size_t count) {
  std::vector<T> values(count);
  STEPSIM_CUDA(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <class T> void to_device(T* to, const std::vector<T>& values) {
  STEPSIM_CUDA(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  STEPSIM_CUDA(cudaDeviceSynchronize());
}

template <class T>
void check_equal(const std::string& what, const std::vector<T>& got,
                 const std::vector<T>& expected) {
  if (got.size() != expected.size()) {
    throw SimulationError(what + ": got " + std::to_string(got.size()) + " entries, expected " +
                          std::to_string(expected.size()));
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
      throw SimulationError(what + ": index " + std::to_string(i) + ": got " +
                            std::to_string(got[i]) + ", expected " + std::to_string(expected[i]));
    }
  }
}

inline void check(bool holds, const std::string& message) {
  if (!holds) {
    throw SimulationError(message);
  }
}

inline std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// A sparse list on the host, with values as floats, as the kernels have them.
struct HostList {
  std::vector<std::int32_t> indices;
  std::vector<float> values;
};
inline HostList host_list(const collectives::SparseVector& vector) {
  HostList list;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    list.indices.push_back(static_cast<std::int32_t>(vector.indices[i]));
    list.values.push_back(static_cast<float>(vector.values[i]));
  }
  return list;
}
// The entries with |x| > threshold, ascending by index.
inline HostList above(const std::vector<float>& x, float threshold) {
  HostList list;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) > threshold) {
      list.indices.push_back(static_cast<std::int32_t>(i));
      list.values.push_back(x[i]);
    }
  }
  return list;
}

} // namespace stepsim::calibrate::gpu
