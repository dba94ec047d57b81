// Times of the kernels that compression needs, of adding, and of copies to and from the host
// (CAL 7.3, 7.4; SPA 8.3).
#include "calibrate/cuda/kernel_blocks.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr double kDensities[] = {1e-4, 1e-3, 1e-2, 0.1, 0.25};
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
constexpr std::int64_t kMostCopied = std::int64_t{1} << 26; // elements

template <class T> void fill_bytes(const Buffer<T>& buffer, int byte, const Stream& stream) {
  STEPSIM_CUDA(cudaMemsetAsync(buffer.get(), byte, buffer.size() * sizeof(T), stream));
}

// Device to host and back, from ordinary and, where there is any, from page-locked memory.
void add_copy_blocks(KernelBlocks& blocks, const PinnedBuffer<float>& pinned,
                     std::vector<float>& pageable) {
  Arena* a = &blocks.arena;
  for (std::int64_t n = 1 << 10; n <= static_cast<std::int64_t>(pageable.size()); n *= 4) {
    const std::size_t bytes = bytes_of_floats(n);
    for (const bool is_pinned : {true, false}) {
      if (is_pinned && pinned.size() == 0) {
        continue;
      }
      float* const host = is_pinned ? pinned.get() : pageable.data();
      const std::string memory = is_pinned ? "_pinned" : "_pageable";
      blocks.push("copy_to_host" + memory, n, 0, kCold, [=](std::int64_t i) {
        STEPSIM_CUDA(
            cudaMemcpyAsync(host, a->target_of(n, i), bytes, cudaMemcpyDeviceToHost, a->stream));
      });
      blocks.push("copy_to_device" + memory, n, 0, kCold, [=](std::int64_t i) {
        STEPSIM_CUDA(
            cudaMemcpyAsync(a->target_of(n, i), host, bytes, cudaMemcpyHostToDevice, a->stream));
      });
    }
  }
}

} // namespace

Arena::Arena(std::int64_t most_elements, std::int64_t cache_bytes, std::uint64_t seed)
    : most(most_elements), region(std::max(most, 2 * cache_bytes / 4)), entries(most / 2),
      l2_bytes(cache_bytes), gaussian(region), heavy(region), target(region), update(most),
      sample(most / 100 + 1), combined(entries), out(entries), passed(entries), first(entries),
      second(entries), codes(most), halves(most), packed(words_for(most, 8)),
      words(kLists * words_for(most, 1)), scale(1), scales(buckets_for(most)), left(kMostFactor),
      right(kMostFactor), product(kMostFactor), sum(1), work(most, stream),
      sample_work(most, stream), sort(most, stream) {
  fill_random(gaussian.get(), region, Distribution::gaussian, seed, stream);
  fill_random(heavy.get(), region, Distribution::heavy_tailed, seed + 1, stream);
  fill_random(left.get(), kMostFactor, Distribution::gaussian, seed + 2, stream);
  fill_random(right.get(), kMostFactor, Distribution::gaussian, seed + 3, stream);
  fill_bytes(target, 0, stream);
  fill_bytes(halves, 0, stream);
  fill_bytes(codes, 1, stream);
  fill_bytes(scale, 0, stream);
  fill_bytes(packed, 0x11, stream);
  fill_bytes(words, 0x55, stream);
  fill_bytes(scales, 0, stream);
  stream.synchronize();
}

Block<KernelRecord>& KernelBlocks::push(const std::string& kernel, std::int64_t n, std::int64_t k,
                                        const char* cache, Call call, std::string distribution) {
  std::string text =
      kernel + " " + distribution + " n=" + std::to_string(n) + " k=" + std::to_string(k);
  all.push_back({std::move(text),
                 {.kernel = kernel,
                  .distribution = std::move(distribution),
                  .n = n,
                  .k = k,
                  .achieved_k = k,
                  .cache = cache},
                 [call = std::move(call)] { return call; }});
  return all.back();
}

// Densities of practice, as far as they select anything of n elements.
std::vector<std::uint32_t> selected_counts(std::int64_t n) {
  std::vector<std::uint32_t> counts;
  for (const double density : kDensities) {
    const auto k = static_cast<std::uint32_t>(density * static_cast<double>(n));
    if (k > 0) {
      counts.push_back(k);
    }
  }
  return counts;
}

// Sizes are cut to what fits the memory, and that is said.
void measure_kernels(Measurement& measurement, double seconds) {
  const DeviceGuard guard(measurement.device);
  const std::int64_t most = std::min(kMostElements, measurement.free_bytes / kBytesPerElement);
  if (most < kMostElements) {
    measurement.say("kernels: sizes cut to " + std::to_string(most) +
                    " elements, to fit the memory");
  }
  Arena arena(most, measurement.l2_bytes, measurement.options.seed);
  warm_up(arena.stream, [&](std::int64_t) {
    add(arena.target.get(), arena.gaussian.get(), arena.most, arena.stream);
  });
  KernelBlocks blocks{arena};
  std::optional<LowRank> low_rank;
  if (measurement.has_cublas) {
    low_rank.emplace(arena.stream);
  }
  for (const std::int64_t n : kernel_sizes(most, measurement.options.dense)) {
    add_selection_blocks(blocks, n);
    add_list_blocks(blocks, n);
    add_codec_blocks(blocks, n);
    if (low_rank) {
      add_low_rank_blocks(blocks, *low_rank, n);
    }
  }
  const std::int64_t copied = std::min(kMostCopied, most);
  PinnedBuffer<float> pinned;
  std::vector<float> pageable(static_cast<std::size_t>(copied), 1.0F);
  try {
    pinned = PinnedBuffer<float>(copied);
  } catch (const CudaError& error) {
    measurement.note(std::string("copies from and to page-locked memory are not timed: ") +
                     error.what());
  }
  add_copy_blocks(blocks, pinned, pageable);
  measurement.say("kernels: " + std::to_string(blocks.all.size()) + " blocks to time");
  time_blocks(measurement, arena.stream, blocks.all, seconds, "kernels");
}

} // namespace stepsim::calibrate::gpu
