#pragma once
// What is kept from one run of a program to the next, of scenarios that differ in nodes, in latency
// and bandwidth of their network, in what conditions make of these, and in the seed: the points of
// a sweep.

#include "run/evaluated_program.hpp"
#include "run/memory_figures.hpp"
#include "run/step_period.hpp"
#include "run/verdict.hpp"

namespace stepsim::study {

struct OtherRun;

struct ProgramMemory {
  std::optional<ScenarioProgram> made; // every run retimes its exchanges
  Window window;                       // of `made`
  // Conditions of the scenario of `made`.
  std::vector<double> links{}, computing{};
  // Of `made`, and where workers vary of its ranks and of this seed. Empty: not computed yet.
  std::uint64_t seed{};
  std::optional<programs::Factors> factors;
  std::optional<AloneTimes> alone;
  std::optional<WorkSums> sums{};               // of the scenario
  std::optional<double> single_s;               // a step of one worker alone
  std::optional<MemoryParts> parts{};           // bytes of a worker
  std::optional<std::vector<double>> compute_s; // of each worker where they vary
  StepMemory step{};                            // of runs without a program
  std::vector<ProgramMemory> merges{};          // of the runs of fastest_merge()
  // Of the runs that a compressed one is compared with.
  std::vector<ProgramMemory> dense{};
  std::optional<Scenario> dense_scenario{};
  // Of a scenario whose starts and transfers hide each other: of its run without starts, and of the
  // one without transfers.
  std::vector<ProgramMemory> hidden{};
  // [2 x part + side]: the runs that give the interval of a result under typical conditions. Each
  // has a memory of its own, because what is moved may change more than times.
  std::vector<OtherRun> moved{};
};

struct OtherRun {
  std::optional<Scenario> scenario; // empty before its first run
  ProgramMemory memory;
};

} // namespace stepsim::study
