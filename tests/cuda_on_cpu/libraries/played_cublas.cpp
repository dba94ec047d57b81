// cuBLAS, played: the functions that gpu_bench and stepsim-calibrate load, by their binary
// interface, as the standard of BLAS defines them for matrices stored column by column. Work goes
// to the played stream.
#include <utility>

#include "shim/streams.hpp"

namespace {

struct Handle {
  CUstream_st* stream = nullptr;
};

constexpr int kNotSupported = 15;

std::size_t floats(std::int64_t leading, std::int64_t others) {
  return static_cast<std::size_t>(leading * others) * sizeof(float);
}

int submit(const Handle* handle, cuda_on_cpu::Work work) {
  work.seconds += 1e-6;
  return cuda_on_cpu::submit(handle->stream, std::move(work));
}

} // namespace

extern "C" {

int cublasCreate_v2(Handle** handle) {
  *handle = new Handle;
  return cuda_on_cpu::machine().has_cublas ? 0 : 1;
}

int cublasDestroy_v2(Handle* handle) {
  delete handle;
  return 0;
}

int cublasSetStream_v2(Handle* handle, CUstream_st* stream) {
  handle->stream = stream;
  return 0;
}

int cublasSetMathMode(Handle*, int mode) { return mode == 2 ? 0 : kNotSupported; }

// C (m x n) = alpha op(A) op(B) + beta C, with op(A) of m x k and op(B) of k x n.
int cublasSgemm_v2(Handle* handle, int a_op, int b_op, int m, int n, int k, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                   int ldc) {
  if (lda < (a_op == 0 ? m : k) || ldb < (b_op == 0 ? k : n) || ldc < m) {
    return kNotSupported;
  }
  cuda_on_cpu::Work work{"product",
                         {{a, floats(lda, a_op == 0 ? k : m)}, {b, floats(ldb, b_op == 0 ? n : k)}},
                         {{c, floats(ldc, n)}}};
  work.seconds = 2e-14 * m * n * k; // 100 TFLOP/s
  work.run = [=, scale = *alpha, keep = *beta] {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t t = 0; t < k; ++t) {
          sum += static_cast<double>(a[a_op == 0 ? i + t * lda : t + i * lda]) *
                 b[b_op == 0 ? t + j * ldb : j + t * ldb];
        }
        float& to = c[i + j * ldc];
        to = static_cast<float>(scale * sum + (keep != 0 ? keep * to : 0.0F));
      }
    }
  };
  return submit(handle, std::move(work));
}

// A X = alpha B, of m x n, X in place of B: A from the left, lower triangular, as it is.
int cublasStrsm_v2(Handle* handle, int side, int fill, int op, int diagonal, int m, int n,
                   const float* alpha, const float* a, int lda, float* b, int ldb) {
  if (side != 0 || fill != 0 || op != 0 || diagonal != 0 || lda < m || ldb < m) {
    return kNotSupported;
  }
  cuda_on_cpu::Work work{"triangle", {{a, floats(lda, m)}}, {{b, floats(ldb, n)}}};
  work.run = [=, scale = *alpha] {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        double value = static_cast<double>(scale) * b[i + j * ldb];
        for (std::int64_t t = 0; t < i; ++t) {
          value -= static_cast<double>(a[i + t * lda]) * b[t + j * ldb];
        }
        b[i + j * ldb] = static_cast<float>(value / a[i + i * lda]);
      }
    }
  };
  return submit(handle, std::move(work));
}

} // extern "C"
