// Lists: merging two, adding one to a vector, and clearing its entries. Two ascending lists are
// merged without any order between threads: every entry finds by binary search how many entries of
// the other list precede it, and its position is that number plus its own index.
#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

__global__ void merge_kernel(const std::int32_t* a_indices, const float* a_values,
                             std::uint32_t a_size, const std::int32_t* b_indices,
                             const float* b_values, std::uint32_t b_size, List merged) {
  const std::int64_t size = static_cast<std::int64_t>(a_size) + b_size;
  for (std::int64_t i = first_index(); i < size; i += index_stride()) {
    const auto at = static_cast<std::uint32_t>(i);
    const bool in_a = at < a_size;
    const std::uint32_t own = in_a ? at : at - a_size;
    const std::uint32_t position = in_a ? merged_position_a(a_indices, own, b_indices, b_size)
                                        : merged_position_b(a_indices, a_size, b_indices, own);
    merged.indices[position] = in_a ? a_indices[own] : b_indices[own];
    merged.values[position] = in_a ? a_values[own] : b_values[own];
  }
}

// Equal indices stand side by side after merging. Every thread looks at its neighbours in the
// merged list and writes to another one, so that no value is read after it was changed.
__global__ void combine_kernel(List merged, std::uint32_t size, float* combined) {
  for (std::int64_t i = first_index(); i < size; i += index_stride()) {
    combined[i] =
        combined_value(merged.indices, merged.values, size, static_cast<std::uint32_t>(i));
  }
}

// Needs no atomic addition, since the indices of one list are distinct; two lists are added by two
// calls, one after the other on the stream, so that the order of additions is fixed.
__global__ void scatter_add_kernel(float* y, const std::int32_t* indices, const float* values,
                                   std::uint32_t size) {
  for (std::int64_t i = first_index(); i < size; i += index_stride()) {
    y[indices[i]] += values[i];
  }
}

// How many entries were sent is only known on the device; a list that overflowed holds no more than
// its capacity.
__global__ void clear_entries_kernel(float* residual, const std::int32_t* indices,
                                     const std::uint32_t* length, std::uint32_t capacity) {
  const std::uint32_t size = *length < capacity ? *length : capacity;
  for (std::int64_t i = first_index(); i < size; i += index_stride()) {
    residual[indices[i]] = 0;
  }
}

} // namespace

void merge_lists(const std::int32_t* a_indices, const float* a_values, std::uint32_t a_size,
                 const std::int32_t* b_indices, const float* b_values, std::uint32_t b_size,
                 std::uint32_t k, Workspace& work, const List& merged, float* combined,
                 const List& out, cudaStream_t stream) {
  const std::uint32_t size = a_size + b_size;
  if (size > merged.capacity) {
    throw SimulationError("merge_lists: no room for both lists");
  }
  merge_kernel<<<grid_for(size), kThreads, 0, stream>>>(a_indices, a_values, a_size, b_indices,
                                                        b_values, b_size, merged);
  STEPSIM_CUDA(cudaGetLastError());
  combine_kernel<<<grid_for(size), kThreads, 0, stream>>>(merged, size, combined);
  STEPSIM_CUDA(cudaGetLastError());
  select_exact({combined, size, nullptr, merged.indices}, k, work, out, stream);
}

void scatter_add(float* y, const std::int32_t* indices, const float* values, std::uint32_t size,
                 cudaStream_t stream) {
  scatter_add_kernel<<<grid_for(size), kThreads, 0, stream>>>(y, indices, values, size);
  STEPSIM_CUDA(cudaGetLastError());
}

void clear_entries(float* residual, const std::int32_t* indices, const std::uint32_t* length,
                   std::uint32_t capacity, cudaStream_t stream) {
  clear_entries_kernel<<<grid_for(capacity), kThreads, 0, stream>>>(residual, indices, length,
                                                                    capacity);
  STEPSIM_CUDA(cudaGetLastError());
}

} // namespace stepsim::calibrate::gpu
