// Low-rank compression: a thin factor times a matrix, both ways, and the way back. A matrix of a
// few columns is kept in registers (R values of a thread, R >= rank) or, tile by tile, in shared
// memory, so that the large matrix is read once.
#include <algorithm>

#include "calibrate/cuda/block_scan.cuh"
#include "calibrate/cuda/grid.cuh"
#include "calibrate/cuda/low_rank.cuh"
#include "calibrate/cuda/rank_width.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kTileRows = 128; // rows of a factor in shared memory

// Rows begin, begin + 1, .. of a factor, 0 where there are none.
__device__ float factor_value(const float* factor, int rank, std::int64_t begin, int height,
                              int row, int k) {
  return row < height && k < rank ? factor[(begin + row) * rank + k] : 0.0F;
}

// Rows that a warp takes at a time. More rows use each loaded factor more often and need rows x R
// sums in registers: 4 rows up to R = 8, then fewer, so that the sums stay at 32 or less.
constexpr int rows_of_warp(int width) { return width <= 8 ? 4 : 32 / width; }

// Warps take rows of the matrix, lanes every 32nd column.
template <int R>
__global__ void left_kernel(LowRankShape shape, const float* matrix, const float* right,
                            float* left) {
  constexpr int kRows = rows_of_warp(R);
  __shared__ float tile[R][kTileRows + 1];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t row =
      (static_cast<std::int64_t>(blockIdx.x) * kWarpsOf<kThreads> + warp) * kRows;
  float sums[kRows][R] = {};
  for (std::int64_t begin = 0; begin < shape.columns; begin += kTileRows) {
    const auto width = static_cast<int>(min(std::int64_t{kTileRows}, shape.columns - begin));
    for (int i = static_cast<int>(threadIdx.x); i < kTileRows * R; i += kThreads) {
      tile[i % R][i / R] = factor_value(right, shape.rank, begin, width, i / R, i % R);
    }
    __syncthreads();
    for (int column = lane; column < width; column += kWarp) {
      float factors[R];
#pragma unroll
      for (int k = 0; k < R; ++k) {
        factors[k] = tile[k][column];
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float value =
            row + i < shape.rows ? matrix[(row + i) * shape.columns + begin + column] : 0.0F;
#pragma unroll
        for (int k = 0; k < R; ++k) {
          sums[i][k] = fmaf(value, factors[k], sums[i][k]);
        }
      }
    }
    __syncthreads(); // before the next tile is written
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const float sum = warp_sum(sums[i][k]);
      if (lane == 0 && row + i < shape.rows && k < shape.rank) {
        left[(row + i) * shape.rank + k] = sum;
      }
    }
  }
}

// The rows of the matrix that a block goes through, for all its columns: blockIdx.y of gridDim.y.
struct Rows {
  std::int64_t begin, end;
};
__device__ Rows rows_of_block(const LowRankShape& shape) {
  const std::int64_t each = (shape.rows + gridDim.y - 1) / gridDim.y;
  const std::int64_t begin = min(each * blockIdx.y, shape.rows);
  return {begin, min(begin + each, shape.rows)};
}

// Rows begin .. begin + height of the left factor for all threads of the block; what lies beyond is
// 0.
template <int R, class Tile>
__device__ void load_tile(Tile& tile, const LowRankShape& shape, const float* left,
                          std::int64_t begin, int height) {
  for (int i = static_cast<int>(threadIdx.x); i < kTileRows * R; i += kThreads) {
    tile[i / R][i % R] = factor_value(left, shape.rank, begin, height, i / R, i % R);
  }
  __syncthreads();
}

// A thread takes a column of the matrix; sums of a share of the rows.
template <int R>
__global__ void right_kernel(LowRankShape shape, const float* matrix, const float* left,
                             float* partial) {
  __shared__ float tile[kTileRows][R];
  const Rows rows = rows_of_block(shape);
  const std::int64_t column = first_index();
  float sums[R] = {};
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kTileRows) {
    const auto height = static_cast<int>(min(std::int64_t{kTileRows}, rows.end - begin));
    load_tile<R>(tile, shape, left, begin, height);
    for (int i = 0; i < height && column < shape.columns; ++i) {
      const float value = matrix[(begin + i) * shape.columns + column];
#pragma unroll
      for (int k = 0; k < R; ++k) {
        sums[k] = fmaf(value, tile[i][k], sums[k]);
      }
    }
    __syncthreads(); // before the next tile is written
  }
#pragma unroll
  for (int k = 0; k < R; ++k) {
    if (column < shape.columns && k < shape.rank) {
      partial[(blockIdx.y * shape.columns + column) * shape.rank + k] = sums[k];
    }
  }
}

// out[i] = the sum of its parts in the order of the parts, so that it is the same in every run;
// atomic additions would not be.
__global__ void add_partials_kernel(const float* partial, int parts, std::int64_t count,
                                    float* out) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) {
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
      sum += partial[part * count + i];
    }
    out[i] = sum;
  }
}

// update = P Q^T, and the matrix keeps what the update does not hold, the residual of error
// feedback, in the same pass. A thread keeps its row of Q in registers; rows of P come through
// shared memory.
template <int R>
__global__ void restore_kernel(LowRankShape shape, const float* left, const float* right,
                               float* matrix, float* update) {
  __shared__ float tile[kTileRows][R];
  const Rows rows = rows_of_block(shape);
  const std::int64_t column = first_index();
  float factors[R];
#pragma unroll
  for (int k = 0; k < R; ++k) {
    factors[k] = column < shape.columns && k < shape.rank ? right[column * shape.rank + k] : 0.0F;
  }
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kTileRows) {
    const auto height = static_cast<int>(min(std::int64_t{kTileRows}, rows.end - begin));
    load_tile<R>(tile, shape, left, begin, height);
    for (int i = 0; i < height && column < shape.columns; ++i) {
      float value = 0;
#pragma unroll
      for (int k = 0; k < R; ++k) {
        value = fmaf(tile[i][k], factors[k], value);
      }
      const std::int64_t at = (begin + i) * shape.columns + column;
      update[at] = value;
      matrix[at] -= value;
    }
    __syncthreads(); // before the next tile is written
  }
}

// Blocks for all columns, and as many shares of the rows as fill the device, but none of less than
// a tile, which is what a block loads at a time.
dim3 grid_of(const LowRankShape& shape) {
  const std::int64_t across = (shape.columns + kThreads - 1) / kThreads;
  const std::int64_t tiles = (shape.rows + kTileRows - 1) / kTileRows;
  const std::int64_t shares = std::min<std::int64_t>(full_grid() / across, tiles);
  return {static_cast<unsigned>(across), static_cast<unsigned>(std::max<std::int64_t>(1, shares))};
}

} // namespace

// Partial sums of right_factor, whose grid with shares of the rows has at most full_grid blocks;
// those of Gram-Schmidt, twice, are fewer.
LowRankSpace::LowRankSpace()
    : partial(static_cast<std::size_t>(full_grid()) * kThreads * kMostRank) {}

void left_factor(const LowRankShape& shape, const float* matrix, const float* right, float* left,
                 cudaStream_t stream) {
  for_rank(shape.rank, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    constexpr std::int64_t kRows = kWarpsOf<kThreads> * rows_of_warp(kWidth); // of a block
    const auto blocks = static_cast<unsigned>((shape.rows + kRows - 1) / kRows);
    left_kernel<kWidth><<<blocks, kThreads, 0, stream>>>(shape, matrix, right, left);
    STEPSIM_CUDA(cudaGetLastError());
  });
}

// Shares of the rows are summed by a second kernel, where one share would leave the device idle.
void right_factor(const LowRankShape& shape, const float* matrix, const float* left,
                  LowRankSpace& space, float* right, cudaStream_t stream) {
  const dim3 grid = grid_of(shape);
  float* const sums = grid.y > 1 ? space.partial.get() : right;
  for_rank(shape.rank, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    right_kernel<kWidth><<<grid, kThreads, 0, stream>>>(shape, matrix, left, sums);
    STEPSIM_CUDA(cudaGetLastError());
  });
  if (grid.y > 1) {
    const std::int64_t count = shape.columns * shape.rank;
    add_partials_kernel<<<grid_for(count), kThreads, 0, stream>>>(sums, static_cast<int>(grid.y),
                                                                  count, right);
    STEPSIM_CUDA(cudaGetLastError());
  }
}

void restore(const LowRankShape& shape, const float* left, const float* right, float* matrix,
             float* update, cudaStream_t stream) {
  for_rank(shape.rank, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    restore_kernel<kWidth>
        <<<grid_of(shape), kThreads, 0, stream>>>(shape, left, right, matrix, update);
    STEPSIM_CUDA(cudaGetLastError());
  });
}

} // namespace stepsim::calibrate::gpu
