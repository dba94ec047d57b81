#pragma once
// Makes the input of the program builders (program/builders): the layers and buckets of a scenario
// with their times.
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "programs/builders/step_parts.hpp"
#include "run/group_exchange.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// The exchange of a unit. If every message is simulated, its operation keeps only the time that is
// not on the wire.
[[nodiscard]] UnitExchange taken(const GroupExchange& exchange, bool simulated);

struct ProgramParts {
  std::vector<programs::LayerTimes> layers; // times of one micro-batch
  std::vector<programs::BucketTimes> buckets;
  Seconds update; // weight update of an iteration, including the decoding of received gradients
  programs::NextForward next_forward{};
  std::vector<std::uint32_t> layer_of{}; // [layer of the workload]: the one of `layers` it is in
};

// The parts for buckets that are all-reduced, or exchanged in two halves (DeAR, reduce and
// broadcast). Sets plan, units, gates, method and events of `out`, whose `simulated` must be set
// before.
[[nodiscard]] ProgramParts allreduced_parts(const Scenario& scenario, ScenarioProgram& out);

// These time the exchanges of all units by the network of the scenario, and set method and events:
// those of buckets, which also get their costs, and those of sharding units or of the buckets of
// ZeRO-1 and ZeRO-2.
void time_buckets(const Scenario& scenario, ScenarioProgram& made);
void time_shards(const Scenario& scenario, ScenarioProgram& made);

// The parts for the same buckets in ZeRO-1 and ZeRO-2: each has a reduce-scatter of its gradients
// and an all-gather of its parameters. Sets the same members of `out`.
[[nodiscard]] ProgramParts scattered_parts(const Scenario& scenario, ScenarioProgram& out);

// The same parts with neighbouring layers as one wherever no exchange begins or is awaited between
// them. The times of a program are the same, but for rounding, and it has fewer operations.
// `slowed_alike`: messages under way slow updates as much as forward, or neither. Else both keep
// their places.
[[nodiscard]] ProgramParts with_merged_layers(ProgramParts parts, bool slowed_alike);

} // namespace stepsim::study
