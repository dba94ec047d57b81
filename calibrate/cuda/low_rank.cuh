#pragma once
// Low-rank compression as calls on a stream (low_rank.hpp). As in kernels.cuh pointers are device
// memory and nothing waits. Sums are the same in every call: no atomics.
#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/low_rank.hpp"

namespace stepsim::calibrate::gpu {

struct LowRankSpace { // for any shape, on the current device
  LowRankSpace();
  Buffer<float> partial;
};

// P = M Q.
void left_factor(const LowRankShape& shape, const float* matrix, const float* right, float* left,
                 cudaStream_t stream);
// Q = M^T P.
void right_factor(const LowRankShape& shape, const float* matrix, const float* left,
                  LowRankSpace& space, float* right, cudaStream_t stream);
// Gram-Schmidt on the columns, each taken out of all later ones. A column whose squares sum to 0
// stays as it is.
void orthogonalize(std::int64_t rows, int rank, float* columns, LowRankSpace& space,
                   cudaStream_t stream);
// update = P Q^T; the matrix keeps what that leaves (error feedback).
void restore(const LowRankShape& shape, const float* left, const float* right, float* matrix,
             float* update, cudaStream_t stream);

} // namespace stepsim::calibrate::gpu
