#pragma once
// The scenario that `stepsim init` writes: what the user asked for, a choice for what he left out,
// and every default that decides a time as a key of its own, so that the file shows what a
// prediction rests on and each value is there to be changed.
#include <cstdint>
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct FirstScenario {
  io::Json tree;
  std::string name;                 // of the scenario: "resnet50.ddp.2xa100 on 8 nodes"
  std::vector<std::string> assumed; // "nodes 8", "schedule trace (5 measured buckets)"
  std::int64_t nodes{};
};

// `given` holds the keys that the user asked for; its file names are relative to the working
// directory. Without a trace or a model the shipped trace of ResNet-50 is taken, without a number
// of nodes 8, without a network and a node type 25gbe, and with a model a batch of 1. The tree is
// that of a file `output` ("-": of the working directory): file names are relative to its folder,
// and so is "$schema" where the schemas are near; elsewhere it is an address. Throws InputError
// where parse_scenario refuses what is given.
[[nodiscard]] FirstScenario first_scenario(io::Json given, Files& files, const std::string& output);

} // namespace stepsim::study
