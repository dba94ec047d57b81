#pragma once
// Low-rank compression (PowerSGD; SPA 8.3, 11) of a matrix M of rows x columns, with products by
// cuBLAS. Pointers are device memory, matrices are stored row by row, and no call waits for the
// device. Calls throw CudaError if cuBLAS fails.
//
//   left P = M Q,   P orthonormal,   right Q = M^T P,   update = P Q^T
#include "calibrate/cuda/cublas.hpp"
#include "calibrate/cuda/device.cuh"

namespace stepsim::calibrate::gpu {

inline constexpr int kMostRank = 32;

inline void check_cublas(int status, const char* call) { // throws CudaError for an error of cuBLAS
  if (status != 0) {
    throw CudaError(std::string(call) + ": error " + std::to_string(status) + " of cuBLAS");
  }
}

struct LowRankShape { // rank <= rows, columns, kMostRank
  int rows{}, columns{}, rank{};
};

class LowRank {
public:
  explicit LowRank(const Stream& stream); // of the current device. Throws NotAvailable as Cublas

  void left_factor(const LowRankShape& shape, const float* matrix, const float* right,
                   float* left) const;
  void right_factor(const LowRankShape& shape, const float* matrix, const float* left,
                    float* right) const;
  // Makes the columns (rows x rank) orthonormal, in place: with A^T A = R^T R, R upper triangular
  // (Cholesky), A becomes A R^-1.
  void orthogonalize(int rows, int rank, float* columns) const;
  // update = P Q^T, and matrix -= P Q^T: the matrix keeps the error (error feedback).
  void restore(const LowRankShape& shape, const float* left, const float* right, float* matrix,
               float* update) const;

private:
  void product(int rows, int columns, int inner, float scale, Factor a, Factor b, float keep,
               float* out) const;
  Cublas cublas_;
  cudaStream_t stream_;
  Buffer<float> square_; // [kMostRank x kMostRank]
};

} // namespace stepsim::calibrate::gpu
