#pragma once
// The kernels of selections and lists as calls on a stream; codecs.cuh and low_rank.cuh have the
// others. Pointers are device memory of the stream's device; counts are elements. Lists have
// ascending int32 indices. Nothing here waits for the device.
#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/kernel_math.hpp"

namespace stepsim::calibrate::gpu {

// The number of blocks of grid-stride kernels (grid.cuh) that the current device holds at a time.
[[nodiscard]] int full_grid();

// x += y (fp32), 128 bits wide where both have the same alignment.
void add(float* x, const float* y, std::int64_t n, cudaStream_t stream);
// to = from, by a kernel: also into the memory of another device (variant sm_store).
void store(float* to, const float* from, std::int64_t n, cudaStream_t stream);

// The state of a selection on the device, and its result.
struct SelectState {
  std::uint32_t prefix{};
  std::uint32_t remaining{}; // how many of the k are still to be found among keys with the prefix
  Selection selection;
  std::uint32_t not_finite{}; // NaN and infinities seen: such a result is refused
  std::uint32_t count{};      // entries written
  std::uint32_t largest{};    // key
  double sum{}, squares{};    // sum of the values, and of their squares
  float threshold{};          // used by approximate selectors
  float low{}, high{};        // bounds of the bisection
  std::uint32_t above{};      // |v| > threshold
  std::uint32_t settled{};    // 1: the threshold is corrected no more
  std::uint32_t lost{};       // sampled selection: entries above the threshold that did not fit
};

struct Workspace { // for up to `most` elements
  explicit Workspace(std::int64_t most);
  Buffer<SelectState> state;
  Buffer<std::uint32_t> histograms; // [pass][bin]
  Buffer<std::uint64_t> blocks;     // packed tallies of the blocks of a compaction
  std::int64_t most{};
};

struct List {
  std::int32_t* indices{};
  float* values{};
  std::uint32_t capacity{}; // what does not fit is counted, not written
};

// A vector; with `length` (device) only its first *length elements, at most n.
struct Input {
  const float* values{};
  std::int64_t n{};
  const std::uint32_t* length{};
  const std::int32_t* indices{}; // of the elements; null: 0, 1, 2, ..
};

// The k largest by (|v| descending, index ascending), zeros left out; k >= 1. With fewer than k
// values that are not 0 all of them. As with every selection, the number of entries is state.count.
void select_exact(const Input& input, std::uint32_t k, Workspace& work, const List& out,
                  cudaStream_t stream);
// Only finds the key of the k-th largest and the number of ties: state.selection.
void find_threshold(const Input& input, std::uint32_t k, Workspace& work, cudaStream_t stream);
// Writes the entries of state.selection to `out`.
void compact(const Input& input, Workspace& work, const List& out, cudaStream_t stream);
// All entries with |v| > threshold, ascending by index.
void select_above(const Input& input, float threshold, Workspace& work, const List& out,
                  cudaStream_t stream);
// DGC: threshold from a sample of about 1 %, and the k largest of what passes it; their number is
// in the state of `sample_work`. Room: `sample` n / 100 + 1, `sample_work` passed.capacity. What
// does not fit in `passed` is lost, and counted in state.lost: the result is then the k largest of
// the first entries only, and the caller repeats it with more room or says so. Needs n >= 1;
// input.length is not read.
void select_sampled(const Input& input, std::uint32_t k, Workspace& work, Workspace& sample_work,
                    float* sample, const List& passed, const List& out, cudaStream_t stream);
// |v| > mean + z standard deviations of the values, z = coll::gaussian_threshold(k / n); up to
// three corrections of the threshold: fewer than 2k/3 entries: x 0.5, more than 4k/3: x 1.5.
void select_gaussian(const Input& input, std::uint32_t k, double z, Workspace& work,
                     const List& out, cudaStream_t stream);
// Halves [0, max |v|] `steps` >= 1 times, keeping at least k entries, or all that are not 0.
inline constexpr int kBisections = 16; // steps that are verified and timed
void select_bisection(const Input& input, std::uint32_t k, int steps, Workspace& work,
                      const List& out, cudaStream_t stream);

// Full sort by |v|, largest first, equal ones by index, into keys_out and indices_out: the time
// that a selection must stay below. n is at most `most`.
struct SortSpace {
  explicit SortSpace(std::int64_t most);
  Buffer<std::uint32_t> keys_in, keys_out;
  Buffer<std::int32_t> indices_in, indices_out;
  Buffer<unsigned char> temporary;
  std::size_t temporary_bytes{};
};
void sort_magnitudes(const float* x, std::int64_t n, SortSpace& space, cudaStream_t stream);

// The k largest of the sum of two lists (SPA 6). `merged`, `combined` and `work` have room for
// both; too little in `combined` is not noticed, in the others throws SimulationError.
void merge_lists(const std::int32_t* a_indices, const float* a_values, std::uint32_t a_size,
                 const std::int32_t* b_indices, const float* b_values, std::uint32_t b_size,
                 std::uint32_t k, Workspace& work, const List& merged, float* combined,
                 const List& out, cudaStream_t stream);

// y[index] += value; indices of one call are distinct.
void scatter_add(float* y, const std::int32_t* indices, const float* values, std::uint32_t size,
                 cudaStream_t stream);
// residual = 0 where an entry was sent: the first *length indices, at most `capacity`. The gradient
// was added before, by `add`.
void clear_entries(float* residual, const std::int32_t* indices, const std::uint32_t* length,
                   std::uint32_t capacity, cudaStream_t stream);

// *sum = sum of |v| of the first n values, or of the first *length where that is less.
void sum_magnitudes(const float* x, std::int64_t n, const std::uint32_t* length, double* sum,
                    cudaStream_t stream);

// Test data: standard normal, or with heavy tails (sign times u^(-1/2)).
enum class Distribution { gaussian, heavy_tailed };
void fill_random(float* x, std::int64_t n, Distribution distribution, std::uint64_t seed,
                 cudaStream_t stream);

} // namespace stepsim::calibrate::gpu
