// The full sort, by the radix sort that comes with the toolkit (CUB). It is no selector that a
// scenario has: its time is the bound that a selection must stay below to be worth anything.
#include <cub/device/device_radix_sort.cuh>

#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kKeyBits = 31; // the sign is not part of a magnitude

__global__ void keys_kernel(const float* x, std::int64_t n, std::uint32_t* keys,
                            std::int32_t* indices) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    keys[i] = magnitude_key(x[i]);
    indices[i] = static_cast<std::int32_t>(i);
  }
}

// With a null pointer CUB only computes how much memory it needs. The sort is stable, so that equal
// magnitudes keep ascending indices, as selections do.
cudaError_t sort(void* temporary, std::size_t& bytes, SortSpace& space, std::int64_t n,
                 cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairsDescending(
      temporary, bytes, space.keys_in.get(), space.keys_out.get(), space.indices_in.get(),
      space.indices_out.get(), static_cast<int>(n), 0, kKeyBits, stream);
}

} // namespace

SortSpace::SortSpace(std::int64_t most)
    : keys_in(static_cast<std::size_t>(most)), keys_out(static_cast<std::size_t>(most)),
      indices_in(static_cast<std::size_t>(most)), indices_out(static_cast<std::size_t>(most)) {
  STEPSIM_CUDA(sort(nullptr, temporary_bytes, *this, most, nullptr));
  temporary = Buffer<unsigned char>(temporary_bytes);
}

void sort_magnitudes(const float* x, std::int64_t n, SortSpace& space, cudaStream_t stream) {
  keys_kernel<<<full_grid(), 256, 0, stream>>>(x, n, space.keys_in.get(), space.indices_in.get());
  STEPSIM_CUDA(cudaGetLastError());
  std::size_t bytes = space.temporary_bytes;
  STEPSIM_CUDA(sort(space.temporary.get(), bytes, space, n, stream));
}

} // namespace stepsim::calibrate::gpu
