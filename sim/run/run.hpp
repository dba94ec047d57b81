#pragma once
// scenario -> result.
//   scenario -> merge problem -> plan (buckets) -> step (compute + messages) -> result
#include <cstdint>
#include <string_view>

#include "run/result.hpp"

namespace stepsim::study {

// Warning of a synchronous run whose workers differ; the text of `run` says it below the buckets.
inline constexpr std::string_view kEqualWorkers =
    "buckets, layers and the timeline are those of equal workers";

// Throws SimulationError where the simulation cannot go on (limits, bounds violated).
[[nodiscard]] Result run(const Scenario& scenario);

// Replications run the same scenario with other random factors: the first with the scenario's own
// seed, the others with seeds made from it and their number.
[[nodiscard]] std::uint64_t replication_seed(std::uint64_t seed, std::int64_t replication);
// Mean times of several replications, with the 95 % interval of the iteration time (Student's t);
// everything that is no time or speed of the summary is that of the first.
[[nodiscard]] Result run_replications(const Scenario& scenario, std::int64_t replications);

} // namespace stepsim::study
