#pragma once
// What is kept from one run of a program to the next, of scenarios that differ in nodes, in latency
// and bandwidth of their network, and in the seed: the points of a sweep.
#include <cstdint>
#include <optional>
#include <vector>

#include "programs/operation_times.hpp"
#include "run/evaluated_program.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

struct ProgramMemory {
  std::optional<ScenarioProgram> made; // every run retimes its exchanges
  Window window;                       // of `made`
  // Of `made`, and where workers vary of its ranks and of this seed. Empty: not computed yet.
  std::uint64_t seed{};
  std::optional<programs::Factors> factors;
  std::optional<AloneTimes> alone;
  std::optional<double> single_s;               // a step of one worker alone
  std::optional<std::vector<double>> compute_s; // of each worker where they vary
  // Of the runs that a compressed one is compared with.
  std::vector<ProgramMemory> dense{};
  std::optional<Scenario> dense_scenario{};
};

} // namespace stepsim::study
