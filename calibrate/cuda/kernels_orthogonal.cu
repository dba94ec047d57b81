// Gram-Schmidt on the columns of a thin matrix, in the modified form: a finished column is taken
// out of all later ones at once. Each step fuses this with the products that the next step needs,
// so that the matrix is read once per column instead of once per pair of columns. Between two steps
// all blocks must have finished, and a kernel per step is that barrier.
#include <utility>

#include "calibrate/cuda/block_scan.cuh"
#include "calibrate/cuda/grid.cuh"
#include "calibrate/cuda/low_rank.cuh"
#include "calibrate/cuda/rank_width.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Sums of R values over the blocks of the step before, by all threads of a block.
template <int R, class Totals> __device__ void add_blocks(const float* sums, Totals& totals) {
  __shared__ float parts[kThreads];
  const auto thread = static_cast<int>(threadIdx.x);
  float part = 0;
  for (int block = thread / R; block < static_cast<int>(gridDim.x); block += kThreads / R) {
    part += sums[block * R + thread % R];
  }
  parts[thread] = part;
  __syncthreads();
  if (thread < R) {
    float total = 0;
    for (int i = thread; i < kThreads; i += R) {
      total += parts[i];
    }
    totals[thread] = total;
  }
  __syncthreads();
}

// Step j = 0 .. rank: column j-1, whose products a_j-1 . a_l with itself and all later ones
// `before` has per block, is taken out of the later ones and divided by its length; the products of
// column j, which is final with that, go to `after`.
//
//   a_l -= (a_j-1 . a_l / a_j-1 . a_j-1) a_j-1      one pass over the rows per column
template <int R>
__global__ void orthogonalize_kernel(std::int64_t rows, int rank, int step, float* columns,
                                     const float* before, float* after) {
  __shared__ float totals[R];
  __shared__ float of_warps[kWarpsOf<kThreads>][R];
  float length = 1;
  float shares[R] = {};
  if (step > 0) {
    add_blocks<R>(before, totals);
    const float square = totals[step - 1];
    length = square > 0 ? sqrtf(square) : 1.0F;
#pragma unroll
    for (int l = 0; l < R; ++l) {
      shares[l] = square > 0 ? totals[l] / square : 0.0F;
    }
  }
  float sums[R] = {};
  for (std::int64_t i = first_index(); i < rows; i += index_stride()) {
    float* row = columns + i * rank;
    const float out = step > 0 ? row[step - 1] : 0.0F;
    float values[R];
    float pivot = 0;
#pragma unroll
    for (int l = 0; l < R; ++l) {
      values[l] = 0;
      if (l >= step && l < rank) {
        values[l] = fmaf(-shares[l], out, row[l]);
        row[l] = values[l];
        pivot = l == step ? values[l] : pivot;
      }
    }
    if (step > 0) {
      row[step - 1] = out / length;
    }
#pragma unroll
    for (int l = 0; l < R; ++l) {
      sums[l] = fmaf(pivot, values[l], sums[l]);
    }
  }
#pragma unroll
  for (int l = 0; l < R; ++l) {
    const float sum = warp_sum(sums[l]);
    if (threadIdx.x % kWarp == 0) {
      of_warps[threadIdx.x / kWarp][l] = sum;
    }
  }
  __syncthreads();
  if (threadIdx.x < R) {
    float sum = 0;
    for (int warp = 0; warp < kWarpsOf<kThreads>; ++warp) {
      sum += of_warps[warp][threadIdx.x];
    }
    after[blockIdx.x * R + threadIdx.x] = sum;
  }
}

} // namespace

void orthogonalize(std::int64_t rows, int rank, float* columns, LowRankSpace& space,
                   cudaStream_t stream) {
  const int grid = grid_for(rows);
  for_rank(rank, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    float* before = space.partial.get();
    float* after = before + static_cast<std::ptrdiff_t>(grid) * kWidth;
    for (int step = 0; step <= rank; ++step) {
      orthogonalize_kernel<kWidth>
          <<<grid, kThreads, 0, stream>>>(rows, rank, step, columns, before, after);
      STEPSIM_CUDA(cudaGetLastError());
      std::swap(before, after);
    }
  });
}

} // namespace stepsim::calibrate::gpu
