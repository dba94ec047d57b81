#pragma once
// The kernels of low-rank compression (low_rank.hpp), enqueued on a stream. Pointers are device
// memory, and no call waits for the device. Equal inputs give equal results: no kernel uses atomic
// additions. A call throws CudaError if a launch fails.
#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/low_rank.hpp"

namespace stepsim::calibrate::gpu {

struct LowRankSpace { // partial sums, large enough for any shape, on the current device
  LowRankSpace();
  Buffer<float> partial;
};

// P = M Q.
void left_factor(const LowRankShape& shape, const float* matrix, const float* right, float* left,
                 cudaStream_t stream);
// Q = M^T P.
void right_factor(const LowRankShape& shape, const float* matrix, const float* left,
                  LowRankSpace& space, float* right, cudaStream_t stream);
// Makes the columns (rows x rank) orthonormal by modified Gram-Schmidt, in place. A column whose
// squares sum to 0 stays as it is.
void orthogonalize(std::int64_t rows, int rank, float* columns, LowRankSpace& space,
                   cudaStream_t stream);
// update = P Q^T, and matrix -= update: the matrix keeps the error (error feedback).
void restore(const LowRankShape& shape, const float* left, const float* right, float* matrix,
             float* update, cudaStream_t stream);

} // namespace stepsim::calibrate::gpu
