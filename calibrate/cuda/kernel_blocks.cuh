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

  [[nodiscard]] const float* data(Distribution distribution, std::int64_t n,
                                  std::int64_t repetition) const {
    const Buffer<float>& values = distribution == Distribution::gaussian ? gaussian : heavy;
    return values.get() + window_offset(repetition, n, region);
  }
  [[nodiscard]] float* target_of(std::int64_t n, std::int64_t repetition) const {
    return target.get() + window_offset(repetition, n, region);
  }
  [[nodiscard]] float* update_of(std::int64_t n, std::int64_t repetition) const {
    return update.get() + window_offset(repetition, n, most);
  }
  [[nodiscard]] Input input(Distribution distribution, std::int64_t n,
                            std::int64_t repetition) const {
    return {data(distribution, n, repetition), n, nullptr, nullptr};
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
  Workspace work, sample_work;
  SortSpace sort;
  Stream stream;
  float threshold = 0; // set by `prepare` for the current visit, by blocks that need one
};

// One kernel at one size. `prepare` runs before each visit and is not timed. `call` is timed; it
// gets the number of the repetition, which gives the window.
struct KernelBlock {
  Measurement* measurement;
  Arena* arena;
  std::string kernel, distribution;
  std::int64_t n{};
  std::int64_t k{};
  std::function<void(std::int64_t)> call;
  std::function<void()> prepare{};
  const char* cache = kCold; // whether the data that the call mostly uses are in the L2 cache
  // For a selector: the state that holds the number of entries after a call on `input`; else null.
  const SelectState* state = nullptr;
  Input input{};

  [[nodiscard]] std::function<void(std::int64_t)> open() const;
  [[nodiscard]] std::string text() const;
  void record(int pass, int repeats, const std::vector<double>& seconds) const;
};

class KernelBlocks {
public:
  KernelBlocks(Measurement& measurement, Arena& buffers)
      : arena(buffers), measurement_(measurement) {}
  // `distribution` is "any" if the values have no effect on the time, and k is 0 if nothing is
  // selected. The returned reference is valid until the next push.
  KernelBlock& push(std::string kernel, std::string_view distribution, std::int64_t n,
                    std::int64_t k, std::function<void(std::int64_t)> call);
  KernelBlock& push_any(std::string kernel, std::int64_t n, std::int64_t k, const char* cache,
                        std::function<void(std::int64_t)> call) {
    KernelBlock& block = push(std::move(kernel), "any", n, k, std::move(call));
    block.cache = cache;
    return block;
  }
  [[nodiscard]] const std::vector<KernelBlock>& all() const { return blocks_; }
  [[nodiscard]] KernelBlock& back() { return blocks_.back(); }

  Arena& arena;

private:
  Measurement& measurement_;
  std::vector<KernelBlock> blocks_;
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
