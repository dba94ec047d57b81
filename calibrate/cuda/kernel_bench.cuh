#pragma once
// The state that all verifications of kernels use: vectors on the device and on the host, the lists
// that selections return, and the number of cases. Every family compares its kernels with the
// simulator's operators (collectives/operators) or a reference on the host (CAL 7.3) and throws
// SimulationError with the case, index, got and expected. Test values are normal, heavy-tailed, or
// small integers with many ties and zeros, whose sums are exact.
#include <cmath>
#include <cstring>

#include "calibrate/cuda/kernels.cuh"
#include "calibrate/cuda/low_rank.cuh"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::gpu {

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

enum class Data { gaussian, heavy_tailed, integers };
inline constexpr std::array kData{Data::gaussian, Data::heavy_tailed, Data::integers};

inline constexpr std::int64_t kMostVerified = (1 << 20) + 1; // elements

// Buffers for vectors of up to `most` elements, made once. Not for timing: verifications wait for
// the device after every call.
struct KernelBench {
  explicit KernelBench(std::int64_t most_elements = kMostVerified);

  std::int64_t most;
  Stream stream;
  // `most` elements and 8 more, for vectors at shifted addresses and the words around them,
  // which must not change.
  Buffer<float> x, y;
  Buffer<float> sample;
  Workspace work, sample_work;
  ListSpace out, passed;
  SortSpace sort;
  std::int64_t cases = 0;

  // Fills `to`, device memory, with n values and returns the same values.
  [[nodiscard]] std::vector<float> fill(float* to, std::int64_t n, Data kind,
                                        std::uint64_t seed) const;
  [[nodiscard]] std::vector<float> data(std::int64_t n, Data kind) const { // x
    return fill(x.get(), n, kind, static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] SelectState state(const Workspace& workspace) const {
    return value_of(workspace.state.get(), stream);
  }
  // Throws SimulationError unless the calls so far leave `expected` at `got`. Counts one case.
  template <class T>
  void compare(const std::string& what, const T* got, const std::vector<T>& expected) {
    stream.synchronize();
    check_equal(what, to_host(got, expected.size()), expected);
    ++cases;
  }
  // Throws SimulationError unless `out`, whose length is in the state of `workspace`, is the
  // expected list. Counts one case.
  void compare(const std::string& what, const Workspace& workspace, const HostList& expected);
};

void verify_selections(KernelBench& bench, std::int64_t n);
void verify_refusal(KernelBench& bench); // checks that NaN and infinities are counted
void verify_lists(KernelBench& bench, std::int64_t n);
void verify_codecs(KernelBench& bench, std::int64_t n);
// Leaves out matrices with more than bench.most elements. `low_rank` works on bench.stream.
void verify_low_rank(KernelBench& bench, const LowRank& low_rank);

// " n=5 data=0"
[[nodiscard]] std::string case_text(std::int64_t n, Data kind);

} // namespace stepsim::calibrate::gpu
