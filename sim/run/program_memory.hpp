#pragma once
// What is kept from one run of a program to the next, of scenarios that differ in nodes, and in
// latency and bandwidth of their network: the points of a sweep.
#include <cstdint>
#include <optional>
#include <vector>

#include "run/evaluated_program.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

struct ProgramMemory {
  std::int64_t ranks{};
  std::optional<ScenarioProgram> made; // for as many ranks; every run retimes its exchanges
  std::optional<AloneTimes> alone;     // of `made`, where workers are equal
  std::vector<ProgramMemory> dense{};  // of the runs that a compressed one is compared with
};

} // namespace stepsim::study
