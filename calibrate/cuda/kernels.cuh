#pragma once
// The kernels of selections, lists and codecs (PIP 6; SPA 8.3, 11), enqueued on a stream. Pointers
// are device memory of the stream's device; counts are elements. Lists have ascending int32
// indices. Selections and sorts run on the stream of their workspace. No call waits for the device;
// a launch that fails is an error of the next check_launches().

#include "calibrate/cuda/codec_math.hpp"
#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/kernel_math.hpp"

namespace stepsim::calibrate::gpu {

// The number of blocks of grid-stride kernels (grid.cuh) that the current device holds at a time.
[[nodiscard]] int full_grid();

// x += y (fp32), with 128-bit accesses if both pointers have the same alignment modulo 16 bytes.
void add(float* x, const float* y, std::int64_t n, cudaStream_t stream);
// The same with bfloat16 values, each sum made in fp32 and rounded once to the nearest.
void add_bf16(std::uint16_t* x, const std::uint16_t* y, std::int64_t n, cudaStream_t stream);

// Tensors that one message sends: each begins at a multiple of kTensorAlignment elements in
// `spread` elements of memory, as allocators place them, and in the bucket one follows the other.
inline constexpr std::int64_t kTensorAlignment = 128;
struct Piece {                     // of a tensor, of at most kMostPiece elements
  std::int64_t tensor{}, bucket{}; // where it begins in the tensors' memory, and in the bucket
  std::int64_t elements{};
};
inline constexpr std::int64_t kMostPiece = 4096;
struct TensorBucket {
  explicit TensorBucket(std::span<const std::int64_t> lengths); // elements of each tensor
  std::int64_t spread{}, elements{};
  Buffer<Piece> pieces;
};
// Copies all tensors into the bucket, or back, with one launch.
void flatten(const TensorBucket& of, const float* tensors, float* bucket, cudaStream_t stream);
void unflatten(const TensorBucket& of, const float* bucket, float* tensors, cudaStream_t stream);

// The state of a selection on the device, and its result.
struct SelectState {
  std::uint32_t prefix{};
  std::uint32_t remaining{}; // how many of the k are still to be found among keys with the prefix
  Selection selection;
  std::uint32_t not_finite{}; // number of NaN and infinities; if > 0, callers refuse the result
  std::uint32_t count{};      // selected entries, including those beyond the capacity of the list
  double sum{}, squares{};    // sum of the values, and of their squares
  float threshold{};          // used by approximate selectors
  std::uint32_t above{};      // number of values with |v| > threshold
  std::uint32_t settled{};    // 1: the threshold is corrected no more
  std::uint32_t lost{};       // sampled selection: entries above the threshold that did not fit
};

struct Workspace { // scratch memory of selections of up to `most` elements on a stream
  Workspace(std::int64_t most, cudaStream_t stream);
  Buffer<SelectState> state;
  Buffer<std::uint32_t> histograms; // [pass][bin]
  Buffer<std::uint64_t> blocks;     // packed tallies of the blocks of a compaction
  std::int64_t most{};
  cudaStream_t stream{};
};

struct List {
  std::int32_t* indices{};
  float* values{};
  std::uint32_t capacity{}; // entries beyond it are counted, not written
};

struct ListSpace { // device memory of a list
  explicit ListSpace(std::integral auto entries) : indices(entries), values(entries) {}
  operator List() const {
    return {indices.get(), values.get(), static_cast<std::uint32_t>(values.size())};
  }
  Buffer<std::int32_t> indices;
  Buffer<float> values;
};

// A vector of n elements. With `length`, a pointer to device memory, only the first *length
// elements are used, at most n.
struct Input {
  const float* values{};
  std::int64_t n{};
  const std::uint32_t* length{};
  const std::int32_t* indices{}; // [element] its index in the output; null: 0, 1, 2, ..
};

// Writes the k >= 1 entries with the largest |v| to `out`, ascending by index; of entries with
// equal |v|, those with the lowest indices are taken. Zeros are left out, so that fewer than k
// entries are possible. As after every selection, the number of entries is SelectState::count in
// `work.state`.
void select_exact(const Input& input, std::uint32_t k, Workspace& work, const List& out);
// Only finds the key of the k-th largest |v| and the number of ties (SelectState::selection).
void find_threshold(const Input& input, std::uint32_t k, Workspace& work);
// Writes the entries that SelectState::selection selects to `out`, ascending by index.
void compact(const Input& input, Workspace& work, const List& out);
// Writes all entries with |v| > threshold to `out`, ascending by index.
void select_above(const Input& input, float threshold, Workspace& work, const List& out);
// Selection of DGC: a sample of about 1 % of the values gives a threshold; the entries at or above
// it are written to `passed`, and the k largest of these to `out`. The number of entries in `out`
// is in the state of `sample_work`. Needs n >= 1, room for n / 100 + 1 values in `sample`, and a
// `sample_work` for passed.capacity elements. Entries that do not fit in `passed` are counted in
// SelectState::lost of `sample_work`; the result is then the k largest of the first entries only,
// and the caller must repeat the call with more room or report the loss. input.length is not read.
void select_sampled(const Input& input, std::uint32_t k, Workspace& work, Workspace& sample_work,
                    float* sample, const List& passed, const List& out);
// Selects |v| > threshold. The threshold starts at mean + z standard deviations of the values, with
// z = collectives::gaussian_threshold(k / n), and is corrected up to three times: multiplied by 0.5
// if fewer than 2k/3 entries lie above it, by 1.5 if more than 4k/3 do.
void select_gaussian(const Input& input, std::uint32_t k, double z, Workspace& work,
                     const List& out);
// Sorts all values by |v|, largest first, equal values by index, into keys_out and indices_out. Its
// time is the upper bound for a useful selection. n is at most `most`.
struct SortSpace { // of a stream
  SortSpace(std::int64_t most, cudaStream_t stream);
  Buffer<std::uint32_t> keys_in, keys_out;
  Buffer<std::int32_t> indices_in, indices_out;
  Buffer<unsigned char> temporary;
  std::size_t temporary_bytes{};
  cudaStream_t stream{};
};
void sort_magnitudes(const float* x, std::int64_t n, SortSpace& space);
// Copies the values with |v| > threshold to `out`, without their indices, by the selection of the
// toolkit: what selections are compared with. The first element of space.indices_out is their
// number.
void copy_above(const float* x, std::int64_t n, float threshold, float* out, SortSpace& space);

// Writes the k largest entries of the sum of two lists to `out` (SPA 6). The capacity of `a` and
// `b` is their length. `merged`, `combined` and `work` need room for the entries of both: the call
// throws SimulationError if `merged` or `work` is too small, but the size of `combined` is not
// checked.
void merge_lists(const List& a, const List& b, std::uint32_t k, Workspace& work, const List& merged,
                 float* combined, const List& out);

// y[index] += value for the `capacity` entries of the list, whose indices are distinct.
void scatter_add(float* y, const List& list, cudaStream_t stream);
// Sets the residual to 0 at the first *length indices of the list, the entries that were sent; at
// most at `capacity` of them. The caller has added the gradient to the residual before, with add().
void clear_entries(float* residual, const List& list, const std::uint32_t* length,
                   cudaStream_t stream);

// *sum = sum of |v| over the n values.
void sum_magnitudes(const float* x, std::int64_t n, double* sum, cudaStream_t stream);

// Truncates every value to its upper half (16 bits), and restores it with zeros below.
void truncate16(const float* x, std::int64_t n, std::uint16_t* out, cudaStream_t stream);
void untruncate16(const std::uint16_t* halves, std::int64_t n, float* out, cudaStream_t stream);

// Quantizes all values with one scale: *scale_key is set to the bits of the largest |v|
// (magnitude_key of kernel_math.hpp). The device computes it before the codes, so that the host
// need not wait for it.
void quantize8(const float* x, std::int64_t n, std::uint32_t* scale_key, std::int8_t* codes,
               cudaStream_t stream);
void dequantize8(const std::int8_t* codes, std::int64_t n, const std::uint32_t* scale_key,
                 float* out, cudaStream_t stream);

// Quantizes to 4 or 8 bits with one scale per bucket. `scales` has buckets_for(n) values and
// `words` words_for(n, bits) words.
void quantize_buckets(const float* x, std::int64_t n, int bits, float* scales, std::uint32_t* words,
                      cudaStream_t stream);
// out += the values of the codes. A rank calls this once for the codes of each other rank.
void add_buckets(const float* scales, const std::uint32_t* words, std::int64_t n, int bits,
                 float* out, cudaStream_t stream);

// Packs the signs of x, one bit per value (1 = negative), into words_for(n, 1) words.
void pack_signs(const float* x, std::int64_t n, std::uint32_t* words, cudaStream_t stream);
// out = the majority vote (codec_math.hpp) over `lists` lists of signs. The lists follow each
// other, words_for(n, 1) words each.
void vote_signs(const std::uint32_t* words, int lists, std::int64_t n, float* out,
                cudaStream_t stream);

// Test data: standard normal, or with heavy tails (sign times u^(-1/2)).
enum class Distribution { gaussian, heavy_tailed };
void fill_random(float* x, std::int64_t n, Distribution distribution, std::uint64_t seed,
                 cudaStream_t stream);

} // namespace stepsim::calibrate::gpu
