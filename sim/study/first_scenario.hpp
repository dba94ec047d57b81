#pragma once
// The scenario that `stepsim init` writes: the keys that the user gave, a choice for required keys
// that are missing, and every default that decides a time as a key, so that the file shows all
// values on which the prediction depends.

#include "scenario/files.hpp"

namespace stepsim::study {

struct FirstScenario {
  io::Json tree;
  std::string name;                    // name of the scenario: "resnet50.ddp.2xa100 on dgx_a100"
  std::vector<std::string> assumed;    // values chosen here: "nodes 8", "schedule trace (5 measured
                                       // buckets)"
  std::vector<std::string> from_trace; // what the trace recorded: "micro_batches 4"
  std::string memory;     // "memory 179 of 80.0 GB without sharding, ..."; "" = nothing was chosen
  bool exceeds_memory{};  // although the sharding was chosen
  std::string host_bound; // a warning of the trace, whose times leave a slow host out; "" = none
  std::int64_t nodes{};
};

// `given` holds the keys that the user gave; its file names are relative to the working directory.
// Missing keys are chosen as follows:
//   neither a trace nor a model             the shipped trace of ResNet-50
//   a model without a batch size            batch size 1
//   no number of nodes                      8 nodes
//   several nodes, no network or node type  network 25g-tcp
//   no /training                            micro-batches and sharding of the trace
//                                           (scenario/scenario_training.hpp)
//   a model that no GPU holds               the first that fits of sharding zero1, zero2 and
//                                           full_shard, else full_shard
//   no /conditions                          typical, where they are defined, else ideal
// File names in the returned tree are relative to the folder of the file `output` ("-": to the
// working directory). So is "$schema", unless the path from that folder to the schemas of the
// program's data begins with ../../: then it is a file:// address. It is left out if the data has
// no schemas. Throws InputError if parse_scenario() refuses the scenario.
[[nodiscard]] FirstScenario first_scenario(io::Json given, Files& files, const std::string& output);

} // namespace stepsim::study
