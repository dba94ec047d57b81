#pragma once
// Fits three constants to measured iteration times (TRN 3.5): the start-up a [s] and the time per
// byte b [s] of an exchange, and the slowdown s of compute during an exchange. The fit minimizes
//
//     loss = sum over rows of min(|ln(predicted / measured)|, 0.5)^1.5
//
// over a, b and s - 1, all >= 0, with 160 steps of the Nelder-Mead method. The search starts at
// a = a0, b = 2 b0 and s = 1.5; a0 and b0 are the constants of the scenarios' network.
#include <string>

#include "scenario/files/overlap_file.hpp"
#include "study/overlap_rows.hpp"

namespace stepsim::study {

// The constants that are not fitted: they keep a0 and b0 of the network, and a slowdown of 1.
struct KeptConstants {
  bool startup = false, per_byte = false, compute = false;
  [[nodiscard]] std::size_t free() const {
    return std::size_t{startup ? 0U : 1U} + (per_byte ? 0U : 1U) + (compute ? 0U : 1U);
  }
};

// The iteration time [s] of a measured step by the model with these constants.
[[nodiscard]] double predicted_s(const MeasuredStep& step, const io::OverlapConstants& constants);

// Fits the constants that are not kept. `leave_out` is the JSON pointer with which the steps were
// read: if it is not empty, every fold (the rows with equal values at the pointer) is also
// predicted by constants that were fitted to the other folds. If there is only one row, with one
// message, only b is fitted, to the step time minus compute and a0. Throws UsageError if there are
// fewer rows than constants, if no time is left for that one message, or if `leave_out` has the
// same value in all rows.
[[nodiscard]] io::OverlapFit fit_overlap(const MeasuredSteps& measured,
                                         const std::string& leave_out, const KeptConstants& kept);

} // namespace stepsim::study
