#pragma once
// The state that all verifications of kernels use: vectors on the device and on the host, the lists
// that selections return, and the number of cases. Every family compares its kernels with the
// simulator's operators (collectives/operators) or a reference on the host (CAL 7.3) and throws
// SimulationError with the case, index, got and expected. Test values are normal, heavy-tailed, or
// small integers with many ties and zeros, whose sums are exact.
#include <array>
#include <string>
#include <vector>

#include "calibrate/cuda/kernels.cuh"
#include "calibrate/cuda/verify_parts.cuh"

namespace stepsim::calibrate::gpu {

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
  Buffer<std::int32_t> out_indices, passed_indices;
  Buffer<float> out_values, passed_values;
  SortSpace sort;
  std::int64_t cases = 0;

  // Fills `to`, device memory, with n values and returns the same values.
  [[nodiscard]] std::vector<float> fill(float* to, std::int64_t n, Data kind,
                                        std::uint64_t seed) const;
  [[nodiscard]] std::vector<float> data(std::int64_t n, Data kind) const { // x
    return fill(x.get(), n, kind, static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] List out() const;
  [[nodiscard]] List passed() const;
  [[nodiscard]] SelectState state(const Workspace& workspace) const;
  // Throws SimulationError unless `out`, whose length is in the state of `workspace`, is the
  // expected list. Counts one case.
  void compare(const std::string& what, const Workspace& workspace, const HostList& expected);
};

void verify_selections(KernelBench& bench, std::int64_t n);
void verify_refusal(KernelBench& bench); // checks that NaN and infinities are counted
void verify_lists(KernelBench& bench, std::int64_t n);
void verify_codecs(KernelBench& bench, std::int64_t n);
// Leaves out matrices with more than bench.most elements, or with more than bench.most / 32 rows.
void verify_low_rank(KernelBench& bench);

// " n=5 data=0"
[[nodiscard]] std::string case_text(std::int64_t n, Data kind);

} // namespace stepsim::calibrate::gpu
