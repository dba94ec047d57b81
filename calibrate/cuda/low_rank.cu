// cuBLAS stores matrices column by column: what it sees is the transpose of each of our matrices,
// so that factors change places and a triangle its side.
#include "calibrate/cuda/low_rank.cuh"

#include "calibrate/cuda/gpu_job.hpp"

namespace stepsim::calibrate::gpu {

namespace {

void check_cublas(int status, const char* call) {
  if (status != 0) {
    throw CudaError(std::string(call) + ": error " + std::to_string(status) + " of cuBLAS");
  }
}

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

LowRank::LowRank(cudaStream_t stream)
    : library_("cublas", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}), stream_(stream),
      square_(std::size_t{kMostRank} * kMostRank) {
  library_.load(functions_.create, "cublasCreate_v2");
  library_.load(functions_.destroy, "cublasDestroy_v2");
  library_.load(functions_.set_stream, "cublasSetStream_v2");
  library_.load(functions_.set_math_mode, "cublasSetMathMode");
  library_.load(functions_.product, "cublasSgemm_v2");
  library_.load(functions_.solve, "cublasStrsm_v2");
  if (functions_.create(&handle_) != 0 || functions_.set_stream(handle_, stream) != 0 ||
      functions_.set_math_mode(handle_, kCublasPedantic) != 0) {
    throw NotAvailable("cublas: does not start");
  }
}

void LowRank::product(int rows, int columns, int inner, float scale, Factor a, Factor b, float keep,
                      float* out) const {
  check_cublas(functions_.product(handle_, b.transposed ? 1 : 0, a.transposed ? 1 : 0, columns,
                                  rows, inner, &scale, b.values, b.transposed ? inner : columns,
                                  a.values, a.transposed ? rows : inner, &keep, out, columns),
               "cublasSgemm");
}

void LowRank::left_factor(const LowRankShape& shape, const float* matrix, const float* right,
                          float* left) const {
  product(shape.rows, shape.rank, shape.columns, 1, {matrix}, {right}, 0, left);
}

void LowRank::right_factor(const LowRankShape& shape, const float* matrix, const float* left,
                           float* right) const {
  product(shape.columns, shape.rank, shape.rows, 1, {matrix, true}, {left}, 0, right);
}

// The last step solves R^T x^T = old x^T: from the left, with the lower triangle R^T.
void LowRank::orthogonalize(int rows, int rank, float* columns) const {
  constexpr float kOne = 1;
  product(rank, rank, rows, 1, {columns, true}, {columns}, 0, square_.get());
  cholesky_kernel<<<1, kMostRank, 0, stream_>>>(rank, square_.get());
  check_cublas(
      functions_.solve(handle_, 0, 0, 0, 0, rank, rows, &kOne, square_.get(), rank, columns, rank),
      "cublasStrsm");
}

void LowRank::restore(const LowRankShape& shape, const float* left, const float* right,
                      float* matrix, float* update) const {
  product(shape.rows, shape.columns, shape.rank, 1, {left}, {right, true}, 0, update);
  product(shape.rows, shape.columns, shape.rank, -1, {left}, {right, true}, 1, matrix);
}

} // namespace stepsim::calibrate::gpu
