#pragma once
// How a trace was recorded, as keys of a scenario: the micro-batches of an update and the sharding
// of parameters (INP 1.3, 1.6). `stepsim init` writes the keys; a scenario that leaves them open is
// warned about.
//
//     trace       "accumulation": 4, "units": [{"layers": [0, 4], ..}, ..], "sharding": {..}
//     /training   micro_batches 4, "sharding": {"strategy": "full_shard", "wrapping": {..}, ..}

#include "scenario/scenario.hpp"

namespace stepsim::study {

struct RecordedTraining {
  io::Json keys{io::Object{}};    // keys of /training; empty if the trace recorded neither
  std::vector<std::string> taken; // "micro_batches 4", "sharding full_shard in 3 units"
};

// The strategy is shard_grad_op if parameters stayed gathered until backward, else full_shard; or
// hybrid_shard if the shards of the trace were on a part of its ranks and the ranks of `cluster`
// are several such groups. Units become cuts of `wrapping`, where the layers of all of them
// are known; a unit with layers in several places, like the root unit of FSDP, becomes several.
[[nodiscard]] RecordedTraining recorded_training(const layers::Workload& workload,
                                                 const Cluster& cluster);

// Adds a warning for each job whose trace recorded micro-batches or sharding that the scenario,
// parsed from `tree`, has no key for.
void warn_of_recorded_training(const io::Json& tree, Scenario& scenario);
// Adds a warning if the layers were timed on another GPU than the node type has.
void warn_of_other_gpu(Scenario& scenario);

} // namespace stepsim::study
