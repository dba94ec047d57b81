#pragma once
// A step that was measured on the same cluster with another number of machines corrects the
// prediction (CON 5): the asked time by the same ratio, with what both runs have in common taken
// out of its interval.
#include "run/result.hpp"

namespace stepsim::study {

// `measured` is the run of the scenario that was measured. Throws UsageError if one of the two runs
// is on one machine and the other on several: the first says too little about the second.
[[nodiscard]] MeasuredTotal corrected_by(const Result& asked, const Result& measured,
                                         double measured_s);

} // namespace stepsim::study
