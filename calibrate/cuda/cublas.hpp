#pragma once
// cuBLAS, loaded while the program runs: it is needed neither to build nor to start the program.
// Matrices of fp32 are stored row by row, without gaps; pointers are device memory.
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

struct Factor {
  const float* values{};
  bool transposed = false; // the stored matrix is the transpose
};

class Cublas {
public:
  // Work goes to `stream`, a stream of the current device. Throws NotAvailable if libcublas of CUDA
  // 12 or 13 or one of the functions is missing, or if it does not start.
  explicit Cublas(CUstream_st* stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // product: out = scale A B + keep out, with A of rows x inner and B of inner x columns.
  // solve: x = x R^-1, with x of rows x rank and R of rank x rank, upper triangular; what `upper`
  // holds below the diagonal is not read. Both enqueue their work and return 0 or an error of
  // cuBLAS.
  [[nodiscard]] int product(int rows, int columns, int inner, float scale, Factor a, Factor b,
                            float keep, float* out) const;
  [[nodiscard]] int solve(int rows, int rank, const float* upper, float* x) const;

private:
  Library library_;
  CublasFunctions functions_{};
  CublasFunctions::Handle handle_ = nullptr;
};

} // namespace stepsim::calibrate::gpu
