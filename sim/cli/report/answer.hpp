#pragma once
// The answer of a run in one sentence, for a report and for the what-if page.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// "A step takes 175.0 ms on 16 workers, ..": the time with its interval, throughput, efficiency,
// and what limits the time. "The run has no steady step." if there is no iteration time.
[[nodiscard]] std::string answer_of(const study::Result& result);

} // namespace stepsim::cli
