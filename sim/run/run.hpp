#pragma once
// scenario -> result.
//   scenario -> merge problem -> plan (buckets) -> step (compute + messages) -> result
#include <cstdint>
#include <string_view>

#include "run/result.hpp"
#include "run/run_sync.hpp"

namespace stepsim::study {

// Warning of a synchronous run whose workers differ; the text of `run` says it below the buckets.
inline constexpr std::string_view kEqualWorkers =
    "buckets, layers and the timeline are those of equal workers";

// Throws SimulationError where the run cannot be simulated: beyond /limits/simulated_s, for an
// algorithm that these ranks cannot run, for messages that never complete.
[[nodiscard]] Result run(const Scenario& scenario);
// Summary, method and warnings of run(scenario), bit for bit, with what it shares with other runs.
// Scenarios as SyncParts::summary takes them, of sync_sgd without convergence.
[[nodiscard]] Result run_summary(const Scenario& scenario, SyncParts& parts);

// Replications run the same scenario with other random factors: the first with the scenario's own
// seed, the others with seeds made from it and their number.
[[nodiscard]] std::uint64_t replication_seed(std::uint64_t seed, std::int64_t replication);
// The scenario with that seed wherever it draws: factors of computing and exchanges, ECMP, spraying
// and losses of packets.
[[nodiscard]] Scenario replicated(const Scenario& scenario, std::int64_t replication);
// Means over replications of the iteration time, its parts and bounds, and the makespans; speed-up
// and throughput follow from them. The 95 % interval of the iteration time is by Student's t.
// Everything else is that of the first replication, also completion times of messages (fct_*).
[[nodiscard]] Result run_replications(const Scenario& scenario, std::int64_t replications);

} // namespace stepsim::study
