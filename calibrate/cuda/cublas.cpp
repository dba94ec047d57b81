// cuBLAS stores matrices column by column: what it sees is the transpose of each of our matrices,
// so that factors change places and a triangle its side.
#include "calibrate/cuda/cublas.hpp"

#include "calibrate/cuda/gpu_job.hpp"

namespace stepsim::calibrate::gpu {

Cublas::Cublas(CUstream_st* stream)
    : library_("cublas", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
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

Cublas::~Cublas() { (void)functions_.destroy(handle_); }

int Cublas::product(int rows, int columns, int inner, float scale, Factor a, Factor b, float keep,
                    float* out) const {
  return functions_.product(handle_, b.transposed ? 1 : 0, a.transposed ? 1 : 0, columns, rows,
                            inner, &scale, b.values, b.transposed ? inner : columns, a.values,
                            a.transposed ? rows : inner, &keep, out, columns);
}

// R^T x^T = old x^T: from the left, with the lower triangle R^T.
int Cublas::solve(int rows, int rank, const float* upper, float* x) const {
  constexpr float kOne = 1;
  return functions_.solve(handle_, 0, 0, 0, 0, rank, rows, &kOne, upper, rank, x, rank);
}

} // namespace stepsim::calibrate::gpu
