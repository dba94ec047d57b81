#pragma once
// Slowdown and link constants from measured steps (TRN 3.5): start-up a, time per byte b and the
// slowdown s of computing next to an exchange, as they explain the times of steps best.
//
//     loss = sum over rows of min(|ln(predicted / measured)|, 0.5)^1.5
//
// is minimised over (a, b, s - 1), each in absolute value, from (a0, 2 b0, 0.5), where a0 and b0
// are those of the scenarios' network: 160 steps of Nelder and Mead.
#include <string>

#include "ask/overlap_rows.hpp"
#include "files/overlap_file.hpp"

namespace stepsim::study {

// Which constants stay as they are: a0 and b0 of the network, and no slowdown.
struct KeptConstants {
  bool startup = false, per_byte = false, compute = false;
  [[nodiscard]] std::size_t free() const {
    return std::size_t{startup ? 0U : 1U} + (per_byte ? 0U : 1U) + (compute ? 0U : 1U);
  }
};

[[nodiscard]] double predicted_s(const MeasuredStep& step, const io::OverlapConstants& constants);

// `leave_out`: the pointer that the steps were read with; if not empty, every fold is predicted by
// constants fitted to the others as well. A single step with schedule single gives b alone: the
// message takes what is left after computing and a0. Throws UsageError where there are fewer rows
// than constants.
[[nodiscard]] io::OverlapFit fit_overlap(const MeasuredSteps& measured,
                                         const std::string& leave_out, const KeptConstants& kept);

} // namespace stepsim::study
