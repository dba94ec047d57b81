#pragma once
// How long a run will keep a processor busy, told before it starts, so that a scenario that would
// take hours is not begun without a word. An order of magnitude: messages of different size times
// the seconds that evaluating one takes (coll/work.hpp); at packet level, packets times hops times
// the seconds of a hop.
#include "scenario/scenario.hpp"

namespace stepsim::study {

inline constexpr double kMaxSeconds = 600; // of one run, unless --max-seconds says otherwise

// CPU seconds of one core; no evaluator is run to find it.
[[nodiscard]] double estimated_seconds(const Scenario& scenario);
// The same with the number of messages of different sizes known, which the network does not change.
[[nodiscard]] double estimated_seconds(const Scenario& scenario, double messages);
[[nodiscard]] double different_messages(const Scenario& scenario);

// Throws SimulationError `about 2.5 h of CPU time, more than --max-seconds 600`.
void refuse_long_work(double estimate_s, double max_seconds);

} // namespace stepsim::study
