// Exact selection of the k largest magnitudes, and stable compaction. The device is never waited
// for: counts and thresholds stay in a SelectState that the next kernel reads. The first pass of
// `find_threshold` also counts NaN and infinities, which make the caller refuse the result.
#include <algorithm>

#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kItems = 8; // of a thread in a tile
constexpr int kTile = kThreads * kItems;
constexpr int kScanThreads = 1024;

// Counts the digits of this pass among the keys that agree with the digits found so far. The first
// digit holds most of the exponent, of which real gradients have few: a whole warp then adds to
// three or four bins, one lane after the other. Every warp therefore has kCopies histograms, which
// its lanes use in turn and which lie in different banks.
__global__ void histogram_kernel(Input input, int pass, SelectState* state,
                                 std::uint32_t* histograms) {
  constexpr int kWarps = kThreads / kWarp;
  constexpr int kCopies = 4;
  __shared__ std::uint32_t bins[kWarps][kCopies * kRadixBins];
  for (int i = static_cast<int>(threadIdx.x); i < kWarps * kCopies * kRadixBins; i += kThreads) {
    bins[i / (kCopies * kRadixBins)][i % (kCopies * kRadixBins)] = 0;
  }
  __syncthreads();
  const int copy = static_cast<int>(threadIdx.x) % kCopies;
  const std::uint32_t prefix = state->prefix;
  auto& mine = bins[threadIdx.x / kWarp];
  std::uint32_t not_finite = 0;
  for_each_value(input, [&](float value) {
    const std::uint32_t key = magnitude_key(value);
    not_finite += pass == 0 && !is_finite_key(key) ? 1 : 0;
    if (radix_matches(key, prefix, pass)) {
      atomicAdd(&mine[kCopies * static_cast<int>(radix_digit(key, pass)) + copy], 1U);
    }
  });
  if (not_finite > 0) {
    atomicAdd(&state->not_finite, not_finite);
  }
  __syncthreads();
  static_assert(kThreads == kRadixBins);
  std::uint32_t count = 0;
  for (int warp = 0; warp < kWarps; ++warp) {
    for (int i = 0; i < kCopies; ++i) {
      count += bins[warp][kCopies * static_cast<int>(threadIdx.x) + i];
    }
  }
  if (count > 0) {
    atomicAdd(&histograms[pass * kRadixBins + static_cast<int>(threadIdx.x)], count);
  }
}

// The digit of the k-th largest key of this pass: thread t looks at bin 255 - t, so that an
// exclusive scan counts the keys with a larger digit. At most one bin reaches over `remaining`, and
// its thread writes; all threads have read the state before the barriers within the scan.
__global__ void pick_kernel(int pass, SelectState* state, const std::uint32_t* histograms) {
  const auto digit = static_cast<std::uint32_t>(kRadixBins - 1) - threadIdx.x;
  const std::uint32_t count = histograms[pass * kRadixBins + static_cast<int>(digit)];
  const std::uint32_t remaining = state->remaining;
  const std::uint32_t prefix = state->prefix;
  const std::uint64_t before = block_scan<kRadixBins>(count).before; // all have read the state
  if (before < remaining && remaining <= before + count) {
    const std::uint32_t found = radix_append(prefix, digit, pass);
    const std::uint32_t left = remaining - static_cast<std::uint32_t>(before);
    state->prefix = found;
    state->remaining = left;
    if (pass == kRadixPasses - 1) {
      state->selection = exact_selection(found, left);
    }
  }
}

// What one thread reads: kItems neighbours, in order. A stretch per thread, and not a stride, is
// what keeps the output in the order of the input.
struct Items {
  float values[kItems];
  int count;
};

// Neighbouring tiles of one block.
struct Tiles {
  std::int64_t begin, end;
};
__device__ Tiles tiles_of_block(std::int64_t n) {
  const std::int64_t all = (n + kTile - 1) / kTile;
  const std::int64_t each = (all + gridDim.x - 1) / gridDim.x;
  const std::int64_t begin = min(each * blockIdx.x, all);
  return {begin, min(begin + each, all)};
}

// Four at a time where the address allows it.
__device__ Items load_items(const Input& input, std::int64_t n, std::int64_t tile) {
  Items items;
  const std::int64_t begin = tile * kTile + static_cast<std::int64_t>(threadIdx.x) * kItems;
  const std::int64_t left = n - begin;
  items.count = left >= kItems ? kItems : (left > 0 ? static_cast<int>(left) : 0);
  const float* from = input.values + begin;
  if (items.count == kItems && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
    for (int i = 0; i < kItems; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      items.values[i] = four.x;
      items.values[i + 1] = four.y;
      items.values[i + 2] = four.z;
      items.values[i + 3] = four.w;
    }
  } else {
    for (int i = 0; i < kItems; ++i) {
      items.values[i] = i < items.count ? from[i] : 0.0F;
    }
  }
  return items;
}

// Both counts in one word, so that one scan adds them.
__device__ std::uint64_t packed_tally(const Items& items, const Selection& selection) {
  std::uint64_t sum = 0;
  for (int i = 0; i < kItems; ++i) {
    sum += i < items.count ? packed(tally_of(magnitude_key(items.values[i]), selection)) : 0;
  }
  return sum;
}

// Compaction in three steps: every block counts the entries of its tiles, the counts are scanned
// over the blocks, and every block writes behind those before it. There are no more blocks than the
// device holds, so that the scan in the middle is short. The input is read twice; positions from an
// atomic counter would need one reading, but give another order in every run.
__global__ void count_blocks_kernel(Input input, const SelectState* state, std::uint64_t* blocks) {
  const std::int64_t n = length_of(input);
  const Selection selection = state->selection;
  const Tiles tiles = tiles_of_block(n);
  std::uint64_t mine = 0;
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    mine += packed_tally(load_items(input, n, tile), selection);
  }
  const Scanned scanned = block_scan<kThreads>(mine);
  if (threadIdx.x == 0) {
    blocks[blockIdx.x] = scanned.total;
  }
}

// blocks[i] becomes the sum before block i. Every thread adds a stretch of them, the one block
// scans the sums, and every thread goes through its stretch again.
__global__ void scan_blocks_kernel(std::uint64_t* blocks, std::int64_t count, SelectState* state) {
  const std::int64_t stretch = (count + kScanThreads - 1) / kScanThreads;
  const std::int64_t begin = stretch * threadIdx.x < count ? stretch * threadIdx.x : count;
  const std::int64_t end = begin + stretch < count ? begin + stretch : count;
  std::uint64_t sum = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    sum += blocks[i];
  }
  const Scanned scanned = block_scan<kScanThreads>(sum);
  std::uint64_t before = scanned.before;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint64_t block = blocks[i];
    blocks[i] = before;
    before += block;
  }
  if (threadIdx.x == 0) {
    state->count = output_position(unpacked(scanned.total), state->selection);
  }
}

// Writes the entries of one thread, given how many keys are above and at the threshold before them.
__device__ void write_items(const Input& input, const Items& items, std::int64_t begin,
                            const Selection& selection, Tally before, const List& out) {
  for (int i = 0; i < kItems; ++i) {
    if (i >= items.count) {
      break;
    }
    const float value = items.values[i];
    const std::uint32_t key = magnitude_key(value);
    if (is_selected(key, selection, before.equal)) {
      const std::uint32_t position = output_position(before, selection);
      if (position < out.capacity) {
        out.indices[position] = input.indices != nullptr ? input.indices[begin + i]
                                                         : static_cast<std::int32_t>(begin + i);
        out.values[position] = value;
      }
    }
    const Tally here = tally_of(key, selection);
    before.above += here.above;
    before.equal += here.equal;
  }
}

// Positions follow from the counts before: no atomic operation decides the order.
__global__ void write_blocks_kernel(Input input, const SelectState* state,
                                    const std::uint64_t* blocks, List out) {
  const std::int64_t n = length_of(input);
  const Selection selection = state->selection;
  const Tiles tiles = tiles_of_block(n);
  std::uint64_t before = blocks[blockIdx.x];
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const Items items = load_items(input, n, tile);
    const Scanned scanned = block_scan<kThreads>(packed_tally(items, selection));
    const std::int64_t begin = tile * kTile + static_cast<std::int64_t>(threadIdx.x) * kItems;
    write_items(input, items, begin, selection, unpacked(before + scanned.before), out);
    before += scanned.total;
  }
}

// Blocks of the compaction: at most as many as the device holds, and no more than there are tiles.
std::int64_t compaction_grid(std::int64_t n) {
  return std::clamp<std::int64_t>((n + kTile - 1) / kTile, 1, full_grid());
}

// Blocks of histogram_kernel that a multiprocessor holds hang on its shared memory.
int histogram_grid(const Input& input) {
  static thread_local std::vector<int> known;
  const int most = known_of_device(known, [](int device) {
    int blocks = 0;
    int multiprocessors = 0;
    STEPSIM_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, histogram_kernel, kThreads, 0));
    STEPSIM_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return std::max(1, blocks) * multiprocessors;
  });
  return std::min(most, stream_grid(input));
}

} // namespace

Workspace::Workspace(std::int64_t most_elements, cudaStream_t on_stream)
    : state(1), histograms(kRadixPasses * kRadixBins), blocks(full_grid()), most(most_elements),
      stream(on_stream) {}

// One block clears the histograms of all passes and sets how many entries are looked for. Four
// passes of eight bits follow; each keeps the keys that can still be the k-th largest.
void find_threshold(const Input& input, std::uint32_t k, Workspace& work) {
  SelectState* const state = work.state.get();
  std::uint32_t* const histograms = work.histograms.get();
  run_in_blocks(1, kThreads, work.stream, [=] __device__ {
    for_each_index(kRadixPasses * kRadixBins, [&](std::int64_t i) { histograms[i] = 0; });
    if (threadIdx.x == 0) {
      *state = SelectState{};
      state->remaining = static_cast<std::uint32_t>(min(length_of(input), std::int64_t{k}));
    }
  });
  for (int pass = 0; pass < kRadixPasses; ++pass) {
    histogram_kernel<<<histogram_grid(input), kThreads, 0, work.stream>>>(input, pass, state,
                                                                          histograms);
    pick_kernel<<<1, kRadixBins, 0, work.stream>>>(pass, state, histograms);
  }
}

void compact(const Input& input, Workspace& work, const List& out) {
  if (input.n > work.most) {
    throw SimulationError("compact: the workspace is too small");
  }
  const std::int64_t count = compaction_grid(input.n);
  const auto grid = static_cast<unsigned>(count);
  SelectState* const state = work.state.get();
  std::uint64_t* const blocks = work.blocks.get();
  count_blocks_kernel<<<grid, kThreads, 0, work.stream>>>(input, state, blocks);
  scan_blocks_kernel<<<1, kScanThreads, 0, work.stream>>>(blocks, count, state);
  write_blocks_kernel<<<grid, kThreads, 0, work.stream>>>(input, state, blocks, out);
}

void select_exact(const Input& input, std::uint32_t k, Workspace& work, const List& out) {
  find_threshold(input, k, work);
  compact(input, work, out);
}

// Entries equal to the threshold are not taken (no ties).
void select_above(const Input& input, float threshold, Workspace& work, const List& out) {
  SelectState* const state = work.state.get();
  run_in_blocks(1, 1, work.stream, [=] __device__ {
    *state = SelectState{};
    state->threshold = threshold;
    state->selection = {magnitude_key(threshold), 0};
  });
  compact(input, work, out);
}

} // namespace stepsim::calibrate::gpu
