#pragma once
// Kernels of low-rank compression keep a row of a factor in R registers, with R known at compile
// time; the first `rank` of these are used.
#include <type_traits>

#include "calibrate/cuda/low_rank.hpp"

namespace stepsim::calibrate::gpu {

// Calls `launch` with the smallest R of 4, 8, 16, 32 that is >= rank, as a std::integral_constant.
// A register array needs a size known to the compiler; four sizes instead of 32 keep the program
// small, at the price of products with zeros for other ranks. `rank` is at most kMostRank.
template <class Launch> void for_rank(int rank, const Launch& launch) {
  if (rank <= 4) {
    launch(std::integral_constant<int, 4>());
  } else if (rank <= 8) {
    launch(std::integral_constant<int, 8>());
  } else if (rank <= 16) {
    launch(std::integral_constant<int, 16>());
  } else {
    launch(std::integral_constant<int, kMostRank>());
  }
}

} // namespace stepsim::calibrate::gpu
