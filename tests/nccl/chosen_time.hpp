#pragma once
// The time of an operation by the pair that the library chooses.
#include "nccl/candidates.hpp"

namespace stepsim::nccl {

inline OperationTime chosen_time(const LibraryModel& model, const Layout& layout,
                                 Operation operation, double bytes) {
  const Pair pair = choose_pair(model, layout, operation, bytes).chosen;
  return operation_time(layout, operation, bytes, pair, model.multipliers);
}

} // namespace stepsim::nccl
