// Kernels that pass once over vectors and lists: additions, sums, merging, test data, and the full
// sort. Additions of vectors are bound by memory and go 128 bits at a time where both pointers have
// the same offset within 16 bytes; the few elements before and behind go one by one.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>

#include "base/random.hpp"
#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Sums of elements, and of the one or two elements of a word of 32 bits.
__device__ float sum_of(float x, float y) { return x + y; }
__device__ std::uint16_t sum_of(std::uint16_t x, std::uint16_t y) { // bfloat16
  return nearest_half(from_upper_half(x) + from_upper_half(y));
}
template <class T> __device__ float sum_of_words(float x, float y) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return sum_of(x, y);
  } else {
    const auto left = std::bit_cast<std::uint32_t>(x);
    const auto right = std::bit_cast<std::uint32_t>(y);
    const std::uint32_t low = sum_of(static_cast<T>(left), static_cast<T>(right));
    const std::uint32_t high = sum_of(static_cast<T>(left >> 16), static_cast<T>(right >> 16));
    return std::bit_cast<float>(high << 16 | low);
  }
}

template <class T> __global__ void add_kernel(T* x, const T* y, std::int64_t n) {
  const VectorSplit split = vector_split(reinterpret_cast<std::uintptr_t>(x),
                                         reinterpret_cast<std::uintptr_t>(y), n, sizeof(T));
  auto* wide_x = reinterpret_cast<float4*>(x + split.head);
  const auto* wide_y = reinterpret_cast<const float4*>(y + split.head);
  for_each_group(
      split, n, [&](std::int64_t i) { x[i] = sum_of(x[i], y[i]); },
      [&](std::int64_t i) {
        float4 sum = wide_x[i];
        const float4 more = wide_y[i];
        sum.x = sum_of_words<T>(sum.x, more.x);
        sum.y = sum_of_words<T>(sum.y, more.y);
        sum.z = sum_of_words<T>(sum.z, more.z);
        sum.w = sum_of_words<T>(sum.w, more.w);
        wide_x[i] = sum;
      });
}

// A block per piece, 128 bits at a time where both ends have the same offset within 16 bytes.
__global__ void copy_pieces_kernel(const Piece* pieces, std::int64_t count, bool to_bucket,
                                   const float* from_all, float* to_all) {
  for (std::int64_t index = blockIdx.x; index < count; index += gridDim.x) {
    const Piece piece = pieces[index];
    const float* from = from_all + (to_bucket ? piece.tensor : piece.bucket);
    float* to = to_all + (to_bucket ? piece.bucket : piece.tensor);
    const VectorSplit split = vector_split(reinterpret_cast<std::uintptr_t>(to),
                                           reinterpret_cast<std::uintptr_t>(from), piece.elements);
    const auto* wide_from = reinterpret_cast<const float4*>(from + split.head);
    auto* wide_to = reinterpret_cast<float4*>(to + split.head);
    for (std::int64_t i = threadIdx.x; i < split.vectors; i += blockDim.x) {
      wide_to[i] = wide_from[i];
    }
    for (std::int64_t i = threadIdx.x; i < piece.elements - split.grouped; i += blockDim.x) {
      const std::int64_t at = i < split.head ? i : i + split.grouped;
      to[at] = from[at];
    }
  }
}

// The radix sort and the selection that come with the toolkit (CUB). With a null pointer they only
// compute how much memory they need. The sort is stable, so that equal magnitudes keep ascending
// indices, as selections do.
cudaError_t sort(void* temporary, std::size_t& bytes, SortSpace& space, std::int64_t n) {
  constexpr int kKeyBits = 31; // the sign is not part of a magnitude
  return cub::DeviceRadixSort::SortPairsDescending(
      temporary, bytes, space.keys_in.get(), space.keys_out.get(), space.indices_in.get(),
      space.indices_out.get(), static_cast<int>(n), 0, kKeyBits, space.stream);
}

struct IsAbove {
  float threshold;
  __host__ __device__ bool operator()(float value) const { return fabsf(value) > threshold; }
};
cudaError_t select(void* temporary, std::size_t& bytes, const float* x, std::int64_t n,
                   float threshold, float* out, SortSpace& space) {
  return cub::DeviceSelect::If(temporary, bytes, x, out, space.indices_out.get(),
                               static_cast<int>(n), IsAbove{threshold}, space.stream);
}

void copy_pieces(const TensorBucket& of, bool to_bucket, const float* from, float* to,
                 cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(of.pieces.size());
  copy_pieces_kernel<<<grid_for(count * kThreads), kThreads, 0, stream>>>(of.pieces.get(), count,
                                                                          to_bucket, from, to);
}

} // namespace

// A multiprocessor holds 1024 threads on compute capability 7.5, 1536 on 8.6, 8.9 and 12, else
// 2048.
int full_grid() {
  static thread_local std::vector<int> known;
  return known_of_device(known, [](int device) {
    int multiprocessors = 0;
    int threads = 0;
    STEPSIM_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    STEPSIM_CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    return std::max(1, threads / kThreads) * multiprocessors;
  });
}

void add(float* x, const float* y, std::int64_t n, cudaStream_t stream) {
  add_kernel<float><<<grid_for((n + 3) / 4), kThreads, 0, stream>>>(x, y, n);
}

void add_bf16(std::uint16_t* x, const std::uint16_t* y, std::int64_t n, cudaStream_t stream) {
  add_kernel<std::uint16_t><<<grid_for((n + 7) / 8), kThreads, 0, stream>>>(x, y, n);
}

TensorBucket::TensorBucket(std::span<const std::int64_t> lengths) {
  std::vector<Piece> all;
  for (const std::int64_t length : lengths) {
    for (std::int64_t done = 0; done < length; done += kMostPiece) {
      all.push_back({spread + done, elements + done, std::min(kMostPiece, length - done)});
    }
    spread += (length + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    elements += length;
  }
  pieces = Buffer<Piece>(all.size());
  to_device(pieces.get(), all);
}

void flatten(const TensorBucket& of, const float* tensors, float* bucket, cudaStream_t stream) {
  copy_pieces(of, true, tensors, bucket, stream);
}

void unflatten(const TensorBucket& of, const float* bucket, float* tensors, cudaStream_t stream) {
  copy_pieces(of, false, bucket, tensors, stream);
}

void sum_magnitudes(const float* x, std::int64_t n, double* sum, cudaStream_t stream) {
  STEPSIM_CUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), stream));
  run_in_blocks(grid_for(n), kThreads, stream, [=] __device__ {
    double mine = 0;
    for_each_index(n, [&](std::int64_t i) { mine += fabsf(x[i]); });
    mine = warp_sum(mine);
    if (threadIdx.x % kWarp == 0) {
      atomicAdd(sum, mine);
    }
  });
}

// A value depends on seed and index alone, so that a vector is the same whatever the grid. u is
// never 0, of which the logarithm and the inverse root would be infinite.
void fill_random(float* x, std::int64_t n, Distribution distribution, std::uint64_t seed,
                 cudaStream_t stream) {
  run_for_each(n, stream, [=] __device__(std::int64_t i) {
    const std::uint64_t bits =
        base::mix64(seed * 0x9e3779b97f4a7c15ULL + base::mix64(static_cast<std::uint64_t>(i)));
    const float u = static_cast<float>((bits >> 40) + 1) * 0x1p-24F; // (0, 1]
    const float v = static_cast<float>(bits & 0xffffffU) * 0x1p-24F; // [0, 1)
    x[i] = distribution == Distribution::gaussian ? sqrtf(-2 * logf(u)) * cospif(2 * v)
                                                  : (v < 0.5F ? -1.0F : 1.0F) / sqrtf(u);
  });
}

// Two ascending lists are merged without any order between threads: every entry finds by binary
// search how many entries of the other list precede it, and its position is that number plus its
// own index. Equal indices stand side by side after merging. Every thread then looks at its
// neighbours in the merged list and writes to another one, so that no value is read after it was
// changed.
void merge_lists(const List& a, const List& b, std::uint32_t k, Workspace& work, const List& merged,
                 float* combined, const List& out) {
  const std::uint32_t size = a.capacity + b.capacity;
  if (size > merged.capacity) {
    throw SimulationError("merge_lists: no room for both lists");
  }
  run_for_each(size, work.stream, [=] __device__(std::int64_t i) {
    const auto at = static_cast<std::uint32_t>(i);
    const bool in_a = at < a.capacity;
    const List& from = in_a ? a : b;
    const std::uint32_t own = in_a ? at : at - a.capacity;
    const std::uint32_t position = in_a ? merged_position_a(a.indices, own, b.indices, b.capacity)
                                        : merged_position_b(a.indices, a.capacity, b.indices, own);
    merged.indices[position] = from.indices[own];
    merged.values[position] = from.values[own];
  });
  run_for_each(size, work.stream, [=] __device__(std::int64_t i) {
    combined[i] =
        combined_value(merged.indices, merged.values, size, static_cast<std::uint32_t>(i));
  });
  select_exact({combined, size, nullptr, merged.indices}, k, work, out);
}

// Needs no atomic addition, since the indices of one list are distinct; two lists are added by two
// calls, one after the other on the stream, so that the order of additions is fixed.
void scatter_add(float* y, const List& list, cudaStream_t stream) {
  run_for_each(list.capacity, stream,
               [=] __device__(std::int64_t i) { y[list.indices[i]] += list.values[i]; });
}

// How many entries were sent is only known on the device; a list that overflowed holds no more than
// its capacity.
void clear_entries(float* residual, const List& list, const std::uint32_t* length,
                   cudaStream_t stream) {
  run_in_blocks(grid_for(list.capacity), kThreads, stream, [=] __device__ {
    for_each_index(min(*length, list.capacity),
                   [&](std::int64_t i) { residual[list.indices[i]] = 0; });
  });
}

SortSpace::SortSpace(std::int64_t most, cudaStream_t on_stream)
    : keys_in(most), keys_out(most), indices_in(most), indices_out(most), stream(on_stream) {
  std::size_t of_selection = 0;
  STEPSIM_CUDA(sort(nullptr, temporary_bytes, *this, most));
  STEPSIM_CUDA(select(nullptr, of_selection, nullptr, most, 0, nullptr, *this));
  temporary_bytes = std::max(temporary_bytes, of_selection);
  temporary = Buffer<unsigned char>(temporary_bytes);
}

void sort_magnitudes(const float* x, std::int64_t n, SortSpace& space) {
  std::uint32_t* const keys = space.keys_in.get();
  std::int32_t* const indices = space.indices_in.get();
  run_for_each(n, space.stream, [=] __device__(std::int64_t i) {
    keys[i] = magnitude_key(x[i]);
    indices[i] = static_cast<std::int32_t>(i);
  });
  std::size_t bytes = space.temporary_bytes;
  STEPSIM_CUDA(sort(space.temporary.get(), bytes, space, n));
}

void copy_above(const float* x, std::int64_t n, float threshold, float* out, SortSpace& space) {
  std::size_t bytes = space.temporary_bytes;
  STEPSIM_CUDA(select(space.temporary.get(), bytes, x, n, threshold, out, space));
}

} // namespace stepsim::calibrate::gpu
