#pragma once
// Low-rank compression (PowerSGD; SPA 8.3, 11) of a matrix M of rows x columns, with products by
// cuBLAS, which is loaded while the program runs: it is needed neither to build nor to start the
// program. Pointers are device memory, matrices of fp32 are stored row by row, without gaps, and no
// call waits for the device. Calls throw CudaError if cuBLAS fails.
//
//   left P = M Q,   P orthonormal,   right Q = M^T P,   update = P Q^T
#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/driver.hpp"

namespace stepsim::calibrate::gpu {

// Prototypes of the functions of cuBLAS 12 and 13 that are used, without cublas_v2.h, whose
// enumerations are ints here. If that file is installed, a test compares them with it
// (tests/calibrate/cuda/library_headers_check.cpp).
struct CublasFunctions {
  using Handle = struct cublasContext*;
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, CUstream_st*);
  int (*set_math_mode)(Handle, int);
  int (*product)(Handle, int, int, int, int, int, const float*, const float*, int, const float*,
                 int, const float*, float*, int);
  int (*solve)(Handle, int, int, int, int, int, int, const float*, const float*, int, float*, int);
};
inline constexpr int kCublasPedantic = 2; // math mode: fp32 as it is, without tensor cores

inline constexpr int kMostRank = 32;
struct LowRankShape { // rank <= rows, columns, kMostRank
  int rows{}, columns{}, rank{};
};

class LowRank {
public:
  // Work goes to `stream`, a stream of the current device. Throws NotAvailable if libcublas of CUDA
  // 12 or 13 or one of the functions is missing, or if it does not start.
  explicit LowRank(cudaStream_t stream);
  ~LowRank() { (void)functions_.destroy(handle_); }
  LowRank(const LowRank&) = delete;
  LowRank& operator=(const LowRank&) = delete;

  struct Factor {
    const float* values{};
    bool transposed = false; // the stored matrix is the transpose
  };
  // out = scale A B + keep out, with A of rows x inner and B of inner x columns.
  void product(int rows, int columns, int inner, float scale, Factor a, Factor b, float keep,
               float* out) const;
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
  Library library_;
  CublasFunctions functions_{};
  CublasFunctions::Handle handle_ = nullptr;
  cudaStream_t stream_;
  Buffer<float> square_; // [kMostRank x kMostRank]
};

} // namespace stepsim::calibrate::gpu
