#pragma once
// The buffers for vectors of up to `most` elements that all timings of kernels use, and the blocks
// to time (CAL 7.3, 7.4; SPA 8.3), one family of kernels per file. Each call reads and writes the
// next window of a region of at least twice the L2 cache, so that the data of a small call is not
// in the cache from the call before. Each record says whether that holds (cold) or not (warm).

#include "calibrate/cuda/kernels.cuh"
#include "calibrate/cuda/low_rank.cuh"
#include "calibrate/cuda/measurement.cuh"

namespace stepsim::calibrate::gpu {

inline constexpr int kLists = 8; // number of ranks whose lists are added, or whose signs vote
inline constexpr std::int64_t kMostFactor = std::int64_t{1} << 20; // values of a low-rank factor
// Device memory of all buffers of an arena together, in bytes per element of `most`.
inline constexpr std::int64_t kBytesPerElement = 84;

// All buffers of the timings, made once: allocation would otherwise fall between samples. Inputs
// and targets are windows of n elements within buffers of `region` elements, updates within one of
// `most`; `entries` is the capacity of every list.
struct Arena {
  Arena(std::int64_t most_elements, std::int64_t l2_bytes, std::uint64_t seed);

  [[nodiscard]] const float* data(std::int64_t n, std::int64_t repetition,
                                  Distribution distribution = Distribution::gaussian) const {
    const Buffer<float>& values = distribution == Distribution::gaussian ? gaussian : heavy;
    return values.get() + window_offset(repetition, n, region);
  }
  [[nodiscard]] float* target_of(std::int64_t n, std::int64_t repetition) const {
    return target.get() + window_offset(repetition, n, region);
  }
  [[nodiscard]] float* update_of(std::int64_t n, std::int64_t repetition) const {
    return update.get() + window_offset(repetition, n, most);
  }
  [[nodiscard]] Input input(std::int64_t n, std::int64_t repetition,
                            Distribution distribution = Distribution::gaussian) const {
    return {data(n, repetition, distribution), n};
  }

  // kCold if a buffer of `bytes` bytes is at least twice as large as the L2 cache, else kWarm.
  [[nodiscard]] const char* cache_of(std::int64_t bytes) const {
    return bytes >= 2 * l2_bytes ? kCold : kWarm;
  }

  std::int64_t most, region, entries, l2_bytes;
  std::uint32_t passed_capacity = 0; // capacity of the list `passed` in the current visit
  Buffer<float> gaussian, heavy, target, update, sample, combined;
  ListSpace out, passed, first, second;
  Buffer<std::int8_t> codes;
  Buffer<std::uint16_t> halves;
  // Codes of 4 and 8 bits; kLists lists of signs; scale_key of quantize8.
  Buffer<std::uint32_t> packed, words, scale;
  Buffer<float> scales;               // [bucket] scale
  Buffer<float> left, right, product; // low-rank factors: inputs left and right, result product
  Buffer<double> sum;
  Stream stream;
  Workspace work, sample_work;
  SortSpace sort;
  float threshold = 0; // set by `prepare` for the current visit, by blocks that need one
};

struct KernelBlocks {
  Arena& arena;
  std::vector<Block<KernelRecord>> all{};

  // One kernel at one size. `distribution` is "any" if the values have no effect on the time, k is
  // 0 if nothing is selected, and `cache` says whether the data that the call mostly uses are in
  // the L2 cache. The returned reference is valid until the next push.
  Block<KernelRecord>& push(const std::string& kernel, std::int64_t n, std::int64_t k,
                            const char* cache, Call call, std::string distribution = "any");
};

void add_selection_blocks(KernelBlocks& blocks, std::int64_t n);
void add_list_blocks(KernelBlocks& blocks, std::int64_t n);
void add_codec_blocks(KernelBlocks& blocks, std::int64_t n);
// `low_rank` works on the stream of the arena and must outlive the blocks.
void add_low_rank_blocks(KernelBlocks& blocks, const LowRank& low_rank, std::int64_t n);

// The values of k that are timed with n elements, from n / 10000 to n / 4. Values that round to 0
// are left out.
[[nodiscard]] std::vector<std::uint32_t> selected_counts(std::int64_t n);

} // namespace stepsim::calibrate::gpu
