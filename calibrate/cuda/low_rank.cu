#include "calibrate/cuda/low_rank.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// The upper triangle of the square becomes R with R^T R = square. One block, a thread per column. A
// row whose pivot is not above 0, as where all values are 0, has 1 on the diagonal.
__global__ void cholesky_kernel(int rank, float* square) {
  const int column = static_cast<int>(threadIdx.x);
  for (int k = 0; k < rank; ++k) {
    const float pivot = square[k * rank + k];
    const float length = pivot > 0 ? sqrtf(pivot) : 1.0F;
    __syncthreads(); // all have read the pivot
    if (column >= k && column < rank) {
      square[k * rank + column] = column == k ? length : square[k * rank + column] / length;
    }
    __syncthreads();
    for (int row = k + 1; row <= column && column < rank; ++row) {
      square[row * rank + column] -= square[k * rank + row] * square[k * rank + column];
    }
    __syncthreads();
  }
}

} // namespace

LowRank::LowRank(const Stream& stream)
    : cublas_(stream.get()), stream_(stream.get()), square_(std::size_t{kMostRank} * kMostRank) {}

void LowRank::product(int rows, int columns, int inner, float scale, Factor a, Factor b, float keep,
                      float* out) const {
  check_cublas(cublas_.product(rows, columns, inner, scale, a, b, keep, out), "cublasSgemm");
}

void LowRank::left_factor(const LowRankShape& shape, const float* matrix, const float* right,
                          float* left) const {
  product(shape.rows, shape.rank, shape.columns, 1, {matrix}, {right}, 0, left);
}

void LowRank::right_factor(const LowRankShape& shape, const float* matrix, const float* left,
                           float* right) const {
  product(shape.columns, shape.rank, shape.rows, 1, {matrix, true}, {left}, 0, right);
}

void LowRank::orthogonalize(int rows, int rank, float* columns) const {
  product(rank, rank, rows, 1, {columns, true}, {columns}, 0, square_.get());
  cholesky_kernel<<<1, kMostRank, 0, stream_>>>(rank, square_.get());
  check_cublas(cublas_.solve(rows, rank, square_.get(), columns), "cublasStrsm");
}

void LowRank::restore(const LowRankShape& shape, const float* left, const float* right,
                      float* matrix, float* update) const {
  product(shape.rows, shape.columns, shape.rank, 1, {left}, {right, true}, 0, update);
  product(shape.rows, shape.columns, shape.rank, -1, {left}, {right, true}, 1, matrix);
}

} // namespace stepsim::calibrate::gpu
