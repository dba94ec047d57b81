#pragma once
// Estimates how long a run will keep a processor busy, so that a scenario that would take hours is
// refused before it starts. The estimate is right to an order of magnitude: the number of different
// message sizes times the seconds that the evaluation of one takes (collectives/method.hpp); at
// packet level, packets times hops times the seconds of a hop.
#include "scenario/program_file.hpp"

namespace stepsim::study {

inline constexpr double kMaxSeconds = 600; // limit of one run without --max-seconds

// Estimated CPU seconds on one core. Runs no evaluator.
[[nodiscard]] double estimated_seconds(const Scenario& scenario);
// Estimated CPU seconds if different_messages() is known already: that number is the same on every
// network, the estimate is not.
[[nodiscard]] double estimated_seconds(const Scenario& scenario, double messages);
// Estimated CPU seconds of a program, once.
[[nodiscard]] double estimated_seconds(const ProgramFile& file);
// Estimated number of different message sizes: 1 with schedule `single`, else the number of
// different sizes of gradients.
[[nodiscard]] double different_messages(const Scenario& scenario);

// Bytes of memory for the messages of a synchronous run that sends its gradients through a
// simulated network, message by message, with dense collectives; every message is kept for the
// result. 0 for all other runs.
[[nodiscard]] double estimated_bytes(const Scenario& scenario);

// Throws SimulationError if `estimate_s` exceeds `max_seconds`: `this takes about 2.5 h of CPU
// time, more than --max-seconds 600`.
void refuse_long_work(double estimate_s, double max_seconds);

} // namespace stepsim::study
